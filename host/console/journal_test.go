package console

import (
	"fmt"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/host/console/consoletest"
	"github.com/junctor-mcp/junctor/host/logbuffer"
)

// TestLogHasNoOneTimeLinks: a viewer who reads the log cannot become an admin with a link of
// it, nor find one by searching.
func TestLogHasNoOneTimeLinks(t *testing.T) {
	f := newFake()
	s := newSite(t, f, nil)
	path, _, _ := s.console.Link()
	secret := strings.TrimPrefix(path, linkPath)
	f.records = append(f.records, &logbuffer.Record{Level: "info", Message: "open " + path + " or " + path,
		Fields: map[string]any{"link": "http://localhost" + path, "list": []string{path + "\n" + path}}})
	b := s.browser(t).signIn("token-of-bob")
	for page, found := range map[string]string{"log": "4 of 4", "log?q=open": "2 of 2",
		"log?q=" + secret[:8]: "No record"} {
		if _, text := b.get(page); strings.Contains(text, secret) || !strings.Contains(text, found) {
			t.Errorf("%s:\n%s", page, consoletest.Said(text))
		}
	}
	for in, want := range map[string]string{
		"": "", "/open?key=": "/open?key=***",
		"a /open?key=ABC/open?key=DEF&x": "a /open?key=***/open?key=***&x", "/open?key": "/open?key",
	} {
		if got := hideLinks(in); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
}

// TestLargeRecordsAreBounded: records as long as the buffer keeps them make no huge page.
func TestLargeRecordsAreBounded(t *testing.T) {
	f := newFake()
	f.records = nil
	for i := range 2000 {
		r := &logbuffer.Record{Level: "info", Message: strings.Repeat("m", 16<<10), Fields: map[string]any{}}
		for j := range 32 {
			r.Fields[fmt.Sprintf("field%d", j)] = fmt.Sprint(i) + strings.Repeat("<", 16<<10)
		}
		f.records = append(f.records, r)
	}
	_, text := newSite(t, f, nil).browser(t).signInByLink().get("log?page=20")
	if !strings.Contains(text, "1\u202f901 to 2\u202f000 of 2\u202f000 records") || len(text) > 4<<20 {
		t.Errorf("%d bytes", len(text))
	}
}
