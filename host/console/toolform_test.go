package console

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/console/consoletest"
)

// formSchema has an argument of each kind.
const formSchema = `{"type":"object","required":["path","count","mode"],"properties":{
	"path":{"type":"string","description":"The file."},
	"count":{"type":"integer","minimum":1,"maximum":9},
	"ratio":{"type":"number","default":0.5},
	"force":{"type":"boolean"},
	"mode":{"enum":["fast","slow",3]},
	"names":{"type":"array","items":{"type":"string"},"maxItems":2},
	"options":{"type":"object","properties":{"depth":{"type":"integer"}}},
	"day":{"anyOf":[{"type":"string","format":"date"},{"type":"null"}]},
	"any":{}}}`

// newForm returns a site with a tool that has this schema, and an admin.
func newForm(t *testing.T, input string) (*site, *browser) {
	t.Helper()
	f := newFake()
	f.tools = []*catalog.Tool{{Item: catalog.Item{Server: "files", Name: "read", Exposed: "files__read"},
		Input: []byte(input)}}
	s := newSite(t, f, nil)
	return s, s.browser(t).signIn("token-of-alice")
}

// element returns the start tag of an element with an id.
func element(text, id string) string {
	return regexp.MustCompile(`<[a-z]+ id="` + id + `"[^>]*>`).FindString(text)
}

// TestFormHasAFieldForEachArgument: each field has a label and says what it expects.
func TestFormHasAFieldForEachArgument(t *testing.T) {
	_, b := newForm(t, formSchema)
	_, text := b.get("tool?name=files__read")
	for i, c := range []struct {
		name, tag, about string
		required         bool
	}{
		{"path", "<textarea", "text", true}, {"count", `inputmode="numeric"`, "whole number", true},
		{"ratio", `inputmode="decimal"`, "number; without a value 0.5", false},
		{"force", "<select", "true or false", false}, {"mode", "<select", "one of the choices", true},
		{"names", "<textarea", "list, one item a line, string[]", false},
		{"options", "<textarea", "JSON object", false}, {"day", "<input", "text (date)", false},
		{"any", "<textarea", "any", false},
	} {
		id := "arg" + string(rune('0'+i))
		tag := element(text, id)
		if !strings.Contains(tag, c.tag) || !strings.Contains(tag, `aria-describedby="`+id+`-note"`) ||
			strings.Contains(tag, "aria-invalid") || strings.Contains(tag, `aria-required="true"`) != c.required {
			t.Errorf("%s: %s", c.name, tag)
		}
		if !strings.Contains(text, `<label for="`+id+`"><bdi>`+c.name+"</bdi>") ||
			!strings.Contains(text, "<bdi>"+c.about+"</bdi>") {
			t.Errorf("%s has no label or does not say %q", c.name, c.about)
		}
	}
	if options := regexp.MustCompile(`<option value="(\d)">([a-z0-9]+)</option>`).FindAllString(text,
		-1); len(options) != 3 {
		t.Errorf("%q", options)
	}
	if !strings.Contains(text, "<bdi>The file.</bdi>") || !strings.Contains(text,
		"{\n  &#34;path&#34;: &#34;&#34;,\n  &#34;count&#34;: 0,\n  &#34;mode&#34;: &#34;fast&#34;\n}") {
		t.Error(text)
	}
	if strings.Contains(text, "novalidate") == strings.Contains(text, "<details open><summary>Arguments as JSON") {
		t.Error("the form for JSON hides that of the fields")
	}
}

// TestFormSendsArguments: empty fields are left out, numbers keep their text, and the fields
// keep what was entered.
func TestFormSendsArguments(t *testing.T) {
	s, b := newForm(t, formSchema)
	digest := formOf(s.tools[0]).Digest
	for _, c := range []struct {
		fields []string
		args   string
	}{
		{[]string{"arg0", "/srv", "arg1", "2", "arg4", "0"}, `{"path":"/srv","count":2,"mode":"fast"}`},
		{[]string{"arg0", "a\r\nb", "arg1", " 9 ", "arg2", "0.10", "arg3", "false", "arg4", "2", "arg5",
			"x\r\n\r\ny z\r\n", "arg6", `{"depth": 1}`, "arg7", "2026-01-01", "arg8", "[1]"},
			`{"path":"a\nb","count":9,"ratio":0.10,"force":false,"mode":3,"names":["x","y z"],"options":{"depth":1},"day":"2026-01-01","any":[1]}`},
	} {
		resp, text := b.post("tool", append([]string{"tool", "files__read", "fields", digest}, c.fields...)...)
		if did := s.done(); resp.StatusCode != http.StatusOK || len(did) == 0 ||
			did[len(did)-1] != "call files__read "+c.args+" as alice at 127.0.0.1" {
			t.Errorf("%q: %s, %q", c.fields, resp.Status, did)
		}
		if !strings.Contains(text, `role="status"><h3 id="outcome-title">Result`) ||
			!strings.Contains(text, "done</bdi></pre>") || !strings.Contains(text, ` selected>`) {
			t.Error(text)
		}
	}
}

// TestFormLeavesOutDefaults: a required argument with a default may be left empty, as in a call.
func TestFormLeavesOutDefaults(t *testing.T) {
	s, b := newForm(t, `{"type":"object","properties":{"name":{"type":"string"},"scale":{"type":"string","default":"css"}},"required":["name","scale"]}`)
	_, text := b.post("tool", "tool", "files__read", "fields", formOf(s.tools[0]).Digest, "arg0", "x", "arg1", "")
	if did := s.done(); len(did) == 0 || did[len(did)-1] != `call files__read {"name":"x"} as alice at 127.0.0.1` {
		t.Errorf("%q\n%s", did, consoletest.Said(text))
	}
}

// TestFormRefusesWrongTexts: each message is beside its field and in the list above, nothing
// is called, and the texts stay.
func TestFormRefusesWrongTexts(t *testing.T) {
	s, b := newForm(t, formSchema)
	digest := formOf(s.tools[0]).Digest
	right := map[string]string{"arg0": "/srv", "arg1": "2", "arg4": "0"}
	for name, c := range map[string]struct{ id, text, message string }{
		"a required text is empty":      {"arg0", "", "is required"},
		"a required text is blank":      {"arg0", " \r\n", "is required"},
		"a required number is empty":    {"arg1", "", "is required"},
		"a required choice is not made": {"arg4", "", "is required"},
		"a word for a number":           {"arg1", "two", "must be an integer"},
		"a fraction":                    {"arg1", "2.5", "must be an integer"},
		"too small":                     {"arg1", "0", "must be at least 1"},
		"too large":                     {"arg1", "10", "must be at most 9"},
		"an expression":                 {"arg2", "1+1", "must be a number"},
		"another boolean":               {"arg3", "maybe", "must be a boolean"},
		"a choice that there is not":    {"arg4", "3", "must be one of the choices"},
		"the text of a choice":          {"arg4", "fast", "must be one of the choices"},
		"too many items":                {"arg5", "a\nb\nc", "must have at most 2 items"},
		"a list for an object":          {"arg6", "[]", "must be an object, written as JSON"},
		"no JSON":                       {"arg6", "{", "must be an object, written as JSON"},
		"a wrong member":                {"arg6", `{"depth":"x"}`, "is not valid: options.depth must be an integer"},
	} {
		fields := []string{"tool", "files__read", "fields", digest}
		for id, text := range right {
			if id != c.id {
				fields = append(fields, id, text)
			}
		}
		resp, text := b.post("tool", append(fields, c.id, c.text)...)
		tag := element(text, c.id)
		if resp.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(tag, `aria-invalid="true"`) ||
			!strings.Contains(tag, `aria-describedby="`+c.id+"-note "+c.id+`-error"`) {
			t.Errorf("%s: %s, %s", name, resp.Status, tag)
		}
		if !strings.Contains(text, `id="`+c.id+`-error"><bdi>`+c.message) ||
			!strings.Contains(text, `role="alert"><p>1 argument to correct:`) ||
			!strings.Contains(text, `<a href="#`+c.id+`">`) {
			t.Errorf("%s does not say %q\n%s", name, c.message, consoletest.Said(text))
		}
		if c.id != "arg0" && !strings.Contains(text, "\n/srv</textarea>") {
			t.Errorf("%s: the texts are lost", name)
		}
	}
	for name, fields := range map[string][]string{
		"another schema":  {"fields", "0123456789abcdef", "arg0", "/srv", "arg1", "2", "arg4", "0"},
		"an empty digest": {"fields", "", "arg0", "/srv", "arg1", "2", "arg4", "0"},
		"nothing at all":  {"fields", digest},
	} {
		if resp, text := b.post("tool",
			append([]string{"tool", "files__read"}, fields...)...); resp.StatusCode != http.StatusUnprocessableEntity {
			t.Errorf("%s: %s\n%s", name, resp.Status, consoletest.Said(text))
		}
	}
	if did := s.done(); len(did) > 0 {
		t.Errorf("done: %q", did)
	}
}

// TestFormsOfOddSchemas: a schema without properties has the form for JSON, and one with very
// many has the first ones.
func TestFormsOfOddSchemas(t *testing.T) {
	many := make([]string, 300)
	for i := range many {
		many[i] = fmt.Sprintf(`"p%d":{"type":"string","description":"%0300d"}`, i, i)
	}
	for input, want := range map[string][]string{
		``:                                   {"<details open><summary>Arguments as JSON"},
		`{"type":"object"}`:                  {"<details open><summary>Arguments as JSON"},
		`{"$ref":"https://example.com/x"}`:   {"<details open><summary>Arguments as JSON"},
		`{"properties":{"a":{"enum":[]}}}`:   {`<label for="arg0">`},
		`{"properties":{"a":false,"b":{}}}`:  {`<label for="arg0">`, `<label for="arg1">`},
		`{"required":["x"],"properties":{}}`: {"<details open><summary>Arguments as JSON"},
		`{"properties":{` + strings.Join(many, ",") + `}}`: {`<label for="arg63">`,
			"236 further arguments: write the arguments as JSON."},
	} {
		_, b := newForm(t, input)
		status, text := b.get("tool?name=files__read")
		if i := slices.IndexFunc(want, func(w string) bool {
			return !strings.Contains(text, w)
		}); status != http.StatusOK || i >= 0 || strings.Contains(text, `for="arg64"`) || len(text) > 1<<20 {
			t.Errorf("%.60s: %d\n%s", input, status, consoletest.Said(text))
		}
	}
}
