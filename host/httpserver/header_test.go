package httpserver

import (
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/host/mcp"
)

// FuzzLastEvent checks that lastEvent accepts exactly what id returns.
func FuzzLastEvent(f *testing.F) {
	for _, text := range []string{"0-0", "7-12", "", "-", "-1", "00-0", "0-+1", "1-18446744073709551615",
		"4294967296-0", "1-18446744073709551616", " 1-1", "1-1 ", "1-1-1", "１-1", "0x1-1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		stream, at, found, err := lastEvent(http.Header{"Last-Event-Id": {text}})
		if !found {
			t.Fatal("the header was not found")
		}
		wrote := (&logReader{number: stream}).id(at)
		if err == nil && wrote != text {
			t.Errorf("%q is read as %q", text, wrote)
		}
		if before, after, ok := strings.Cut(text, "-"); err != nil && ok {
			n, err1 := strconv.ParseUint(before, 10, 32)
			m, err2 := strconv.ParseUint(after, 10, 64)
			if err1 == nil && err2 == nil && strconv.FormatUint(n, 10) == before && strconv.FormatUint(m, 10) == after {
				t.Errorf("%q is refused", text)
			}
		}
		if _, _, _, err := lastEvent(http.Header{"Last-Event-Id": {text, text}}); err == nil {
			t.Error("two headers are accepted")
		}
	})
}

// FuzzHeaders checks that a modern request passes only if its headers equal the
// values of its message.
func FuzzHeaders(f *testing.F) {
	for _, c := range [][3]string{
		{"tools/call", "echo", "echo"}, {"tools/call", "echo", "=?base64?ZWNobw==?="},
		{"tools/call", "=?base64?ZWNobw==?=", "=?base64?ZWNobw==?="}, {"tools/call", "é", "é"},
		{"tools/call", "é", "=?base64?w6k=?="}, {"resources/read", "x", "=?base64?eA?="}, {"prompts/get", "", ""},
		{"tools/list", "a", "b"}, {"tools/call", "a", "=?base64?YQ==?= "}, {"tools/call", "\x00", "\x00"},
		{"tools/call", "a", "=?base64?YR==?="},
	} {
		f.Add(c[0], c[1], c[2])
	}
	f.Fuzz(func(t *testing.T, method, name, header string) {
		quoted := string(mcp.AppendText(nil, name))
		m, err := mcp.Parse([]byte(`{"jsonrpc":"2.0","id":1,"method":` + string(mcp.AppendText(nil, method)) +
			`,"params":{"name":` + quoted + `,"uri":` + quoted + `,` + meta + `}}`))
		if err != nil {
			return
		}
		stood, _ := mcp.TextMember(m.Params, "name")
		h := http.Header{"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {m.Method}, "Mcp-Name": {header}}
		passes := checkHeaders(h, m) == nil
		if _, isNamed := nameMembers[m.Method]; !isNamed {
			if !passes {
				t.Errorf("%q has no name to repeat", m.Method)
			}
			return
		}
		plain := !strings.ContainsFunc(stood, func(r rune) bool { return r != '\t' && r < ' ' || r > '~' })
		isEncoded := strings.HasPrefix(stood, "=?base64?") && strings.HasSuffix(stood, "?=")
		want := header == stood && plain && !isEncoded ||
			header == "=?base64?"+base64.StdEncoding.EncodeToString([]byte(stood))+"?="
		if passes != want {
			t.Errorf("%q for %q passes: %t", header, stood, passes)
		}
	})
}
