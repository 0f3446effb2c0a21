package gateway

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/host/mcp"
	conversation "github.com/junctor-mcp/junctor/testdata/conversations"
)

// TestManyAsk: fifty modern clients and as many old ones, whom a server that each
// has a connection to asks at random; every answer reaches the call that it was
// for.
func TestManyAsk(t *testing.T) {
	f := simple("a")
	f.share = PerSession
	f.Answer = func(l *conversation.Link, m conversation.Message) string { return askName(l, m) }
	d := newFixture(f)
	defer d.end()
	d.warm(t)
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() { d.modernQuestions(t, fmt.Sprintf("modern %d", i)) })
		all.Go(func() { d.legacyQuestions(t, fmt.Sprintf("old %d", i)) })
	}
	all.Wait()
	if n := f.Connections(); n > 1+limit.DefaultConnections {
		t.Errorf("%d connections", n)
	}
}

// askName is a server that asks each caller its name, once or twice, and answers with
// the names that it heard. The questions of a call are numbered with its id.
func askName(l *conversation.Link, m conversation.Message) string {
	ask := func(call string, round int, heard string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":"%s/%d/%s","method":"sampling/createMessage","params":{"from":%q}}`,
			call, round, heard, heard)
	}
	switch {
	case m.Method == mcp.MethodCallTool:
		who, _ := mcp.TextMember(m.Params, "arguments", "who")
		l.Say(ask(string(m.ID), len(who)%3, who))
		return conversation.Later
	case m.Method != "" || m.ID == nil || m.ID[0] != '"':
		return ""
	}
	parts := strings.Split(strings.Trim(string(m.ID), `"`), "/")
	said, _ := mcp.TextMember(m.Result, "who")
	if said != parts[2] {
		l.Say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"wrong":%q,"instead of":%q}}`, parts[0], said, parts[2]))
		return conversation.Later
	}
	if parts[1] > "0" {
		l.Say(ask(parts[0], int(parts[1][0]-'1'), parts[2]))
		return conversation.Later
	}
	l.Say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"heard":%q}}`, parts[0], said))
	return conversation.Later
}

const askCalls = 6

func (d *fixture) modernQuestions(t *testing.T, name string) {
	// Some share a principal.
	c := &testClient{Session: d.session(t.Context(), Client{Principal: authn.Principal{Subject: name[:len(name)-1]}})}
	for i := range askCalls {
		who := fmt.Sprintf("%s call %d", name, i)
		form := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a__t","arguments":{"who":%q},%s"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"sampling":{}}}}}`
		answer := d.ask(c, fmt.Sprintf(form, who, ""))
		for range maxRounds {
			state := stateOf(answer)
			if state == "" {
				break
			}
			var answers []string
			for key, q := range mcp.Members(mcp.Member([]byte(answer), "result", "inputRequests")) {
				if from, _ := mcp.TextMember(q, "params", "from"); from != who {
					t.Errorf("%s was asked what %s should be", who, from)
				}
				answers = append(answers, fmt.Sprintf(`%q:{"who":%q}`, key, who))
			}
			answer = d.ask(c, fmt.Sprintf(form, who,
				fmt.Sprintf(`"requestState":%q,"inputResponses":{%s},`, state, strings.Join(answers, ","))))
		}
		if heard, _ := mcp.TextMember([]byte(answer), "result", "heard"); heard != who {
			t.Errorf("%s got %s", who, answer)
		}
	}
}

func (d *fixture) legacyQuestions(t *testing.T, name string) {
	c := d.visitor(name, "")
	defer c.hangUp()
	c.greet(t, `{"sampling":{}}`)
	for i := range askCalls {
		who := fmt.Sprintf("%s call %d", name, i)
		p := d.post(c, fmt.Sprintf(
			`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"a__t","arguments":{"who":%q}}}`, i, who,
		))
		for {
			msg := <-p.Sent
			if from, asked := mcp.TextMember([]byte(msg), "params", "from"); asked {
				if from != who {
					t.Errorf("%s was asked what %s should be", who, from)
				}
				c.say(`{"jsonrpc":"2.0","id":%s,"result":{"who":%q}}`, mcp.Member([]byte(msg), "id"), who)
				continue
			}
			if heard, _ := mcp.TextMember([]byte(msg), "result", "heard"); heard != who {
				t.Errorf("%s got %s", who, msg)
			}
			break
		}
		p.end()
	}
}
