package httpserver

import (
	"net/http"
	"testing"
)

// TestAcceptOf checks the media types that Accept headers allow.
//
// deviation: the Accept header is missing, empty, */* or has weights | Junctor takes a missing or empty one as everything; only a weight of zero excludes a type | -
func TestAcceptOf(t *testing.T) {
	json, stream, both, none := accept{json: true}, accept{stream: true}, accept{json: true, stream: true}, accept{}
	for _, c := range []struct {
		values []string
		want   accept
	}{
		{nil, both},
		{[]string{""}, both},
		{[]string{" , "}, both},
		{[]string{"*/*"}, both},
		{[]string{"*/*;q=0.1"}, both},
		{[]string{"application/json, text/event-stream"}, both},
		{[]string{"text/event-stream,application/json"}, both},
		{[]string{"application/json", "text/event-stream"}, both},
		{[]string{"application/*, text/*"}, both},
		{[]string{"Application/JSON; charset=utf-8, TEXT/EVENT-STREAM"}, both},
		{[]string{"text/event-stream;q=0.9, application/json;q=1.0"}, both},
		{[]string{"application/json"}, json},
		{[]string{"application/*"}, json},
		{[]string{"application/json, text/event-stream;q=0"}, json},
		{[]string{"*/*, text/event-stream;q=0.000"}, json},
		{[]string{"application/json;q=oops"}, json},
		{[]string{"*/*;q=0, application/json"}, json},
		{[]string{"application/json, */*;q=0"}, json},
		{[]string{"text/event-stream"}, stream},
		{[]string{"text/*"}, stream},
		{[]string{"text/event-stream", "text/html"}, stream},
		{[]string{"*/*, application/json; charset=utf-8; q=0"}, stream},
		{[]string{"application/json;Q=0, text/event-stream"}, stream},
		{[]string{"text/html"}, none},
		{[]string{"*"}, none},
		{[]string{"json"}, none},
		{[]string{"application/jsonp"}, none},
		{[]string{"application/json;q=0"}, none},
		{[]string{"*/*;q=0"}, none},
		{[]string{"*/*;q=0, application/json;q=0"}, none},
		{[]string{"application/json-seq"}, none},
	} {
		if got := acceptOf(http.Header{"Accept": c.values}); got != c.want {
			t.Errorf("%q: %+v, want %+v", c.values, got, c.want)
		}
	}
}
