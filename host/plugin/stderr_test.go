package plugin

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/testdata/bubble"
)

// journalled returns a journal that logs as JSON.
func journalled() (*journal, *bytes.Buffer) {
	var b bytes.Buffer
	log := hclog.New(&hclog.LoggerOptions{Name: "plugin.p", Level: hclog.Trace, JSONFormat: true, Output: &b})
	return &journal{logs: []hclog.Logger{log}, rate: limit.NewLineRate()}, &b
}

// logged returns the log records without times.
func logged(t *testing.T, b *bytes.Buffer) []map[string]any {
	t.Helper()
	var list []map[string]any
	for s := bufio.NewScanner(b); s.Scan(); {
		var m map[string]any
		if err := json.Unmarshal(s.Bytes(), &m); err != nil {
			t.Errorf("%q: %v", s.Text(), err)
		}
		delete(m, "@timestamp")
		list = append(list, m)
	}
	return list
}

// TestStderr checks that a plugin controls only level, message and pairs of its log
// records. #1 #16, L15
func TestStderr(t *testing.T) {
	for _, c := range []struct{ name, sent, logged, kept string }{
		{"poison", `{"@message":1}`, `{"@level":"debug","@message":""}`, "DEBUG "},
		{"more poison",
			`{"@message":{},"@level":[],"@timestamp":1,"@module":null}`, `{"@level":"debug","@message":""}`, "DEBUG "},
		{"forged", `{"@level":"error","@message":"denied","@module":"audit","@timestamp":"1999","@caller":"x"}`,
			`{"@level":"error","@message":"denied"}`, "ERROR denied"},
		{"pairs", `{"@level":"warn","@message":"slow","url":"https://x","n":3,"deep":{"a":[1]},"":"empty"}`,
			`{"@level":"warn","@message":"slow","url":"https://x","n":3,"deep":{"a":[1]},"":"empty"}`,
			`WARN slow =empty deep={"a":[1]} n=3 url=https://x`},
		{"controls in pairs", `{"@message":"m","k":"a b\u007f\u009b2J"}`,
			"{\"@level\":\"debug\",\"@message\":\"m\",\"k\":\"a b\u007f\u009b2J\"}", `DEBUG m k="a b  2J"`},
		{"no level", `{"@message":"m"}`, `{"@level":"debug","@message":"m"}`, "DEBUG m"},
		{"a level that is none", `{"@message":"m","@level":"off"}`, `{"@level":"debug","@message":"m"}`, "DEBUG m"},
		{"trace", `{"@message":"m","@level":"trace"}`, `{"@level":"trace","@message":"m"}`, "TRACE m"},
		{"text", "hello there", `{"@level":"debug","@message":"hello there"}`, "hello there"},
		{"DOS", "hello\r", `{"@level":"debug","@message":"hello"}`, "hello"},
		{"half of JSON", `{"@message":"m`, `{"@level":"debug","@message":"{\"@message\":\"m"}`, `{"@message":"m`},
		{"an array", `["@message"]`, `{"@level":"debug","@message":"[\"@message\"]"}`, `["@message"]`},
		{"escapes", "\x1b]0;pwned\a\x1b[2J\u009b31m\x7fx\ty", `{"@level":"debug","@message":" ]0;pwned  [2J 31m x\ty"}`,
			" ]0;pwned  [2J 31m x\ty"},
		{"escapes in JSON", `{"@message":"\u001b[2J\n[ERROR] fake","k\n\u001b":"v\n\u001b"}`,
			`{"@level":"debug","@message":" [2J [ERROR] fake","k  ":"v\n\u001b"}`,
			`DEBUG  [2J [ERROR] fake k  ="v\n\u001b"`},
		{"no UTF-8", "a\xff\xfeb", "{\"@level\":\"debug\",\"@message\":\"a\uFFFDb\"}", "a\uFFFDb"},
		{"a NUL", "a\x00b", `{"@level":"debug","@message":"a b"}`, "a b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			j, b := journalled()
			w := &lines{journal: j}
			_, _ = w.Write([]byte(c.sent + "\n"))
			var want map[string]any
			if err := json.Unmarshal([]byte(c.logged), &want); err != nil {
				t.Fatal(err)
			}
			want["@module"] = "plugin.p"
			if got := logged(t, b); len(got) != 1 || fmt.Sprint(got[0]) != fmt.Sprint(want) {
				t.Errorf("logged\n%v, want\n%v", got, want)
			}
			if got := j.last(9); len(got) != 1 || got[0] != c.kept {
				t.Errorf("kept %q, want %q", got, c.kept)
			}
		})
	}
}

// TestPanicText checks that the lines of a crash are errors. #19
func TestPanicText(t *testing.T) {
	for _, first := range []string{"panic: runtime error: index out of range",
		"fatal error: all goroutines are asleep - deadlock!"} {
		j, b := journalled()
		w := &lines{journal: j}
		_, _ = w.Write([]byte("before\n" + first + "\n\ngoroutine 1 [running]:\nmain.main()\n\t/x/main.go:7 +0x1d"))
		w.end()
		var levels []string
		for _, m := range logged(t, b) {
			levels = append(levels, m["@level"].(string))
		}
		if fmt.Sprint(levels) != "[debug error error error error]" {
			t.Errorf("levels %v", levels)
		}
		if got := j.last(3); len(got) != 3 || got[2] != "\t/x/main.go:7 +0x1d" || got[0] != "goroutine 1 [running]:" {
			t.Errorf("kept %q", got)
		}
	}
}

// TestLongLine checks that an endless line uses bounded memory. L6 L15
func TestLongLine(t *testing.T) {
	j, b := journalled()
	w := &lines{journal: j}
	for range 1000 {
		_, _ = w.Write(bytes.Repeat([]byte("x"), 10_000))
	}
	_, _ = w.Write([]byte("\nshort\n"))
	got := logged(t, b)
	if len(got) != 2 || len(got[0]["@message"].(string)) != logLine || got[1]["@message"] != "short" ||
		cap(w.part) > 4*logLine {
		t.Errorf("%d lines, capacity %d bytes", len(got), cap(w.part))
	}
}

// TestTail checks that the last 64 KiB are kept as whole lines, whatever the log drops.
// L15
func TestTail(t *testing.T) {
	j := &journal{}
	if got := j.last(5); len(got) != 0 {
		t.Errorf("initially %q", got)
	}
	for n := range 100_000 {
		j.add(fmt.Appendf(nil, "line %d", n), false)
	}
	all := j.last(1 << 20)
	if len(all) < 5000 || all[len(all)-1] != "line 99999" || !strings.HasPrefix(all[0], "line ") {
		t.Errorf("%d lines, %q to %q", len(all), all[0], all[len(all)-1])
	}
	if size := len(strings.Join(all, "\n")); size > tailBytes || size < tailBytes-100 || cap(j.tail) > 4*tailBytes {
		t.Errorf("%d bytes are kept, capacity %d", size, cap(j.tail))
	}
	if got := j.last(2); fmt.Sprint(got) != "[line 99998 line 99999]" {
		t.Errorf("the last two are %q", got)
	}
	j.add(bytes.Repeat([]byte("x"), logLine), false)
	if got := j.last(1); len(got) != 1 || len(got[0]) != logLine {
		t.Errorf("a long line is kept as %d bytes", len(got[0]))
	}
}

// TestPluginLogIsLimited checks that log lines are limited by number and bytes, and that the
// log reports how many were dropped. L15
func TestPluginLogIsLimited(t *testing.T) {
	for _, length := range []int{1, 100, logLine} {
		synctest.Test(t, func(t *testing.T) {
			const dropped = "log lines of the plugin were dropped"
			j, b := journalled()
			line := bytes.Repeat([]byte("x"), length)
			const sent = 20_000
			for range sent {
				j.add(line, false)
			}
			if n := bytes.Count(b.Bytes(), []byte("\n")); b.Len() > 2*limit.BytesPerMinute || n > limit.LinesAtOnce ||
				n < min(limit.LinesAtOnce, limit.BytesPerMinute/2/length) {
				t.Errorf("%d lines went to the log, %d bytes, of lines of %d", n, b.Len(), length)
			}
			bubble.Sleep(time.Minute)
			j.add([]byte("a minute later"), false)
			got := logged(t, b)
			passed := len(got) - 2
			if w := got[passed]; w["@message"] != dropped || int(w["lines"].(float64)) != sent-passed ||
				int(w["bytes"].(float64)) != (sent-passed)*length {
				t.Errorf("%d of %d passed, then %v", passed, sent, w)
			}
			if got[passed+1]["@message"] != "a minute later" {
				t.Errorf("then %v", got[passed+1])
			}
			for range sent {
				j.add(line, false)
			}
			j.end()
			j.end()
			if got = logged(t, b); got[len(got)-1]["@message"] != dropped || got[len(got)-2]["@message"] == dropped {
				t.Errorf("at the end %v", got[len(got)-1])
			}
		})
	}
}

// FuzzStderr checks that no input crashes the host, and that messages contain neither line
// breaks nor control characters.
func FuzzStderr(f *testing.F) {
	for _, s := range []string{
		`{"@message":1}` + "\n", `{"@level":"error","@module":"audit","k":[{}]}` + "\n\n",
		"panic: x\n\tat y\r\n", "\x1b[2J\xff\n{", "{\n}\n",
	} {
		f.Add([]byte(s), uint8(3))
	}
	f.Fuzz(func(t *testing.T, sent []byte, size uint8) {
		if bytes.Count(sent, []byte("\n")) > 1000 {
			return // the log may drop lines
		}
		var kept [2][]string
		for i, n := range []int{len(sent), 1 + int(size)} {
			j, b := journalled()
			w := &lines{journal: j}
			for rest := sent; len(rest) > 0; rest = rest[min(n, len(rest)):] {
				_, _ = w.Write(rest[:min(n, len(rest))])
			}
			w.end()
			for _, m := range logged(t, b) {
				message, _ := m["@message"].(string)
				if strings.ContainsFunc(message, func(r rune) bool { return unicode.IsControl(r) && r != '\t' }) ||
					m["@module"] != "plugin.p" {
					t.Errorf("logged %q", m)
				}
			}
			kept[i] = j.last(1 << 20)
			for _, line := range kept[i] {
				if !utf8.ValidString(line) ||
					strings.ContainsFunc(line, func(r rune) bool { return unicode.IsControl(r) && r != '\t' }) {
					t.Errorf("kept %q", line)
				}
			}
		}
		if fmt.Sprint(kept[0]) != fmt.Sprint(kept[1]) {
			t.Errorf("in one chunk %q, in several %q", kept[0], kept[1])
		}
	})
}

// TestLibraryLine checks that go-plugin's own records are logged but not quoted in faults.
func TestLibraryLine(t *testing.T) {
	j, b := journalled()
	w := &lines{journal: j}
	_, _ = w.Write([]byte(`{"@level":"debug","@message":"plugin address","address":"/run/x","network":"unix"}` + "\n" +
		`{"@level":"debug","@message":"plugin address","book":"x"}` + "\n"))
	if got := j.last(20); len(got) != 1 || !strings.Contains(got[0], "book") || len(logged(t, b)) != 2 {
		t.Errorf("kept %q of %d lines", got, len(logged(t, b)))
	}
}
