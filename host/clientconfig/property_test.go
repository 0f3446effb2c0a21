package clientconfig

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A writer generates JSON files with comments at all possible places.
type writer struct {
	t        *rapid.T
	b        strings.Builder
	comments int
	newline  string
}

// gap writes white space and comments. Each comment has its own number.
func (w *writer) gap() {
	for range rapid.IntRange(0, 2).Draw(w.t, "gap") {
		w.comments++
		switch rapid.IntRange(0, 4).Draw(w.t, "kind") {
		case 0:
			fmt.Fprintf(&w.b, " // \"c%d\": {[, \\%s", w.comments, w.newline)
		case 1:
			fmt.Fprintf(&w.b, "/* c%d, } */", w.comments)
		case 2:
			fmt.Fprintf(&w.b, "%s\t/* c%d %s ** / */%s", w.newline, w.comments, w.newline, w.newline)
		default:
			w.comments--
			w.b.WriteString(rapid.SampledFrom([]string{" ", "\t", w.newline, w.newline + "    "}).Draw(w.t, "white"))
		}
	}
}

var values = []string{`1`, `-0.5e+7`, `12345678901234567890`, `true`, `null`, `""`, `"a // b"`, `"/* \" */"`,
	`"\u002f\\"`, `"ë😀"`}

// value writes a random value. If named is set it writes an object with these members.
func (w *writer) value(depth int, named map[string]func()) {
	kind := rapid.IntRange(0, 2).Draw(w.t, "value")
	switch {
	case named == nil && (kind == 0 || depth == 0):
		w.b.WriteString(rapid.SampledFrom(values).Draw(w.t, "scalar"))
	case named == nil && kind == 1:
		w.list("[", "]", rapid.IntRange(0, 3).Draw(w.t, "elements"), func(int) { w.value(depth-1, nil) })
	default:
		var members []func()
		for i := range rapid.IntRange(0, 3).Draw(w.t, "members") {
			members = append(members, func() { fmt.Fprintf(&w.b, `"k%d"`, i); w.colon(); w.value(depth-1, nil) })
		}
		for name, write := range named {
			at := rapid.IntRange(0, len(members)).Draw(w.t, "at")
			member := func() { w.b.WriteString(quote(name)); w.colon(); write() }
			members = append(members[:at], append([]func(){member}, members[at:]...)...)
		}
		w.list("{", "}", len(members), func(i int) { members[i]() })
	}
}

func (w *writer) colon() {
	w.gap()
	w.b.WriteString(":")
	w.gap()
}

func (w *writer) list(opening, closing string, n int, item func(int)) {
	w.b.WriteString(opening)
	w.gap()
	for i := range n {
		item(i)
		w.gap()
		if i < n-1 || rapid.Bool().Draw(w.t, "trailing comma") {
			w.b.WriteString(",")
			w.gap()
		}
	}
	w.b.WriteString(closing)
}

// TestMergeKeepsOtherBytes: a new entry is added to any file without a change to the
// other bytes, and the result has the same content as before plus the entry.
func TestMergeKeepsOtherBytes(t *testing.T) {
	var lenient []*Client
	for _, c := range Written() {
		if c.comment {
			lenient = append(lenient, c)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.SampledFrom(lenient).Draw(t, "client")
		w := &writer{t: t, newline: rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "newline")}
		w.gap()
		named := map[string]func(){}
		if rapid.Bool().Draw(t, "servers") {
			named[c.within] = func() { w.value(2, map[string]func(){}) }
		}
		w.value(3, named)
		w.gap()
		before := w.b.String()
		target := targets[rapid.SampledFrom([]string{"program", "address"}).Draw(t, "target")]
		if c.Remote(true) && rapid.Bool().Draw(t, "token") {
			target = targets["token"]
		}
		after, err := c.Merge([]byte(before), target)
		if err != nil {
			t.Fatalf("%v in:\n%s", err, before)
		}
		if !holds(string(after), before) {
			t.Fatalf("bytes are missing:\n%s\n--- became\n%s", before, after)
		}
		for i := 1; i <= w.comments; i++ {
			if !strings.Contains(string(after), fmt.Sprintf("c%d", i)) {
				t.Fatalf("comment %d is lost:\n%s\n--- became\n%s", i, before, after)
			}
		}
		again, err := c.Merge(after, target)
		if err != nil || string(again) != string(after) {
			t.Fatalf("merging again (%v):\n%s\n--- became\n%s", err, after, again)
		}
		replaced := target
		replaced.Command, replaced.URL, replaced.Token = []string{"/else"}, "", ""
		if back, err := c.Merge(after, replaced); err != nil {
			t.Fatalf("replacing it: %v\n%s", err, after)
		} else if back, err = c.Merge(back, target); err != nil || !equalBut(c, back, after) {
			t.Fatalf("there and back (%v):\n%s\n--- became\n%s", err, after, back)
		}
	})
}

// emptyObject matches an empty object with white space, which may lose it when a member
// is added.
var emptyObject = regexp.MustCompile(`\{[ \t]+\}`)

// holds reports whether other is a subsequence of text.
func holds(text, other string) bool {
	other = emptyObject.ReplaceAllString(other, "{}")
	for i := range len(text) {
		if len(other) > 0 && text[i] == other[0] {
			other = other[1:]
		}
	}
	return other == ""
}

// equalBut reports whether two files have the same content.
func equalBut(c *Client, a, b []byte) bool {
	one, err := parse(a, c.comment)
	if err != nil {
		return false
	}
	other, err := parse(b, c.comment)
	return err == nil && fmt.Sprint(one.plain(a)) == fmt.Sprint(other.plain(b))
}

// FuzzMerge: merge returns an error for invalid files, and merging twice changes nothing
// more.
func FuzzMerge(f *testing.F) {
	for i, text := range []string{
		"", "{}", "{,}", "// x", "{\"mcpServers\":{\"gate-2\":{}}, // y\n}", `{"inputs":[{}],"servers":{"a":1,},}`,
		"\xef\xbb\xbf{}", "[mcp_servers.gate-2]\nurl=1\n[mcp_servers.gate-2.x]\n#\n",
		"a=\"\"\"\n[mcp_servers.gate-2]\n\"\"\"", "mcp_servers.gate-2={}", "[[mcp_servers.gate-2]]\n",
	} {
		f.Add(i, text)
	}
	f.Fuzz(func(t *testing.T, which int, text string) {
		c := Written()[uint(which)%uint(len(Written()))]
		target := targets["token"]
		if !c.Remote(true) {
			target = targets["program"]
		}
		after, err := c.Merge([]byte(text), target)
		if err != nil {
			return
		}
		if again, err := c.Merge(after, target); err != nil || string(again) != string(after) {
			t.Fatalf("%s, merging again (%v):\n%q\n%q\n%q", c.Name, err, text, after, again)
		}
	})
}
