package interoptest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestConversations holds the conversations in testdata/interop/conversations
// with junctor serve and one server of the Go SDK behind it. In their lines
//
//	# is a comment
//	> is what the client says, as it stands
//	< is what must be heard of junctor, and only once
//	~ is what may be heard besides
//	$ is the end of what the client says
//
// What is heard may have more members than the line has. "..." stands for any
// value, and at the end of an array for any more of them.
func TestConversations(t *testing.T) {
	files, err := filepath.Glob(source("conversations/*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("conversations: %v, %v", files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".jsonl"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			g := newSite(t, gosdk()).serve()
			c := &conversation{g: g, peer: g.speak(oldDialect), done: map[int]bool{}}
			for line := range strings.Lines(string(text)) {
				if line = strings.TrimRight(line, "\n"); line != "" {
					c.line(t, line)
				}
			}
			c.end(t)
		})
	}
}

// A conversation is one that is being held.
type conversation struct {
	g    *gateway
	peer *peer
	done map[int]bool // what was heard and expected
	may  []any        // what may be heard besides
}

func (c *conversation) line(t *testing.T, line string) {
	t.Helper()
	rest := strings.TrimPrefix(line[1:], " ")
	switch line[0] {
	case '#':
	case '>':
		c.peer.send(rest)
	case '<':
		want := parsed(t, rest)
		m := c.peer.until(rest, 0, func(m message) bool { return !c.done[m.at] && fits(want, parsed(t, m.raw)) })
		c.done[m.at] = true
	case '~':
		c.may = append(c.may, parsed(t, rest))
	case '$':
		_ = c.g.stdin.Close()
	default:
		t.Fatalf("a line that begins with %q", line[:1])
	}
}

// end waits for the end of the gateway and complains about what was heard and
// not expected.
func (c *conversation) end(t *testing.T) {
	t.Helper()
	c.g.finish()
	c.peer.ended()
	for i, m := range c.peer.heard {
		heard := parsed(t, m.raw)
		if !c.done[i] && !slices.ContainsFunc(c.may, func(want any) bool { return fits(want, heard) }) {
			t.Errorf("not expected: %s", m.raw)
		}
	}
}

// parsed is a JSON value with its numbers as they were written.
func parsed(t *testing.T, text string) any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return v
}

const anything = "..."

// fits reports whether a value is as wanted.
func fits(want, got any) bool {
	switch want := want.(type) {
	case map[string]any:
		have, ok := got.(map[string]any)
		for name, value := range want {
			member, there := have[name]
			ok = ok && there && fits(value, member)
		}
		return ok
	case []any:
		have, ok := got.([]any)
		if n := len(want); ok && n > 0 && want[n-1] == anything && len(have) >= n-1 {
			want, have = want[:n-1], have[:n-1]
		}
		return ok && slices.EqualFunc(want, have, fits)
	case string:
		return want == anything || got == want
	}
	return reflect.DeepEqual(want, got)
}
