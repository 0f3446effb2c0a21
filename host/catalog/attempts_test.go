package catalog

import (
	"strings"
	"testing"

	conversation "github.com/junctor-mcp/junctor/testdata/conversations"
)

// TestUnreadListIsReportedOnce: a list that fails each time is reported once, and again after
// it could be read.
func TestUnreadListIsReportedOnce(t *testing.T) {
	a := old(`{"name":"x"}`)
	s, _ := newPinned("", a, &fakePins{})
	defer s.close()
	fails := true
	a.On(func(_ *conversation.Link, m conversation.Message) string {
		if fails && m.Method == "prompts/list" {
			return conversation.Error(m, `{"code":-32603,"message":"failed"}`)
		}
		return ""
	})
	var told []string
	s.OnListFailed(func(server, method string, err error) { told = append(told, server+" "+method+" "+err.Error()) })
	for _, now := range []bool{true, true, false, true} {
		fails = now
		refreshed(t, s)
	}
	if len(told) != 2 || told[0] != told[1] || !strings.HasPrefix(told[0], "a prompts/list ") {
		t.Errorf("%q", told)
	}
}
