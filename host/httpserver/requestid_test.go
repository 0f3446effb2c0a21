package httpserver

import (
	"net/http"
	"strings"
	"testing"
)

func TestRequestIDIsChecked(t *testing.T) {
	for id, ok := range map[string]bool{
		"a": true, "0193b5a2-7c3e-7d7c-9a51-3f1e2d4c5b6a": true, strings.Repeat("x", 128): true,
		"": false, strings.Repeat("x", 129): false, "a b": false, "a\tb": false, "ä": false, "\x1b[31m": false,
	} {
		if got := requestID(&http.Request{Header: http.Header{requestIDHeader: {id}}}); (got == id && id != "") != ok {
			t.Errorf("%q is %q", id, got)
		}
	}
	if got := requestID(&http.Request{Header: http.Header{requestIDHeader: {"a", "b"}}}); got != "" {
		t.Errorf("two ids are %q", got)
	}
}

func TestTraceIDIsChecked(t *testing.T) {
	const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	for text, want := range map[string]string{
		"00-" + trace + "-00f067aa0ba902b7-01":                   trace,
		"00-" + trace + "-00f067aa0ba902b7":                      "",
		"00-" + strings.Repeat("0", 32) + "-00f067aa0ba902b7-01": "",
		"00-" + strings.Repeat("x", 32) + "-00f067aa0ba902b7-01": "",
		"": "", trace: "",
	} {
		if got := traceID(http.Header{"Traceparent": {text}}); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
