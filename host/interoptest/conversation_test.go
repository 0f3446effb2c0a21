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

// TestConversations plays the conversations in testdata/interop/conversations
// with junctor serve and one server of the Go SDK. Lines begin with:
//
//	#  a comment
//	>  a message of the client, verbatim
//	<  a message that junctor must send, once
//	~  a message that junctor may send
//	$  the end of the client's input
//
// A message may have more members than its line. "..." matches any value, and
// at the end of an array any number of values.
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
			g := newWorkspace(t, gosdk()).serve()
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

// A conversation is a conversation in progress.
type conversation struct {
	g    *gateway
	peer *peer
	done map[int]bool // received and expected messages
	may  []any        // allowed messages
}

func (c *conversation) line(t *testing.T, line string) {
	t.Helper()
	rest := strings.TrimPrefix(line[1:], " ")
	switch line[0] {
	case '#':
	case '>':
		c.peer.send(rest)
	case '<':
		want := parseJSON(t, rest)
		m := c.peer.until(rest, 0, func(m message) bool { return !c.done[m.at] && fits(want, parseJSON(t, m.raw)) })
		c.done[m.at] = true
	case '~':
		c.may = append(c.may, parseJSON(t, rest))
	case '$':
		_ = c.g.stdin.Close()
	default:
		t.Fatalf("a line that begins with %q", line[:1])
	}
}

// end waits for the end of the gateway and reports unexpected messages.
func (c *conversation) end(t *testing.T) {
	t.Helper()
	c.g.finish()
	c.peer.ended()
	for i, m := range c.peer.heard {
		heard := parseJSON(t, m.raw)
		if !c.done[i] && !slices.ContainsFunc(c.may, func(want any) bool { return fits(want, heard) }) {
			t.Errorf("not expected: %s", m.raw)
		}
	}
}

// parseJSON returns a JSON value with unchanged numbers.
func parseJSON(t *testing.T, text string) any {
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

// fits reports whether a value matches the wanted one.
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
