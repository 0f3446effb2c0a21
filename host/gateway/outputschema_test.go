package gateway

import (
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/schema"
)

// TestStructuredText: only a JSON object that fits the output schema, and is the only content
// of a result without structured content, is taken for the structured content.
func TestStructuredText(t *testing.T) {
	v := &toolValidator{schemas: schema.NewCache(10)}
	known := []byte(
		`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}`,
	)
	text := func(s string) string { return `{"content":[{"type":"text","text":"` + s + `"}]}` }
	for _, c := range []struct{ result, want string }{
		{text(`{\"n\":1}`), `{"n":1}`},
		{text(` \n{ \"n\" : 1 }\n`), `{"n":1}`},
		{`{"structuredContent":null,"content":[{"text":"{\"n\":1}","type":"text","annotations":{}}]}`, `{"n":1}`},

		{text(`one`), ""},
		{text(``), ""},
		{text(`1`), ""},
		{text(`null`), ""},
		{text(`[{\"n\":1}]`), ""},
		{text(`\"{\"n\":1}\"`), ""},
		{text(`{}`), ""},
		{text(`{\"n\":\"1\"}`), ""},
		{text(`{\"n\":1,\"m\":2}`), ""},
		{text(`{\"n\":1,\"n\":2}`), ""},
		{text(`{\"n\":1} and more`), ""},
		{text(`Result: {\"n\":1}`), ""},
		{text(`{\"n\":1`), ""},
		{text("```json\\n{\\\"n\\\":1}\\n```"), ""},
		{`{"content":[]}`, ""},
		{`{}`, ""},
		{`{"content":[{"type":"text","text":"{\"n\":1}"},{"type":"text","text":"{\"n\":1}"}]}`, ""},
		{`{"content":[{"type":"image","data":"","mimeType":"image/png"}]}`, ""},
		{`{"content":[{"type":"resource","text":"{\"n\":1}"}]}`, ""},
		{`{"structuredContent":{"m":1},"content":[{"type":"text","text":"{\"n\":1}"}]}`, ""},
	} {
		if got := string(v.structuredText(known, []byte(c.result))); got != c.want {
			t.Errorf("%s: got %q, want %q", c.result, got, c.want)
		}
	}
	if got := v.structuredText([]byte(`{"$ref":"#/none"}`), []byte(text(`{}`))); got != nil {
		t.Errorf("with a schema that cannot be used: %q", got)
	}
}

// TestMayKnowRemovedSchema: a session knows a removed schema if its last list is older than the
// removal. A stateless client may use a list for a minute.
func TestMayKnowRemovedSchema(t *testing.T) {
	session := func(listed bool, removals uint64) *Session {
		return &Session{shown: shownTools{listed: listed, removals: removals}}
	}
	for _, c := range []struct {
		name string
		s    *Session
		ago  time.Duration
		want bool
	}{
		{"listed before", session(true, 4), time.Hour, true},
		{"resumed", session(true, 0), time.Hour, true},
		{"stateless, a moment ago", nil, time.Second, true},
		{"listens without a session, a moment ago", &Session{stateless: true}, time.Second, true},
		{"listed since", session(true, 5), time.Second, false},
		{"listed after a later removal", session(true, 9), time.Second, false},
		{"never listed", session(false, 0), time.Second, false},
		{"stateless, long ago", nil, listTTL, false},
		{"listens without a session, long ago", &Session{stateless: true}, listTTL, false},
	} {
		r := &pendingRequest{session: c.s}
		if got := mayKnow(r, &catalog.Removal{Number: 5, At: time.Now().Add(-c.ago)}); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
	}
}
