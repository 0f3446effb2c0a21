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
	if b.of("t", schema) != nil || !b.add("t", schema, 1) || b.add("t", schema, 2) || b.of("t", schema).Number != 1 {
		t.Error("the schema is not remembered once")
	}
	if b.of("t", other) != nil || b.of("u", schema) != nil || !b.add("t", other, 3) || b.of("t", schema) != nil ||
		b.of("t", other).Number != 3 {
		t.Error("another schema or tool is taken for the broken one")
	}
	for i := range 2 * maxBroken {
		b.add(fmt.Sprint("tool", i), schema, uint64(i))
	}
	if len(b.removals) != maxBroken {
		t.Errorf("%d schemas are remembered", len(b.removals))
	}
}
