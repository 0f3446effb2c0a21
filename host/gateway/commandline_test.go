package gateway

import (
	"context"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/host/upstream"
	conversation "github.com/junctor-mcp/junctor/testdata/conversations"
)

// An obligingUser is a command line that accepts every question.
type obligingUser struct{}

func (obligingUser) Capabilities() []byte { return []byte(`{"elicitation":{}}`) }
func (obligingUser) Answer(context.Context, string, string, []byte) (result, rpcErr []byte) {
	return []byte(`{"action":"accept","content":{}}`), nil
}
func (obligingUser) Absent() string                 { return "" }
func (obligingUser) Refused(string, string, string) {}

// A countedLink asks for the memory of each message.
type countedLink struct {
	*conversation.Link
	admit func(size int) bool
}

func (l *countedLink) Admit(admit func(size int) bool) { l.admit = admit }

func (l *countedLink) Read() ([]byte, error) {
	text, err := l.Link.Read()
	if err == nil {
		l.admit(len(text))
	}
	return text, err
}

// asking is a modern server that asks as many times before it answers a call.
func asking(name string, times int) *fake {
	f := newFake(name, "2026-07-28")
	f.Capabilities = `{"tools":{}}`
	f.Set(mcp.MethodListTools, `{"name":"t"}`)
	question := `{"resultType":"input_required","inputRequests":{"q":{"method":"elicitation/create","params":{"message":"` +
		strings.Repeat("x", 2*limit.Small) + `"}}}}`
	usual, calls := f.Answer, 0
	f.Answer = func(l *conversation.Link, m conversation.Message) string {
		switch {
		case m.Method != mcp.MethodCallTool:
			return usual(l, m)
		case calls == times:
			return conversation.Result(m, `{"resultType":"complete","content":[]}`)
		}
		calls++
		return conversation.Result(m, question)
	}
	return f
}

// TestLocalCallReleasesQuestions: a call of the command line does not hold the memory of
// the results that asked the user. The result after the last round is not refused.
func TestLocalCallReleasesQuestions(t *testing.T) {
	for times, want := range map[int]string{1: "", maxRounds: "",
		maxRounds + 1: "the server asked the user more than 10 times"} {
		f := asking("a", times)
		d := newFixture(f)
		d.warm(t)
		d.local.user = obligingUser{}
		u := upstream.New(upstream.Options{
			Name: "a", Peer: d.Peer("a"), Revisions: remembered{mcp.Revision(f.Revision)}, Log: hclog.NewNullLogger(),
			Version: "1",
			Start:   f.start, Call: f.call, Budget: d.Budget(),
			Open: func(context.Context) (upstream.Link, error) { return &countedLink{Link: f.Open()}, nil },
		})
		d.Apply(&Generation{Policy: policy.New(map[string]policy.Server{"a": {}}, policy.Rules{}),
			Servers: map[string]Server{"a": {Upstream: u}}})
		tool, _ := d.Catalog().Snapshot().OwnTool("a", "t")
		_, err := d.CallLocally(t.Context(),
			LocalCall{Method: mcp.MethodCallTool, Tool: tool, Params: []byte(`{"name":"a__t"}`)})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%d questions: the error is %v", times, err)
		}
		if used := d.Budget().Used(); used != 0 {
			t.Errorf("%d questions: %d bytes are held", times, used)
		}
		u.Close()
		d.end()
	}
}
