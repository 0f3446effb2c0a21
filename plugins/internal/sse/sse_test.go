package sse

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/junctor-mcp/junctor/testdata/bubble"
)

// all returns the events and errors of a stream as text.
func all(src io.Reader, limit int, after ...func()) []string {
	r := NewReader(src, limit)
	var list []string
	for {
		ev, err := r.Next()
		for _, f := range after {
			f()
		}
		if long, ok := errors.AsType[*TooLongError](err); ok {
			list = append(list, fmt.Sprintf("long %d %s", long.Size, long.Prefix))
			continue
		}
		if err != nil {
			return list
		}
		text := fmt.Sprintf("%s|%s", ev.Name, ev.Data)
		if ev.HasID {
			text += "|id=" + ev.ID
		}
		if ev.Retry > 0 {
			text += "|retry=" + ev.Retry.String()
		}
		list = append(list, text)
	}
}

// TestNext checks the examples of the standard and common variations of
// servers.
func TestNext(t *testing.T) {
	for _, c := range []struct{ name, stream, want string }{
		{"plain", "data: a\n\ndata: b\n\n", "|a,|b"},
		{"lines", "data: a\ndata\ndata:  b\n\n", "|a\n\n b"},
		{"no space", "data:a\n\n", "|a"},
		{"name and id", "event: x\nid: 1\ndata: a\n\n", "x|a|id=1"},
		{"id is cleared", "id\ndata: a\n\n", "|a|id="},
		{"id with NUL", "id: a\x00b\ndata: a\n\n", "|a"},
		{"only an id", "id: 7\ndata:\n\n", "||id=7"},
		{"retry", "retry: 1500\n\nretry: x\n\nretry: -1\n\n", "||retry=1.5s"},
		{"absurd retry", "retry: 99999999999999\n\n", "||retry=" + (24 * time.Hour).String()},
		{"comments", ": x\n\n:y\ndata: a\n: z\n\n", "|a"},
		{"ends of lines", "data: a\r\n\r\ndata: b\r\rdata: c\n\n", "|a,|b,|c"},
		{"mixed ends", "data: a\r\ndata: b\rdata: c\n\r\n", "|a\nb\nc"},
		{"mark", "\ufeffdata: a\n\n", "|a"},
		{"mark later", "data: a\n\n\ufeffdata: b\n\n", "|a"},
		{"cut", "data: a\n\ndata: b\n", "|a"},
		// deviation: the last event of a stream without an empty line behind it | reads it if it is whole JSON | ai#16865
		{"no last empty line", "data: a\n\nid: 7\ndata: [1,2]\n", "|a,|[1,2]|id=7"},
		{"no end of the last line", "data: {}", "|{}"},
		{"cut JSON", "data: {\"a\":", ""},
		{"cut JSON of two lines", "data: {\ndata: }", "|{\n}"},
		{"nothing at the end", "id: 7\n", ""},
		// deviation: no empty line between two events | reads both if each line is whole JSON | gemini-cli#29059
		{"no empty line", "data: {}\nevent: x\ndata: 7\ndata: 8\n\ndata: 9\n\n", "x|{},x|7,x|8,|9"},
		{"no empty line, too long", "data: [1,2,34]\ndata: 9\n\ndata: 4\n\n", "long 10 [1,2,34]\n,|4"},
		{"JSON of several lines", "data: {\ndata:}\n\n", "|{\n}"},
		{"text behind JSON", "data: 7\ndata: a\n\n", "|7\na"},
		{"unknown fields", "datum: x\nevent\nfoo\ndata: a\n\n", "|a"},
		{"empty", "\n\n\n", ""},
		{"characters", "data: é😀\n\n", "|é😀"},
		{"too long", "data: 0123456789\n\ndata: 012345678\n\ndata: 01234\ndata: 56789\n\ndata: a\n\n",
			"long 10 012345678,|012345678,long 11 01234\n567,|a"},
	} {
		for name, src := range map[string]io.Reader{
			"at once": strings.NewReader(c.stream), "in bytes": iotest.OneByteReader(strings.NewReader(c.stream)),
		} {
			if name == "in bytes" && c.name == "mark" {
				continue // fill detects a mark only in one piece
			}
			if got := strings.Join(all(src, 9), ","); got != c.want {
				t.Errorf("%s %s: %q, want %q", c.name, name, got, c.want)
			}
		}
	}
}

// TestSilence checks which data is an event when the source falls silent without an empty line.
//
// deviation: an answer in a stream that stays open, without the empty line behind it | reads it after 250 ms without more data if it is a whole message | ai#16865
func TestSilence(t *testing.T) {
	t.Parallel()
	const one, two = `{"jsonrpc":"2.0","id":1}`, `{"jsonrpc":"2.0","id":2}`
	for name, c := range map[string]struct {
		sent, then string
		want       string
		waits      bool // the first event comes only after then
	}{
		"end of the line":     {"data: " + one + "\n", "\n\ndata: b\n\n", "|" + one + ",|b", false},
		"no end of the line":  {"data: " + one, "\r\n\r\ndata: b\n\n", "|" + one + ",|b", false},
		"spaces":              {"data: " + one + " \n", "\n", "|" + one + " ", false},
		"id behind":           {"data: " + one + "\nid: 7\n", "\n", "|" + one + "|id=7", false},
		"two":                 {"data: " + one + "\ndata: " + two + "\n", "\n", "|" + one + ",|" + two, false},
		"several lines":       {"data: {\"jsonrpc\":\ndata: \"2.0\"}\n", "\n", "|{\"jsonrpc\":\n\"2.0\"}", false},
		"data later":          {"data: " + one + "\n", "data: " + two + "\n\n", "|" + one + ",|" + two, false},
		"cut":                 {"data: {\"jsonrpc\":{}", "}\n\n", `|{"jsonrpc":{}}`, true},
		"first of two lines":  {"data: {\"jsonrpc\":{}\n", "data: }\n\n", "|{\"jsonrpc\":{}\n}", true},
		"second of two lines": {"data: " + one + "\ndata: {\"a\":{}", "}\n\n", "|" + one + ",|{\"a\":{}}", true},
		"not JSON-RPC":        {"data: {}\n", "data: 7\n\n", "|{},|7", true},
		"not an object":       {"data: [\"jsonrpc\"]\n", "\n", `|["jsonrpc"]`, true},
		"too long":            {"data: " + one + one + one + "\n", "\n", "long 72 " + one + one + one[:12], true},
		"half of a field":     {"data: " + one + "\ni", "d: 7\n\n", "|" + one + "|id=7", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				src, server := io.Pipe()
				go func() {
					defer server.Close()
					_, _ = io.WriteString(server, c.sent)
					bubble.Sleep(5 * quietTime)
					_, _ = io.WriteString(server, c.then)
				}()
				var first time.Duration
				begun := time.Now()
				got := all(src, 60, func() {
					if first == 0 {
						first = time.Since(begun)
					}
				})
				if text := strings.Join(got, ","); text != c.want {
					t.Errorf("got %q, want %q", text, c.want)
				}
				if first >= 5*quietTime != c.waits {
					t.Errorf("the first event came after %s", first)
				}
			})
		})
	}
}

// TestManyLines checks that an event with many lines stays one.
func TestManyLines(t *testing.T) {
	for _, n := range []int{maxTogether, maxTogether + 1} {
		got := all(strings.NewReader(strings.Repeat("data: 7\n", n)+"\n"), 1<<20)
		if want := map[bool]int{true: n, false: 1}[n <= maxTogether]; len(got) != want {
			t.Errorf("%d lines are %d events, want %d", n, len(got), want)
		}
	}
}

// TestOnLine checks that OnLine distinguishes comments from other lines.
func TestOnLine(t *testing.T) {
	r := NewReader(strings.NewReader(": hi\nevent: x\ndata: a\n\n"), 100)
	var lines []bool
	r.OnLine = func(comment bool) { lines = append(lines, comment) }
	if _, err := r.Next(); err != nil || fmt.Sprint(lines) != "[true false false false]" {
		t.Errorf("%v, %v", lines, err)
	}
}

// TestEndless checks that an endless event is not kept in memory.
func TestEndless(t *testing.T) {
	const size = 200 << 20
	stream := io.MultiReader(strings.NewReader("data: "), io.LimitReader(zeros{}, size),
		strings.NewReader("\n\ndata: a\n\n"))
	r := NewReader(stream, 1<<20)
	_, err := r.Next()
	if long, ok := errors.AsType[*TooLongError](err); !ok || long.Size != size || len(long.Prefix) != prefixKept {
		t.Fatalf("got %v", err)
	}
	if cap(r.data) > 4<<20 {
		t.Errorf("%d bytes are kept", cap(r.data))
	}
	if ev, err := r.Next(); err != nil || string(ev.Data) != "a" {
		t.Errorf("then %v, %v", ev, err)
	}
	// A line that is not data is not kept either.
	r = NewReader(io.MultiReader(strings.NewReader("id: "), io.LimitReader(zeros{}, size),
		strings.NewReader("\ndata: a\n\n")), 1<<20)
	if ev, err := r.Next(); err != nil || ev.HasID || string(ev.Data) != "a" {
		t.Errorf("got %v, %v", ev, err)
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = '0'
	}
	return len(b), nil
}

// FuzzNext checks that the events of a stream do not depend on the sizes of the
// reads.
func FuzzNext(f *testing.F) {
	for _, s := range []string{"data: a\n\n", "id: 1\r\nretry: 5\r\rdata\n\n",
		":\n\xff\ndata: \x00\n\n", "data: 0123456789012345678901234567890123456789\n\n"} {
		f.Add([]byte(s), uint8(3))
	}
	f.Fuzz(func(t *testing.T, stream []byte, n uint8) {
		stream = bytes.TrimPrefix(stream, []byte("\xef\xbb\xbf"))
		whole := all(bytes.NewReader(stream), 32)
		pieces := all(&inPieces{bytes.NewReader(stream), 1 + int(n)}, 32)
		if strings.Join(whole, "\x00") != strings.Join(pieces, "\x00") {
			t.Errorf("at once %q, in pieces of %d %q", whole, 1+int(n), pieces)
		}
	})
}

type inPieces struct {
	io.Reader
	n int
}

func (p *inPieces) Read(b []byte) (int, error) { return p.Reader.Read(b[:min(len(b), p.n)]) }

// TestOwned checks that owned data stays as it was while further events are read.
func TestOwned(t *testing.T) {
	var all []string
	var stream strings.Builder
	for i, size := range []int{1, 5000, 200_000, 10, 70_000, 300_000, 0, 2 << 20, 3} {
		all = append(all, strings.Repeat(string(rune('a'+i)), size+1))
		stream.WriteString("data: " + all[i] + "\n\n")
	}
	r := NewReader(strings.NewReader(stream.String()), 16<<20)
	var got [][]byte
	for range all {
		ev, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		data, release := r.Owned(ev.Data)
		if string(data) != all[len(got)] {
			t.Errorf("event %d has %d bytes", len(got), len(data))
		}
		if len(got) == 5 && release != nil {
			release()
			data = []byte(all[5])
		}
		got = append(got, data)
	}
	for i, data := range got {
		if string(data) != all[i] {
			t.Errorf("the data of event %d has changed", i)
		}
	}
}
