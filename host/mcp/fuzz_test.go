package mcp

import (
	"bytes"
	"encoding/json"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// seeds holds valid and invalid messages for all fuzz targets.
var seeds = []string{
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"a":[1,{"b":null}]}}}`,
	"{\r\n \"jsonrpc\" : \"2.0\" ,\n\t\"id\":\"a\\u0062\" , \"result\" : { } }\n",
	`{"jsonrpc":"2.0","id":9007199254740993,"error":{"code":-32042,"message":"\ud83d","data":[1e400,-0,0.10]}}`,
	`{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`,
	`{"jsonrpc":"2.0","id":1,"method":"a","\u006dethod":"b"}`,
	`{"jsonrpc":"2.0","method":"n","params":{"a":{"x":1,"\u0078":2}}}`,
	`{"\ud800":1,"\ud801":2}`, `{"\ud83d\ude00":1,"😀":2}`,
	`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, `{"jsonrpc":"2.0","id":null,"error":{}}`,
	`{"jsonrpc":"2.0","id":1.0,"result":{},"error":null}`,
	`{"jsonrpc":"2.0","id":1e0,"result":null,"error":{"code":"ENOENT"}}`,
	`{"jsonrpc":"2.0","id":null,"method":"notifications/x","params":null,"result":null,"error":null}`,
	`{"jsonrpc":"2.0","id":1,"error":{"code":1.0,"message":7,"data":null}}`,
	`{"jsonrpc":"2.0","id":1,"result":{"a":[1,{"b":NaN}]}}`,
	`{"a"`, `{"abcde"`, `{"`, `{"a":`, `{"id":"`, `{"id":12`, `{"id":12,"result":{"x":"`,
	`{"id":"a` + "\r" + `b","x":1}`, strings.Repeat("[", 65),
	strings.Repeat(`{"a":`, 64) + "1" + strings.Repeat("}", 64), "{\"a\":\"\xff\"}", `{"a":01}`, `{"a":1,}`,
	`{"a" "b":1}`, `{"_meta":"}"}`, "\ufeff{}", "\ufeff\ufeff{}", `{"a":"\u12"}`, `"\`, `nul`, ``,
}

// FuzzParse compares the scan with the reference parser and with encoding/json.
func FuzzParse(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		for bytes.HasPrefix(in, byteOrderMark) {
			in = in[len(byteOrderMark):]
		}
		before := bytes.Clone(in)
		root, good := parseReference(before)
		m, err := Parse(in)
		if few := bytes.Count(before, []byte("{"))+bytes.Count(before, []byte("[")) <= MaxDepth; few &&
			good != (utf8.Valid(before) && libraryAccepts(before)) {
			t.Fatalf("%q: the library and the reference disagree; the reference says %t", before, good)
		}
		pe, broken := err.(*ParseError)
		deep := broken && pe.Code == CodeInvalidRequest && pe.Reason == errDepth.Error() // what follows is not read
		if !deep && good == (broken && pe.Code == CodeParse) {
			t.Fatalf("%q: Parse says %v, the reference says %t", before, err, good)
		}
		if broken {
			checkAnswerable(t, before, pe.ID)
			return
		}
		if bytes.ContainsAny(in, "\r\n") || !json.Valid(in) || !utf8.Valid(in) {
			t.Fatalf("%q was accepted as %q", before, in)
		}
		if got, want := withoutSurrogates(strings.NewReplacer("\r", " ", "\n", " ").Replace(string(before))),
			string(in); got != want {
			t.Fatalf("%q became %q", before, in)
		}
		checkEnvelope(t, m, in, root)
		checkTree(t, in, root)
	})
}

// escapes matches an escape sequence: group 1 is a pair of surrogates, and group 2 a lone one.
var escapes = regexp.MustCompile(
	`(?s)(\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\.`,
)

// withoutSurrogates returns a text in which the escape of each lone surrogate is \ufffd.
func withoutSurrogates(text string) string {
	return escapes.ReplaceAllStringFunc(text, func(escape string) string {
		if escapes.FindStringSubmatch(escape)[2] != "" {
			return `\ufffd`
		}
		return escape
	})
}

// libraryAccepts reports whether a library for strict JSON accepts b, and another one can
// hold its numbers.
func libraryAccepts(b []byte) bool {
	var v any
	return jsontext.Value(b).IsValid(jsontext.AllowInvalidUTF8(true)) && json.Unmarshal(b, &v) == nil
}

// checkAnswerable checks that an id read from a broken message can be sent in a
// response.
func checkAnswerable(t *testing.T, in []byte, id ID) {
	answer := AppendError(nil, id, ErrorObject(CodeParse, "x", nil))
	if _, err := Parse(bytes.Clone(answer)); err != nil || bytes.ContainsAny(answer, "\r\n") {
		t.Fatalf("%q: the id produces the invalid response %q", in, answer)
	}
}

// checkEnvelope checks that Parse and encoding/json find the same envelope.
func checkEnvelope(t *testing.T, m *Message, in []byte, root *node) {
	want := map[string]json.RawMessage{}
	for _, c := range root.members {
		want[c.name] = in[c.value.start:c.value.end]
	}
	method := ""
	if raw := want["method"]; raw != nil && json.Unmarshal(raw, &method) != nil {
		t.Fatalf("%q has method %q", in, m.Method)
	}
	for name, part := range map[string][]byte{"id": m.ID, "params": m.Params, "result": m.Result, "error": m.Error} {
		absent := part == nil && string(want[name]) == "null"
		if !absent && !bytes.Equal(part, want[name]) && !corrected(name, part, want[name]) {
			t.Fatalf("%q: %s is %q, want %q", in, name, part, want[name])
		}
	}
	if utf8.ValidString(method) && !strings.ContainsRune(method, utf8.RuneError) && m.Method != method ||
		m.IsRequest() && m.ID.Null() {
		t.Fatalf("%q: %+v", in, m)
	}
}

// corrected reports whether a value of a message is a valid correction of an invalid one.
func corrected(name string, is, was []byte) bool {
	switch name {
	case "id":
		var a, b float64
		return json.Unmarshal(is, &a) == nil && json.Unmarshal(was, &b) == nil && a == b &&
			!bytes.ContainsAny(is, ".eE") && bytes.ContainsAny(was, ".eE")
	case "error":
		return validError(is) && !validError(was)
	}
	return false
}

// validError reports whether an error has what the specification asks for, and a message
// of bounded size.
func validError(raw []byte) bool {
	var e struct {
		Code    *int32  `json:"code"`
		Message *string `json:"message"`
	}
	return Decode(raw, &e) == nil && e.Code != nil && e.Message != nil && len(*e.Message) <= maxErrorText+100
}

// checkTree compares Members, Elements and Member with the reference parser at
// every level.
func checkTree(t *testing.T, in []byte, n *node) {
	value := in[n.start:n.end]
	i := 0
	for name, v := range Members(value) {
		want := n.members[i]
		if lone := strings.ContainsRune(want.name, utf8.RuneError); !lone && name != want.name {
			t.Fatalf("%q: member %d is %q, want %q", value, i, name, want.name)
		}
		if !bytes.Equal(v, in[want.value.start:want.value.end]) || !bytes.Equal(Member(value, name), v) {
			t.Fatalf("%q: %q is %q, Member says %q", value, name, v, Member(value, name))
		}
		i++
	}
	if i != len(n.members) || Empty(value) != (n.kind != '{' || i == 0) {
		t.Fatalf("%q: %d members, want %d", value, i, len(n.members))
	}
	i = 0
	for v := range Elements(value) {
		if want := n.elements[i]; !bytes.Equal(v, in[want.start:want.end]) {
			t.Fatalf("%q: element %d is %q", value, i, v)
		}
		i++
	}
	if i != len(n.elements) {
		t.Fatalf("%q: %d elements, want %d", value, i, len(n.elements))
	}
	checkText(t, value, n)
	for _, c := range n.members {
		checkTree(t, in, c.value)
	}
	for _, c := range n.elements {
		checkTree(t, in, c)
	}
}

func checkText(t *testing.T, value []byte, n *node) {
	got, ok := Text(value)
	var want string
	if ok != (n.kind == '"') || ok && json.Unmarshal(value, &want) != nil {
		t.Fatalf("Text(%q) is %q, %t", value, got, ok)
	}
	if ok && !strings.ContainsRune(want, utf8.RuneError) && got != want {
		t.Fatalf("Text(%q) is %q, want %q", value, got, want)
	}
}

// FuzzEdit checks that an edit changes only one member, and that the result
// passes the scan.
func FuzzEdit(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s), "id", "_meta", []byte(`"x"`))
	}
	f.Add([]byte(` { "a" : 1 , "b":{ } ,"c":"}"} `), "a", "b", []byte(`{"a":[]}`))
	f.Add([]byte(`{"_meta":"\",}"}`), "_meta", "progressToken", []byte(`7`))
	f.Fuzz(func(t *testing.T, object []byte, name, second string, value []byte) {
		if Scan(object) != nil || Scan(value) != nil || odd(name) || odd(second) {
			return
		}
		value = bytes.Trim(value, " \t") // Member returns values without surrounding white space
		checkEdit(t, object, SetMember(bytes.Clone(object), name, value), name, value)
		checkEdit(t, object, DeleteMember(bytes.Clone(object), name), name, nil)
		inner := SetMember(Member(object, name), second, value)
		set := SetPath(bytes.Clone(object), []string{name, second}, value)
		checkEdit(t, object, set, name, inner)
		if got := Member(set, name, second); !bytes.Equal(got, value) {
			t.Fatalf("%q: SetPath returned %q, whose value is %q", object, set, got)
		}
	})
}

// odd reports whether JSON cannot represent the name uniquely: it is not UTF-8,
// or it contains U+FFFD, which also replaces lone surrogates.
func odd(name string) bool {
	return !utf8.ValidString(name) || strings.ContainsRune(name, utf8.RuneError)
}

func checkEdit(t *testing.T, before, after []byte, name string, value []byte) {
	if err := Scan(bytes.Clone(after)); err != nil && err != errDepth {
		t.Fatalf("%q became %q, which %v", before, after, err)
	}
	if got := Member(after, name); !bytes.Equal(got, value) {
		t.Fatalf("%q became %q: %q is %q, want %q", before, after, name, got, value)
	}
	if got, want := others(after, name), others(before, name); !reflect.DeepEqual(got, want) {
		t.Fatalf("%q became %q: the other members are %q, want %q", before, after, got, want)
	}
}

// others returns all members except one, verbatim.
func others(object []byte, name string) []string {
	var all []string
	for n, v := range Members(object) {
		if n != name {
			all = append(all, n+"="+string(v))
		}
	}
	return all
}

// FuzzGlance checks that every prefix of a message is read without a panic, and
// that the returned id can be sent.
func FuzzGlance(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) > 512 {
			return
		}
		for n := range len(in) + 1 {
			prefix := bytes.Clone(in[:n])[:n:n] // exact capacity, so that an overread panics
			id, _ := Glance(prefix)
			checkAnswerable(t, prefix, id)
			for range Elements(prefix) {
			}
			_, _ = TextMember(prefix, "id", "x")
		}
	})
}

// FuzzRepair checks that repaired messages are strict JSON on one line, and stay as they are
// when they are repaired again.
func FuzzRepair(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
		f.Add([]byte(s + s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		before := bytes.Clone(in)
		messages, _ := Repair(in)
		if !bytes.Equal(in, before) {
			t.Fatalf("%q became %q", before, in)
		}
		for _, m := range messages {
			switch err := Scan(bytes.Clone(m)); {
			case err == errDepth:
				continue
			case err != nil || bytes.ContainsAny(m, "\r\n"):
				t.Fatalf("%q became %q: %v", in, m, err)
			}
			if again, lost := Repair(m); len(again) != 1 || !bytes.Equal(again[0], m) || lost != nil {
				t.Fatalf("%q became %q", m, again)
			}
		}
	})
}
