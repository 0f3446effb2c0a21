package classify

import (
	"bufio"
	"os"
	"strings"
	"testing"
)

// TestCorpus classifies the tools of real servers. No tool that writes may be taken for
// one that reads.
func TestCorpus(t *testing.T) {
	f, err := os.Open("testdata/tools.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	count := map[string]map[Kind]int{"read": {}, "write": {}}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		cells := strings.Split(lines.Text(), "\t")
		if len(cells) != 3 {
			t.Fatalf("%q", lines.Text())
		}
		label, name, arguments := cells[0], cells[1], strings.Fields(cells[2])
		got := Of(Tool{Name: name, Arguments: arguments})
		count[label][got.Kind]++
		if label == "write" && got.Kind == Read {
			t.Errorf("%s is taken for a tool that reads: %v", name, got.Reasons)
		}
	}
	t.Log(count)
	reads, writes := count["read"], count["write"]
	if all := reads[Read] + reads[Write] + reads[Ambiguous]; all < 90 || reads[Read]*10 < all*7 {
		t.Errorf("of %d tools that read, %d are known", all, reads[Read])
	}
	if all := writes[Read] + writes[Write] + writes[Ambiguous]; all < 100 || writes[Write]*10 < all*7 {
		t.Errorf("of %d tools that write, %d are known", all, writes[Write])
	}
}

func TestOf(t *testing.T) {
	yes, no := true, false
	for _, c := range []struct {
		tool Tool
		want Kind
		from Source
	}{
		{Tool{Name: "delete_x", ConfiguredRead: "f:1:1"}, Read, Configuration},
		{Tool{Name: "get_x", ConfiguredRead: "f:1:1", ConfiguredWrite: "f:2:1"}, Write, Configuration},
		{Tool{Name: "get_x", Destructive: &yes}, Write, Hint},
		// Destructive means nothing for a tool that only reads.
		{Tool{Name: "get_x", Destructive: &yes, ReadOnly: &yes}, Read, Words},
		{Tool{Name: "get_x", ReadOnly: &no}, Write, Hint},
		{Tool{Name: "frobnicate", ReadOnly: &yes}, Ambiguous, Words},
		{Tool{Name: "delete_x", ReadOnly: &yes}, Write, Words},
		{Tool{Name: "get_x", Description: "Gets x, and deletes it."}, Ambiguous, Words},
		{Tool{Name: "x", Description: "Lists all x. Does not modify anything. Read-only."}, Ambiguous, Words},
		{Tool{Name: "get_or_create"}, Ambiguous, Words},
		{Tool{Name: "getDELETEd"}, Ambiguous, Words},
		{Tool{Name: "nuke_logs"}, Ambiguous, Words},
		{Tool{Name: "query", Arguments: []string{"sql"}}, Ambiguous, Words},
		{Tool{Name: "query", Arguments: []string{"query"}}, Ambiguous, Words},
		{Tool{Name: "search", Arguments: []string{"query"}}, Read, Words},
		{Tool{Name: "gеt_x"}, Ambiguous, Words}, // a Cyrillic letter
		{Tool{Name: "get_x\u200b"}, Ambiguous, Words},
		{Tool{Name: "get_" + strings.Repeat("a", 300)}, Ambiguous, Words},
		{Tool{Name: "one__get_item"}, Read, Words}, // behind a second gateway
		{Tool{Name: "one__two__get_item"}, Read, Words},
		{Tool{Name: "my_acme-2__list_pods"}, Read, Words},
		{Tool{Name: "one__frobnicate"}, Ambiguous, Words},
		{Tool{Name: "one__nuke_logs"}, Ambiguous, Words},
		{Tool{Name: "one__get_item", Description: "Gets it, and deletes it."}, Ambiguous, Words},
		{Tool{Name: "one__query", Arguments: []string{"sql"}}, Ambiguous, Words},
		{Tool{Name: "get__frobnicate"}, Read, Words}, // as without the second underscore
		{Tool{Name: "delete__get"}, Ambiguous, Words},
		{Tool{Name: "one__delete__get"}, Ambiguous, Words},
		{Tool{Name: "run__get_item"}, Ambiguous, Words},
		{Tool{Name: "one_and__get_item"}, Ambiguous, Words},
		{Tool{Name: "nuke__logs"}, Ambiguous, Words},
		{Tool{Name: "nuke__event_logs"}, Ambiguous, Words},
		{Tool{Name: "github__event_logs"}, Read, Words},
		{Tool{Name: "one__"}, Ambiguous, Words},
		{Tool{Name: "get_item__"}, Read, Words},
		{Tool{Name: ""}, Ambiguous, Words},
		{Tool{Name: "__"}, Ambiguous, Words},
	} {
		if got := Of(c.tool); got.Kind != c.want || got.Source != c.from || len(got.Reasons) == 0 {
			t.Errorf("%+v: %+v", c.tool, got)
		}
	}
}

// FuzzName checks that a word for a change keeps every name from reading.
func FuzzName(f *testing.F) {
	f.Add("get_x", "_delete")
	f.Add("list", "AndDrop")
	f.Fuzz(func(t *testing.T, before, after string) {
		name := before + after
		c := Of(Tool{Name: name})
		words, _ := split(name)
		for _, w := range words {
			if writing[w] && c.Kind == Read {
				t.Errorf("%q reads although it has %q", name, w)
			}
		}
	})
}
