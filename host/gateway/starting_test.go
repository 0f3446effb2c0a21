package gateway

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/testdata/bubble"
	conversation "github.com/junctor-mcp/junctor/testdata/conversations"
)

// TestStartProgress: a client that wants progress of a call hears how the start
// of the server goes on, in numbers that only increase.
func TestStartProgress(t *testing.T) {
	for _, c := range []struct {
		name, meta string
		warm       bool // the tool is known before
		want       bool
	}{
		{"a tool that is not known yet", `,"_meta":{"progressToken":"p"}`, false, true},
		{"a known tool", `,"_meta":{"progressToken":"p"}`, true, true},
		{"a modern client", `,"_meta":{$M,"progressToken":"p"}`, false, true},
		{"a client that wants none", ``, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := slowToStart("slow", 5*time.Second)
				start := f.Answer
				f.Answer = func(l *conversation.Link, m conversation.Message) string {
					if m.Method == mcp.MethodCallTool {
						if token := mcp.Member(m.Params, "_meta", "progressToken"); token != nil {
							l.Say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` +
								string(token) + `,"progress":0.5}}`)
						}
						return conversation.Result(m, `{"content":[]}`)
					}
					return start(l, m)
				}
				f.idle = time.Second
				d := newFixture(f)
				defer d.end()
				if c.warm {
					d.warm(t)
					bubble.Sleep(time.Minute)
				}
				client := d.client()
				defer client.hangUp()
				client.greet(t, "{}")
				client.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow__t"%s}}`, c.meta)
				var last float64
				starts, own := 0, 0
				for got := range client.Sent {
					if strings.Contains(got, `"id":1`) {
						break
					}
					var m struct {
						Params struct {
							ProgressToken, Message string
							Progress               float64
						}
					}
					if !strings.Contains(got, "notifications/progress") || json.Unmarshal([]byte(got), &m) != nil {
						continue
					}
					if m.Params.Progress <= last || m.Params.ProgressToken != "p" {
						t.Errorf("after %g: %s", last, got)
					}
					last = m.Params.Progress
					switch {
					case strings.Contains(m.Params.Message, `starting server "slow" (`):
						starts++
					case last == 0.5:
						own++
					default:
						t.Error(got)
					}
				}
				if c.want && (starts < 3 || own != 1) || !c.want && starts+own > 0 {
					t.Errorf("%d reports of the start, %d of the server", starts, own)
				}
			})
		})
	}
}
