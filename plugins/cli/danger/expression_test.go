package danger

import (
	"encoding/json"
	"testing"
)

func TestParseExpressionsRejectsInvalidLines(t *testing.T) {
	for _, text := range []string{
		"words -a", "kind k nosuch", "kind k match (", "kind k scan", "kind k scan nosuch", "program p\nnosuch",
		"program p\nwords -a -> nosuch", "program p\nwords -a -a", "program p\noperand nosuch",
		"program p\nout nosuch -a", "program p\nout safe -a", "program p\nwith -a b", "program p\nwords -a\nwith -a",
		"program p\nclose x",
	} {
		if _, err := parseExpressions(text); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
}

// TestExpressionTable checks each example, and that no word that is left out could be
// taken for another one.
func TestExpressionTable(t *testing.T) {
	all, err := readExpressions()
	if err != nil {
		t.Fatal(err)
	}
	for program, e := range all {
		if e.Property == "" || len(e.Words) == 0 {
			t.Errorf("%s has no property or no words", program)
		}
		var example []string
		if err := json.Unmarshal([]byte(e.Example), &example); err != nil || len(example) == 0 {
			t.Errorf("%s: the example is no list: %v", program, err)
		}
		for _, w := range e.Words {
			if w.Effect != "" && w.Stream {
				t.Errorf("%s %s: a word that is left out has a stream", program, w.Name)
			}
			if For([]string{program}, "").Expression(nil) == nil {
				t.Errorf("%s is not in table.txt", program)
			}
		}
	}
}

// TestKindsOfValues checks values of each kind that has a pattern.
func TestKindsOfValues(t *testing.T) {
	p := &expressionParser{kinds: map[string]*Kind{}, programs: map[string]*Expression{}}
	all, err := parseExpressions(expressionsText)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		for _, w := range e.Words {
			for _, k := range w.Values {
				p.kinds[k.Name] = k
			}
		}
		if e.Operand != nil {
			p.kinds[e.Operand.Name] = e.Operand
		}
	}
	for name, values := range map[string]struct{ accept, refuse []string }{
		"integer": {[]string{"1", "-3", "+10"}, []string{"", "x", "1 ", "1\n", "0x1", "--1"}},
		"size":    {[]string{"+1k", "100c", "-2M"}, []string{"", "k", "1kk", "1k;"}},
		"types":   {[]string{"f", "f,d"}, []string{"", "fd", "f,", "x", ",f"}},
		"mode":    {[]string{"644", "-u=r", "/222", "u+x,g-w"}, []string{"", "a b", "$(x)"}},
		"date": {[]string{"2001-01-01", "2 days ago", "2001-01-01T10:00:00+01:00"},
			[]string{"", "$(x)", "a\nb"}},
		"name": {[]string{"root", "posix-extended", "1000"}, []string{"", "-x", "a b", "a/b"}},
		"file": {[]string{"in.mp4", "sub/in.mp4", "./a:b.mp4", "-", "img%03d.png"},
			[]string{"concat:a|b", "http://x/y", "file:x", "pipe:0", "a|b", "x:y"}},
		"output-file": {[]string{"out.mp4", "./a:b.gif", "-", "f%d.png", "OUT.MP4"}, []string{"out", "out.m3u8",
			"out.mpd", "out.sh", "tee:x.mp4", "[f=gif]a.gif|b.gif", ".", "out.mp4/x", "rtp://x/a.mp4"}},
		"format": {[]string{"mp4", "null", "s16le", "image2"},
			[]string{"hls", "tee", "lavfi", "concat", "dash", "segment", "sdp", "x11grab", "data", "mp4,hls", ""}},
		"time":    {[]string{"5", "00:01:02.5", "-3", "10ms"}, []string{"", "x", "1:2:3:4", "5 "}},
		"stream":  {[]string{"0", "0:v", "0:a:1?", "-0:s", "[v]"}, []string{"", "[../x]", "-", "v"}},
		"setting": {[]string{"json", "csv=p=0", "default=nw=1:nk=1"}, []string{"", "a/b", "a b"}},
		"flags":   {[]string{"+faststart", "frag_keyframe+empty_moov"}, []string{"", "a/b", "a=b"}},
	} {
		k := p.kinds[name]
		if k == nil {
			t.Errorf("there is no kind %s", name)
			continue
		}
		for _, text := range values.accept {
			if err := k.Fits(text); err != nil {
				t.Errorf("%s %q: %v", name, text, err)
			}
		}
		for _, text := range append(values.refuse, "\x00") {
			if k.Fits(text) == nil {
				t.Errorf("%s %q was accepted", name, text)
			}
		}
	}
}

func TestFindWords(t *testing.T) {
	e := For([]string{"ffmpeg"}, "").Expression(nil)
	for spelling, want := range map[string]string{
		"-c": "-c", "-c:v": "-c", "-c:v:0": "-c", "-crf": "-crf", "-filter:a": "-filter",
		"-filter_complex": "-filter_complex", "-s": "-s", "-s:v": "-s", "-ss": "-ss",
		"-c:": "", "-c:v/x": "", "-c:v:0:1:2:3": "", "-i:v": "", "-cx": "", "--c": "", "-filter_complex_script": "",
		"-filter_script:v": "", "-/vf": "", "-C": "", "": "", "-": "",
	} {
		got := ""
		if w := e.Find(spelling); w != nil {
			got = w.Name
		}
		if got != want {
			t.Errorf("%q: %q, want %q", spelling, got, want)
		}
	}
	for command, want := range map[string]string{"[": "]", "test": ""} {
		if got := For([]string{command}, "").Expression(nil).Close; got != want {
			t.Errorf("%s ends with %q", command, got)
		}
	}
	var none *Rules
	if none.Expression(nil) != nil || For([]string{"git"}, "").Expression(nil) != nil ||
		For([]string{"find"}, "").Expression([]string{"x"}) != nil {
		t.Error("an expression without a table")
	}
	if For([]string{"busybox", "find"}, "").Expression(nil) == nil ||
		For([]string{"env", "find"}, "").Expression(nil) == nil {
		t.Error("find behind another program has no expression")
	}
}
