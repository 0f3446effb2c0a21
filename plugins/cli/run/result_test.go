package run

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestCaptureKeepsBothEnds(t *testing.T) {
	for _, c := range []struct {
		name   string
		size   int
		writes []string
		want   string
		left   int64
	}{
		{"nothing", 10, nil, "", 0},
		{"short", 10, []string{"abc", "def"}, "abcdef", 0},
		{"exactly", 6, []string{"abcdef"}, "abcdef", 0},
		{"one more", 6, []string{"abcdefg"}, "abc|efg", 1},
		{"many small", 6, strings.Split("abcdefghijklmnop", ""), "abc|nop", 10},
		{"one large", 6, []string{"abcdefghijklmnop"}, "abc|nop", 10},
		{"over the end of the ring", 6, []string{"abcde", "fg", "h", "ijkl", "m"}, "abc|klm", 7},
		{"cut through characters", 8, []string{"aaaé€", "€€é", "bbb"}, "aaa|bbb", 13},
		{"nothing kept", 0, []string{"abc"}, "|", 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newCapture(c.size, 0.5)
			total := 0
			for _, s := range c.writes {
				n, err := w.Write([]byte(s))
				if n != len(s) || err != nil {
					t.Fatal(n, err)
				}
				total += n
			}
			o := w.output()
			got := string(o.Head)
			if o.Omitted > 0 {
				got += "|" + string(o.Tail)
			}
			if got != c.want || o.Omitted != c.left || len(o.Head)+len(o.Tail)+int(o.Omitted) != total || !o.Valid() {
				t.Errorf("%q, %d left out; want %q, %d", got, o.Omitted, c.want, c.left)
			}
		})
	}
}

func TestPlainTextRemovesEscapeSequences(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                             "plain",
		"\x1b[31mred\x1b[0m":                "red",
		"\x1b[38;2;1;2;3mx\x1b[K":           "x",
		"\x1b]0;title\x07a\x1b]8;;u\x1b\\b": "ab",
		"\x1bPq#0;\x1b\\a\x1b_x\x1b\\b":     "ab",
		"\x1b(Ba\x1b=b\x1bcd":               "abd",
		"a\x1b":                             "a",
		"a\x1b[":                            "a",
		"a\x1b[31":                          "a",
		"a\x1b]never ends\nb":               "a\nb",
		"a\x1b[3\nb":                        "a\nb",
		"\x1b\x1b[1mx":                      "x",
		"tab\tand\r\nreturn\u0085":          "tab\tand\r\nreturn\u0085",
		"bad \xff byte":                     "bad \uFFFD byte",
		"\u20ac\x1b[1m\u20ac":               "\u20ac\u20ac",
		strings.Repeat("\x1b[1m", 100) + "x\x1b[m": "x",
	} {
		if got := plainText([]byte(in)); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}

func FuzzPlainText(f *testing.F) {
	f.Add([]byte("a\x1b[31mb\x1b]0;x\x07\xff\x1b"))
	f.Fuzz(func(t *testing.T, in []byte) {
		if out := plainText(in); !utf8.ValidString(out) || strings.ContainsRune(out, escape) {
			t.Errorf("%q becomes %q", in, out)
		}
	})
}

// shaped is a result as a client decodes it.
type shaped struct {
	Content []struct {
		Type, Text     string
		Data, MimeType string
		Resource       struct{ URI, MimeType, Blob string }
	}
	StructuredContent struct {
		ExitCode  int `json:"exit_code"`
		Stdout    string
		Stderr    string
		Duration  int64 `json:"duration_ms"`
		Truncated bool
		JSON      json.RawMessage
		Lines     json.RawMessage
		Base64    string `json:"stdout_base64"`
	}
	IsError bool
}

func shape(t *testing.T, f Form, o *Outcome) shaped {
	t.Helper()
	raw := f.Result(o)
	if bytes.ContainsAny(raw, "\r\n") || !json.Valid(raw) {
		t.Fatalf("%s", raw)
	}
	var s shaped
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestResult(t *testing.T) {
	out := func(stdout, stderr string, code int) *Outcome {
		return &Outcome{ExitCode: code, Ended: "exited with status X", Stdout: Output{Head: []byte(stdout)},
			Stderr: Output{Head: []byte(stderr)}, Duration: 1500 * time.Millisecond}
	}
	stopped := out("part", "", -1)
	stopped.TimedOut = true
	for _, c := range []struct {
		name    string
		form    Form
		o       *Outcome
		text    string
		isError bool
	}{
		{"output", Form{}, out("a\nb\n", "", 0), "a\nb\n", false},
		{"no output", Form{}, out("", "", 0), "(no output)", false},
		{"both", Form{}, out("a", "warning\n", 0), "a\n--- standard error ---\nwarning\n", false},
		{"failure", Form{}, out("", "bad\n", 2), "--- standard error ---\nbad\n--- it exited with status X ---", true},
		{"an answer", Form{DataCodes: []int{1}}, out("", "", 1), "--- it exited with status X ---", false},
		{"another success", Form{OKCodes: []int{0, 3}}, out("x", "", 3), "x\n--- it exited with status X ---", false},
		{"success that is none", Form{OKCodes: []int{3}}, out("x", "", 0), "x", true},
		{"time", Form{OKCodes: []int{-1}}, stopped,
			"part\n--- it did not end within its time and was stopped after 1.5 s ---", true},
		{"colours", Form{}, out("\x1b[1mx\x1b[0m", "\x1b[31my", 0), "x\n--- standard error ---\ny", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.form.OKCodes == nil {
				c.form.OKCodes = []int{0}
			}
			c.form.Output = Auto
			s := shape(t, c.form, c.o)
			if len(s.Content) != 1 || s.Content[0].Text != c.text || s.IsError != c.isError ||
				s.StructuredContent.ExitCode != c.o.ExitCode || s.StructuredContent.Duration != 1500 {
				t.Errorf("%+v", s)
			}
		})
	}
}

func TestResultForms(t *testing.T) {
	png := "\x89PNG\r\n\x1a\n\xff\x00"
	for _, c := range []struct {
		name, form, stdout        string
		json, lines, base64, mime string
		text                      string
	}{
		{"json", JSON, "{\n \"a\": [1, 2],\r\n \"n\": 12345678901234567890\n}\n",
			`{"a":[1,2],"n":12345678901234567890}`, "", "", "", "{\n \"a\""},
		{"json that is none", JSON, "{a}", "", "", "", "", "{a}"},
		{"nothing", JSON, "", "", "", "", "", ""},
		{"json and more", JSON, "{} {}", "", "", "", "", "{} {}"},
		{"json nobody would take", JSON, `{"a":1,"a":2}`, "", "", "", "", `{"a"`},
		{"json too deep", JSON, strings.Repeat("[", 49) + strings.Repeat("]", 49), "", "", "", "", "[["},
		{"json as deep as can be", JSON, strings.Repeat("[", 48) + strings.Repeat("]", 48),
			strings.Repeat("[", 48) + strings.Repeat("]", 48), "", "", "", "[["},
		{"json that is not UTF-8", JSON, "\"\xff\"", "", "", "", "", "\"\uFFFD\""},
		{"the same name in two objects",
			JSON, `[{"a":"a"},{"a":{"a":1}}]`, `[{"a":"a"},{"a":{"a":1}}]`, "", "", "", "["},
		{"lines", JSONL, "{\"a\": 1}\n\n[2]\n", "", `[{"a":1},[2]]`, "", "", "{"},
		{"no lines", JSONL, "", "", `[]`, "", "", ""},
		{"lines, one of which is none", JSONL, "{}\nx\n", "", "", "", "", "{}"},
		{"auto does not parse", Auto, "{}", "", "", "", "", "{}"},
		{"binary", Auto, png, "", "", "iVBORw0KGgr/AA==", "image/png", ""},
		{"text whatever it is", Text, "a\xff", "", "", "", "", "a\uFFFD"},
		{"text in another encoding", Auto, "caf\xe9\n", "", "", "Y2Fm6Qo=", "text/plain", ""},
		{"binary whatever it is", Binary, "text", "", "", "dGV4dA==", "text/plain; charset=utf-8", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := shape(t, Form{Output: c.form, OKCodes: []int{0}}, &Outcome{Stdout: Output{Head: []byte(c.stdout)}})
			r := s.StructuredContent
			wrong := (c.form == JSON || c.form == JSONL) && c.json == "" && c.lines == "" && c.stdout != ""
			if string(r.JSON) != c.json || string(r.Lines) != c.lines || r.Base64 != c.base64 ||
				!strings.HasPrefix(r.Stdout, c.text) || s.IsError != wrong {
				t.Errorf("%+v", s)
			}
			if c.base64 == "" {
				return
			}
			if len(s.Content) != 2 || s.Content[1].Type != "resource" || s.Content[1].Resource.Blob != c.base64 ||
				s.Content[1].Resource.MimeType != c.mime || r.Stdout != "" {
				t.Errorf("%+v", s.Content)
			}
		})
	}
}

// TestTruncatedOutput checks that the result notes the omitted bytes, that
// incomplete JSON is not parsed, and that Shrink leaves out more.
func TestTruncatedOutput(t *testing.T) {
	c := newCapture(100, stdoutHead)
	_, _ = c.Write([]byte("[" + strings.Repeat("1,", 500) + "1]"))
	o := &Outcome{Stdout: c.output()}
	s := shape(t, Form{Output: JSON, OKCodes: []int{0}}, o)
	if !s.StructuredContent.Truncated || s.StructuredContent.JSON != nil ||
		!strings.Contains(s.Content[0].Text, "[... 903 bytes were left out here ...]") {
		t.Errorf("%+v", s)
	}
	o.Shrink(10)
	if len(o.Stdout.Head)+len(o.Stdout.Tail) != 10 || o.Stdout.Omitted != 993 {
		t.Errorf("%+v", o.Stdout)
	}
	if s := shape(t, Form{Output: Binary, OKCodes: []int{0}}, o); !strings.Contains(s.Content[0].Text, "1003 bytes") ||
		!strings.Contains(s.Content[0].Text, "first 5") {
		t.Errorf("%+v", s)
	}
}

// TestProgressCollapses: on standard error the last state of a line is left that is drawn again
// and again. Other text with CR stays, and standard output always.
func TestProgressCollapses(t *testing.T) {
	for text, want := range map[string]string{
		"10%\r50%\r100%\n": "100%\n",
		"\rdownloading 1.2 MB\rdownloading 900 kB/s\r\ndone\n":          "downloading 900 kB/s\r\ndone\n",
		"[#   ]\r[##  ]\r[####]":                                        "[####]",
		"  % Total\n  0     0\r 50  1024k\r100  2048k\n":                "  % Total\n100  2048k\n",
		"Counting objects:  50% (1/2)\rCounting objects: 100%, done.\n": "Counting objects: 100%, done.\n",
		"10%\r20%\rerror: no space left\n":                              "20%\rerror: no space left\n",
		"cannot open a1\rno such file b2\n":                             "cannot open a1\rno such file b2\n",
		"a\rb\rc\n":                                                     "a\rb\rc\n",
		"one\r\ntwo\r\n":                                                "one\r\ntwo\r\n",
		"failed at a\rfailed\n":                                         "failed at a\rfailed\n",
		"\r\r\n":                                                        "\r\r\n",
		"":                                                              "",
	} {
		o := Output{Head: []byte(text)}
		if got := o.Messages(); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
		if got := o.Text(); got != text {
			t.Errorf("standard output %q became %q", text, got)
		}
	}
}
