package catalog

import (
	"bytes"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/cache"
)

func costly(name string, bytes int) *Tool {
	return &Tool{Item: Item{Exposed: name, Server: "s", Description: strings.Repeat("x", bytes)}}
}

// TestCostNote checks the limits of 2,000 tokens per tool and 10,000 per server.
func TestCostNote(t *testing.T) {
	var many []*Tool
	for range 12 {
		many = append(many, costly("middle", 4*1000))
	}
	for _, c := range []struct {
		tools      []*Tool
		want, lack string
	}{
		{nil, "", ""},
		{[]*Tool{costly("small", 100)}, "", ""},
		{[]*Tool{costly("just", 4*2000-toolFrame-len("just"))}, "", ""},
		{[]*Tool{costly("more", 4*2000-toolFrame-len("more")+1), costly("small", 100)},
			"1 of its tools uses more than 2000 tokens: more about 2001; run `junctor tools --cost`", "context"},
		{many, "its 12 tools use about 12", "each:"},
		{append(many, costly("a", 9000), costly("b", 10000), costly("c", 11000), costly("d", 12000)),
			"each: d about 3012, c about 2762, b about 2512, …;", " a about"},
	} {
		got := CostNote(c.tools)
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) ||
			c.lack != "" && strings.Contains(got, c.lack) {
			t.Errorf("%q, want %q without %q", got, c.want, c.lack)
		}
	}
	if sum := Cost(many); sum < 12_000 || sum > 12_300 {
		t.Errorf("the sum is %d", sum)
	}
}

// TestCostIsLoggedOnce checks that a repeated list causes no second warning.
func TestCostIsLoggedOnce(t *testing.T) {
	var text bytes.Buffer
	log := hclog.New(&hclog.LoggerOptions{Output: &text, Level: hclog.Warn})
	s := &Server{Name: "s", Key: "key"}
	dir := cache.Dir(t.TempDir())
	(&disk{dir: dir}).save(&Server{Key: "key"},
		&lists{Tools: listing(`{"name":"big","description":"` + strings.Repeat("x", 9000) + `","inputSchema":{}}`)})
	c := New([]*Server{s}, dir, log, nil)
	defer c.Stop()
	c.warnings.cost(c.Snapshot(), "s")
	c.warnings.cost(c.Snapshot(), "other")
	if got := text.String(); strings.Count(got, "use many tokens") != 1 || !strings.Contains(got, "server=s") ||
		!strings.Contains(got, "big about 22") {
		t.Errorf("%q", got)
	}
}
