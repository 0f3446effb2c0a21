package catalog

import (
	"fmt"
	"testing"
)

// TestBrokenOutputs: a schema that was broken stays away, another one of the same tool is a
// new promise, and a server cannot make Junctor remember without end.
func TestBrokenOutputs(t *testing.T) {
	var b brokenOutputs
	schema, other := []byte(`{"type":"object"}`), []byte(`{"type":"object","title":"new"}`)
	if b.has("t", schema) || !b.add("t", schema) || b.add("t", schema) || !b.has("t", schema) {
		t.Error("the schema is not remembered once")
	}
	if b.has("t", other) || b.has("u", schema) || !b.add("t", other) || b.has("t", schema) {
		t.Error("another schema or tool is taken for the broken one")
	}
	for i := range 2 * maxBroken {
		b.add(fmt.Sprint("tool", i), schema)
	}
	if len(b.schemas) != maxBroken {
		t.Errorf("%d schemas are remembered", len(b.schemas))
	}
}
