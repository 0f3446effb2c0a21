package mcp_test

import (
	"testing"

	"github.com/junctor-mcp/junctor/host/mcp"
)

func TestMended(t *testing.T) {
	for text, want := range map[string]string{
		// deviation: strings with raw control characters | escapes them, with a warning in the log | microsoft/mcp#2983
		"{\"a\":\"x\x1ay\"}":           `{"a":"x\u001ay"}`,
		"{\"a\":\"x\ty\nz\"}":          `{"a":"x\u0009y\u000az"}`,
		"{\"a\":\"\\\\\x00\\\"\x01\"}": `{"a":"\\\u0000\"\u0001"}`,
		// deviation: text in a code page, not UTF-8 | replaces the bytes by U+FFFD, with a warning in the log | Vibe-Research#27, kimi-code#886
		"{\"a\":\"caf\xe9\"}":      "{\"a\":\"caf\ufffd\"}",
		"{\"a\":\"\xed\xa0\x80\"}": "{\"a\":\"\ufffd\ufffd\ufffd\"}",
		"{\"\xff\":\"\\\xff\"}":    "{\"\ufffd\":\"\\\ufffd\"}",
		// Nothing to mend, or nothing that it mends.
		``:                        ``,
		`{"a":"b"}`:               ``,
		"{\n\t\"a\": \"\ufffd\"}": ``,
		"{\x01}":                  ``,
		`{"a":"unfinished`:        ``,
		`{"a":"\`:                 ``,
		"{\"a\":\"\\\x01\"}":      ``,
	} {
		if got := string(mcp.Mended([]byte(text))); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}
