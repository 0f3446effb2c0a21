package run

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/plugins/cli/pick"
)

const png = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"

// TestForms checks the results of outputs that are of their format, and of those that are not.
func TestForms(t *testing.T) {
	for _, c := range []struct {
		name, output, path, stdout string
		code                       int
		text, json, lines, media   string
		failed                     bool
	}{
		{"json", JSON, "", `{"a":[1]}`, 0, `{"a":[1]}`, `{"a":[1]}`, "", "", false},
		{"json with a path", JSON, ".a[].b", `{"a":[{"b":1},{"b":2}]}`, 0, `[1,2]`, `[1,2]`, "", "", false},
		{"json with a path to a text", JSON, ".a", `{"a":"x y"}`, 0, `x y`, `"x y"`, "", "", false},
		{"json with a path to an empty text", JSON, ".a", `{"a":""}`, 0, `""`, `""`, "", "", false},
		{"json without the path", JSON, ".a", `{"b":1}`, 0,
			"{\"b\":1}\n--- output = \"json\": select finds nothing: the output has no .a ---", "", "", "", true},
		{"no json", JSON, "", "warning: x\n{}", 0, "warning: x\n{}\n--- output = \"json\": it is no JSON: invalid character 'w' looking for beginning of value ---",
			"", "", "", true},
		{"two values", JSON, "", "{}\n{}", 0, "after top-level value", "", "", "", true},
		{"empty json", JSON, "", "\n", 0, "", "", "", "", false},
		{"empty json with a path", JSON, ".a", "", 0, "(no output)", "", "", "", false},
		{"empty json as data", JSON, "", "", 1, "it exited", "", "", "", false},
		{"deep json", JSON, "", strings.Repeat("[", 60) + strings.Repeat("]", 60), 0, "more than 48 levels",
			"", "", "", true},
		{"names twice", JSON, "", `{"a":1,"a":2}`, 0, "a name twice", "", "", "", true},
		{"no json of a failed run", JSON, "", "fatal", 2, "fatal\n--- it exited", "", "", "", true},
		{"json of a failed run", JSON, "", `{"e":1}`, 2, `{"e":1}`, `{"e":1}`, "", "", true},
		{"json lines", JSONL, "", "{\"a\":1}\n\n2\n", 0, "{\"a\":1}\n\n2\n", "", `[{"a":1},2]`, "", false},
		{"json lines with a path", JSONL, ".a", "{\"a\":1}\n{\"a\":\"x\"}\n", 0, `[1,"x"]`, "", `[1,"x"]`, "", false},
		{"json lines with a path to lists",
			JSONL, ".a[]", "{\"a\":[1,2]}\n{\"a\":[]}\n{\"a\":[3]}\n", 0, `[1,2,3]`, "", `[1,2,3]`, "", false},
		{"no json lines", JSONL, "", "{}\nx\n", 0, "line 2: it is no JSON", "", "", "", true},
		{"empty json lines", JSONL, "", "", 0, "(no output)", "", `[]`, "", false},
		{"lines", Lines, "", "a\r\nb \n\nc", 0, "a", "", `["a","b ","","c"]`, "", false},
		{"no lines", Lines, "", "", 0, "(no output)", "", `[]`, "", false},
		{"lines with invalid bytes",
			Lines, "", "a\xff\x1b[31mb\n", 0, "a\uFFFDb", "", `["a` + "\uFFFD" + `b"]`, "", false},
		{"tsv", TSV, "", "a\tb c\t\n1\n", 0, "a\tb c\t\n1\n", "", `[["a","b c",""],["1"]]`, "", false},
		{"table", Table, "", "A  B\n1  2\n", 0, "A  B\n1  2\n", "", `[{"A":"1","B":"2"}]`, "", false},
		{"no table", Table, "", "A  B\n12345\n", 0, "it is no table", "", "", "", true},
		{"image", Image, "", png, 0, "[image/png of 16 bytes]", "", "", "image/png", false},
		{"text in place of an image", Image, "", "no display\n", 0,
			"no display\n--- output = \"image\": it is not an image that clients know, but text/plain of 11 bytes ---",
			"", "", "", true},
		{"sound in place of an image", Image, "", "ID3\x03\x00", 0, "but audio/mpeg of 5 bytes", "", "", "", true},
		{"svg in place of an image", Image, "", "<svg></svg>", 0, "it is not an image", "", "", "", true},
		{"no image", Image, "", "", 0, "it is empty", "", "", "", true},
		{"image of a failed run", Image, "", "no such file\n", 2, "no such file\n--- it exited", "", "", "", true},
		{"sound", Audio, "", "ID3\x03\x00", 0, "[audio/", "", "", "audio/mpeg", false},
		{"wave", Audio, "", "RIFF\x00\x00\x00\x00WAVEfmt ", 0, "[audio/", "", "", "audio/wave", false},
		{"ogg", Audio, "", "OggS\x00\x02", 0, "[audio/", "", "", "audio/ogg", false},
		{"flac", Audio, "", "fLaC\x00\x00", 0, "[audio/", "", "", "audio/flac", false},
		{"image in place of a sound", Audio, "", png, 0, "but image/png", "", "", "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := Form{Output: c.output, OKCodes: []int{0}, DataCodes: []int{1}}
			if c.path != "" {
				f.Select, _ = pick.Parse(c.path)
			}
			s := shape(t, f, &Outcome{ExitCode: c.code, Ended: "exited", Stdout: Output{Head: []byte(c.stdout)}})
			if s.IsError != c.failed || !strings.Contains(s.Content[0].Text, c.text) {
				t.Errorf("%+v", s)
			}
			if got := string(s.StructuredContent.JSON); got != c.json {
				t.Errorf("json %s, want %s", got, c.json)
			}
			if got := string(s.StructuredContent.Lines); got != c.lines {
				t.Errorf("lines %s, want %s", got, c.lines)
			}
			switch last := s.Content[len(s.Content)-1]; {
			case c.media == "" && len(s.Content) != 1:
				t.Errorf("%+v", s.Content)
			case c.media != "":
				data, err := base64.StdEncoding.DecodeString(last.Data)
				if last.Type != c.output || last.MimeType != c.media || string(data) != c.stdout || err != nil {
					t.Errorf("%+v", last)
				}
			}
		})
	}
}

// TestCutOutputs checks that an output that was cut is never taken for a whole one.
func TestCutOutputs(t *testing.T) {
	for _, output := range []string{JSON, JSONL, Image, Audio} {
		s := shape(t, Form{Output: output, OKCodes: []int{0}},
			&Outcome{Stdout: Output{Head: []byte(png), Tail: []byte("x"), Omitted: 5}})
		if !s.IsError || output == Image && !strings.Contains(s.Content[0].Text, "was cut") {
			t.Errorf("%s: %+v", output, s)
		}
	}
	for _, output := range []string{Lines, TSV, Table} {
		s := shape(t, Form{Output: output, OKCodes: []int{0}},
			&Outcome{Stdout: Output{Head: []byte("a\n"), Tail: []byte("b\n"), Omitted: 5}})
		if s.IsError || s.StructuredContent.Lines != nil || !s.StructuredContent.Truncated {
			t.Errorf("%s: %+v", output, s)
		}
	}
}

func FuzzForms(f *testing.F) {
	f.Add("json", ".a[]", `{"a":[1]}`)
	f.Add("table", "", "A  B\n1  2")
	f.Add("image", "", png)
	f.Fuzz(func(t *testing.T, output, path, stdout string) {
		form := Form{Output: output, OKCodes: []int{0}}
		form.Select, _ = pick.Parse(path)
		if got := form.Result(&Outcome{Stdout: Output{Head: []byte(stdout)}}); !json.Valid(got) {
			t.Errorf("%s", got)
		}
	})
}
