package danger

import "testing"

func TestTableParses(t *testing.T) {
	table, err := readTable()
	if err != nil {
		t.Fatal(err)
	}
	if len(table) < 60 {
		t.Errorf("the table has %d programs", len(table))
	}
}
