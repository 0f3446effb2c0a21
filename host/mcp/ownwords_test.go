package mcp

import (
	"fmt"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/host/fault"
)

func TestWithoutOwnMeta(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"of a result": {`{"content":[],"_meta":{"junctor/reason":"x","a":1.0}}`,
			`{"content":[],"_meta":{"a":1.0}}`},
		"the last one": {`{ "a":1 , "_meta":{"a" : 1 , "junctor/x":2} }`, `{ "a":1 , "_meta":{"a" : 1} }`},
		"nothing else": {`{"_meta":{"junctor/reason":"x"},"a":1}`, `{"a":1}`},
		"several": {`{"_meta":{"junctor/a":1,"b":2,"junctor/c":{"_meta":3},"d":4}}`,
			`{"_meta":{"b":2,"d":4}}`},
		"escaped letter":        {`{"_meta":{"\u006aunctor/x":1,"b":2}}`, `{"_meta":{"b":2}}`},
		"escaped capital digit": {`{"_meta":{"\u006Aunctor/x":1,"b":2}}`, `{"_meta":{"b":2}}`},
		"escaped slash":         {`{"_meta":{"junctor\/x":1,"b":2}}`, `{"_meta":{"b":2}}`},
		"escaped _meta":         {`{"\u005fmeta":{"junctor/x":1,"b":2}}`, `{"\u005fmeta":{"b":2}}`},
		"another case of _meta": {`{"_Meta":{"junctor/x":1,"b":2}}`, `{"_Meta":{"b":2}}`},
		"of a block": {`{"content":[{"type":"text","_meta":{"junctor/x":1}},{"type":"text"}]}`,
			`{"content":[{"type":"text"},{"type":"text"}]}`},
		"of a resource": {`{"content":[{"resource":{"uri":"a:b","_meta":{"junctor/x":1}}}]}`,
			`{"content":[{"resource":{"uri":"a:b"}}]}`},
		"of a message": {`{"messages":[{"role":"user","content":{"_meta":{"junctor/x":1}}}]}`,
			`{"messages":[{"role":"user","content":{}}]}`},
		"of a question": {`{"inputRequests":{"q":{"params":{"_meta":{"junctor/x":1}}}}}`,
			`{"inputRequests":{"q":{"params":{}}}}`},
		"of a list": {`[{"_meta":{"junctor/x":1}}]`, `[{}]`},

		"an empty _meta":          {`{"_meta":{ },"a":"junctor/x"}`, ``},
		"another name":            {`{"_meta":{"io.x/junctor/y":1,"junctor":2,"Junctor/x":3,"xjunctor/":4}}`, ``},
		"not in _meta":            {`{"junctor/x":1,"content":[{"junctor/x":2}]}`, ``},
		"a text":                  {`{"content":[{"text":"\"_meta\":{\"junctor/x\":1}"}]}`, ``},
		"a value":                 {`{"_meta":{"a":"junctor/x","b":{"junctor/x":1}}}`, ``},
		"_meta that is no object": {`{"_meta":["junctor/x"]}`, ``},
		"structured content":      {`{"structuredContent":{"_meta":{"junctor/x":1}}}`, ``},
		"a schema":                {`{"inputSchema":{"properties":{"_meta":{"junctor/x":{}}}}}`, ``},
		"data":                    {`{"data":{"_meta":{"junctor/x":1}}}`, ``},
		"arguments":               {`{"arguments":{"_meta":{"junctor/x":1}}}`, ``},
		"no object":               {`"junctor/x"`, ``},
		"nothing":                 {``, ``},
	} {
		t.Run(name, func(t *testing.T) {
			in := []byte(c.in)
			got := WithoutOwnMeta(in)
			if want := c.want; want == "" && (len(in) != len(got) || len(in) > 0 && &in[0] != &got[0]) ||
				want != "" && string(got) != want {
				t.Errorf("%s, want %s", got, want)
			}
			if c.in == "" {
				return
			}
			m, err := Parse(AppendResult(nil, ID("1"), in))
			if err != nil {
				t.Fatal(err)
			}
			if c.want != "" && c.in[0] == '{' && !m.Names.MayHaveOwnMeta() {
				t.Error("the scan did not see it")
			}
		})
	}
}

// TestMayHaveOwnMeta: only the names in a result make it be read again.
func TestMayHaveOwnMeta(t *testing.T) {
	for in, want := range map[string]bool{
		`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"junctor/x \u006a\/"}],"_meta":{"a":"junctor/"}}}`: false,
		`{"jsonrpc":"2.0","id":1,"junctor/x":1,"result":{"":1}}`:                                                               false,
		`{"jsonrpc":"2.0","id":1,"result":{"content":[{"_meta":{"junctor/":1}}]}}`:                                             true,
		`{"jsonrpc":"2.0","id":1,"result":{"content":[{"_meta":{"junctor\u002f":1}}]}}`:                                        true,
	} {
		if m, err := Parse([]byte(in)); err != nil || m.Names.MayHaveOwnMeta() != want {
			t.Errorf("%s: %v", in, err)
		}
	}
}

func TestServerError(t *testing.T) {
	for name, c := range map[string]struct{ in, code, data string }{
		"a code and a reason": {`{"code":-32001,"message":"m","data":{"reason":"needs_login","code":"upstream.needs_login","server":"good","hint":"h","id":"i"}}`,
			"-32001", `{"original":%s}`},
		"a code": {`{"code":-32603,"message":"m","data":{"a":1.0,"code":"call.timeout","b":2}}`,
			"-32603", `{"a":1.0,"b":2,"original":%s}`},
		"a reason": {`{"code":1,"message":"m","data":{"reason":"denied","retry_after_ms":1,"x":1}}`, "1",
			`{"x":1,"original":%s}`},
		"another case": {`{"code":1,"message":"m","data":{"Reason":"denied","CODE":5,"x":1}}`, "1",
			`{"x":1,"original":%s}`},
		"escaped": {`{"code":1,"message":"m","data":{"\u0072eason":"de\u006eied"}}`, "1",
			`{"original":%s}`},
		"an own original": {`{"code":1,"message":"m","data":{"reason":"busy","original":{}}}`, "1",
			`{"original":%s}`},
		"pages to visit": {`{"code":-32042,"message":"m","data":{"elicitations":[{"n":1.0}],"reason":"needs_login"}}`,
			"-32042", `{"elicitations":[{"n":1.0}],"original":%s}`},
		"a number": {`{"code":-31017,"message":"m"}`, "-32603", `{"original":%s}`},
		"a number and data": {`{"code":-31010,"message":"m","data":{"x":1.0,"hint":"h"}}`, "-32603",
			`{"x":1.0,"original":%s}`},
		"a number and a text":    {`{"code":-31019,"message":"m","data":"x"}`, "-32603", `{"original":%s}`},
		"a number as a fraction": {`{"code":-31019.0,"message":"m"}`, "-32603", `{"original":%s}`},
	} {
		t.Run(name, func(t *testing.T) {
			got := ServerError([]byte(c.in))
			if err := Scan(got); err != nil {
				t.Fatal(err, string(got))
			}
			if code, data := string(Member(got, "code")), string(Member(got, "data")); code != c.code ||
				data != fmt.Sprintf(c.data, c.in) {
				t.Errorf("%s %s", code, data)
			}
			if message, _ := TextMember(got, "message"); message != "m" {
				t.Error(message)
			}
		})
	}
	for _, kept := range []string{
		`{"code":-32001,"message":"m","data":{"reason":"quota","code":"E42","server":"db","hint":"h","id":"i"}}`,
		`{"code":-32603,"message":"server \"good\" needs a login"}`,
		`{ "data":{"elicitations":[{"url":"https://x","n":9007199254740993}]},"message":"URL needed\/","code":-32042,"more":[] }`,
		`{"code":-32002,"message":"Resource not found","data":{"uri":"r:1"}}`,
		`{"code":-32021,"message":"m","data":{"requiredCapabilities":{"sampling":{}}}}`,
		`{"code":-32800,"message":"m"}`, `{"code":-32000,"message":"m"}`, `{"code":-32099,"message":"m"}`,
		`{"code":-31009,"message":"m"}`, `{"code":-31020,"message":"m"}`, `{"code":401,"message":"m"}`,
		`{"code":1,"message":"m","data":{"code":404,"reason":["denied"]}}`,
		`{"code":1,"message":"m","data":{"error":{"code":"upstream.needs_login","reason":"denied"}}}`,
		`{"code":1,"message":"m","data":["denied"]}`, `{"code":1,"message":"m","data":"denied"}`,
		`{"code":1,"message":"m","data":{"_meta":{"a":1}}}`,
	} {
		if got := ServerError([]byte(kept)); string(got) != kept {
			t.Errorf("%s became %s", kept, got)
		}
	}
	if got := string(ServerError([]byte(`{"code":1,"message":"m","data":{"_meta":{"junctor/x":1},"a":1}}`))); got !=
		`{"code":1,"message":"m","data":{"a":1}}` {
		t.Error(got)
	}
	large := ServerError([]byte(`{"code":-31017,"message":"m","data":{"hint":"` + strings.Repeat("x",
		maxOriginal) + `"}}`))
	if text, ok := TextMember(large, "data", "original"); !ok || len(text) > maxOriginal+10 {
		t.Errorf("%.80s", large)
	}
}

// TestOwnErrors: every error that Junctor makes of a fault is one that no server can send.
func TestOwnErrors(t *testing.T) {
	for code := range fault.Codes {
		for _, modern := range []bool{false, true} {
			own := FaultError(&fault.Error{Code: code, Message: "m", Server: "s", Hint: "h", RetryAfter: 1e9}, modern)
			is := ServerError(own)
			if hasOwnWord(Member(is, "data")) || hasOwnCode(is) {
				t.Errorf("%s passes as an error of Junctor", is)
			}
			for name := range Members(Member(is, "data")) {
				if name != "original" {
					t.Errorf("%s keeps %s", code, name)
				}
			}
		}
	}
	for code, m := range errorMappings {
		if m.modern > -32000 && (m.modern < ownCodesFirst || m.modern > ownCodesLast) {
			t.Errorf("%s has the code %d", code, m.modern)
		}
	}
}
