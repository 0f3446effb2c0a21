package language

import "testing"

func TestAttributesOfReadsTheTagsOnce(t *testing.T) {
	type block struct {
		Name string `hcl:"name" accepts:"a name" doc:"A name."`
	}
	first := AttributesOf[block]("")
	if len(first) != 1 || first[0].Name != "name" {
		t.Fatalf("attributes: %v", first)
	}
	if cap(first) != len(first) {
		t.Error("an append to the shared list writes into it")
	}
	if allocated := testing.AllocsPerRun(100, func() { AttributesOf[block]("") }); allocated > 2 {
		t.Errorf("%v allocations for a list that was read before", allocated)
	}
}
