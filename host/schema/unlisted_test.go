package schema

import (
	"strings"
	"testing"
)

func TestUnlisted(t *testing.T) {
	const head = `{"type":"object","properties":{"head":{"type":"integer"},"path":{"type":"string"}}`
	for name, c := range map[string]struct{ schema, args, want string }{
		"typing mistake": {head + `}`, `{"haed":1,"path":"x"}`,
			`haed is not among the tool's listed arguments; did you mean "head"?`},
		"another word":    {head + `}`, `{"colour":"red"}`, `colour is not among the tool's listed arguments`},
		"several, sorted": {head + `}`, `{"zzz":1,"haed":1}`, `haed is not among the tool's listed arguments; did you mean "head"?, zzz is not among the tool's listed arguments`},
		"all listed":      {head + `}`, `{"head":1,"path":"x"}`, ""},
		"nothing given":   {head + `}`, `{}`, ""},
		"closed":          {head + `,"additionalProperties":false}`, `{"haed":1}`, ""}, // Check rejects it
		"expressly open": {head + `,"additionalProperties":true}`, `{"colour":1,"haed":1}`,
			`haed is not among the tool's listed arguments; did you mean "head"?`},
		"others have a type":  {head + `,"additionalProperties":{"type":"integer"}}`, `{"colour":1}`, ""},
		"pattern":             {head + `,"patternProperties":{"^h":{}}}`, `{"haed":1}`, ""},
		"nothing is listed":   {`{"type":"object"}`, `{"haed":1}`, ""},
		"no schema":           {`7`, `{"haed":1}`, ""},
		"broken schema":       {`{"type":`, `{"haed":1}`, ""},
		"no object":           {head + `}`, `[1]`, ""},
		"listed by an allOf":  {`{"allOf":[` + head + `},{"properties":{"haed":{}}}]}`, `{"haed":1}`, ""},
		"escapes and control": {head + `}`, `{"a\u001b[31m":1}`, "a·[31m is not among the tool's listed arguments"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, p := range Unlisted([]byte(c.schema), []byte(c.args)) {
				got = append(got, p.String())
			}
			if text := strings.Join(got, ", "); text != c.want {
				t.Errorf("%s\nwant %s", text, c.want)
			}
		})
	}
}
