package interoptest

import (
	"context"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// accountOf does with a client of the Go SDK the same as the scripts of the
// other SDKs.
func accountOf(s *session, name string) account {
	s.t.Helper()
	const uri = "go://resource/one"
	a := account{
		Revision: s.InitializeResult().ProtocolVersion, Tools: s.toolNames(),
		Sum: s.call("demo__add", object{"a": 2, "b": 40}), Everything: s.call("every__get-sum", object{"a": 2, "b": 3}),
		Elicited: map[string]string{
			"old": s.call("old__test_elicitation", object{"message": "Who?"}),
			"new": s.call("new__test_input_required_result_elicitation", object{}),
		},
		Sampled: map[string]string{
			"old": s.call("old__test_sampling", object{"prompt": "Where?"}),
			"new": s.call("new__test_input_required_result_sampling", object{}),
		},
		Progress: map[string][]float64{}, Logs: map[string]bool{}, Cancelled: map[string]bool{},
		Grown: map[string]bool{},
	}
	if r, err := s.ReadResource(s.ctx, &mcp.ReadResourceParams{URI: "demo://about"}); err != nil {
		s.t.Error(err)
	} else {
		a.Resource = r.Contents[0].Text
	}
	if r, err := s.GetPrompt(s.ctx,
		&mcp.GetPromptParams{Name: "demo__introduce", Arguments: map[string]string{"who": "Ada"}}); err != nil {
		s.t.Error(err)
	} else {
		a.Prompt = r.Messages[0].Content.(*mcp.TextContent).Text
	}
	s.subscribe(uri)
	for _, of := range []string{"go", "goold"} {
		a.Progress[of] = s.callWithProgress(of)
		s.callWithLog(of, of+" for "+name)
		a.Logs[of] = true
		s.cancelCall(of+"__wait", object{})
		a.Cancelled[of] = true
		s.call(of+"__grow", object{"name": "sprout-" + name})
		s.toolsAfterChange(func(names []string) bool { return slices.Contains(names, of+"__sprout-"+name) })
		a.Grown[of] = true
	}
	a.Updated = s.receivesUpdate(uri)
	return a
}

// connect connects a client of the Go SDK to the endpoint.
func (e *endpoint) connect(t *testing.T, d dialect, change func(*mcp.ClientOptions)) *session {
	t.Helper()
	wires := &http.Transport{}
	t.Cleanup(wires.CloseIdleConnections)
	return connect(t, &mcp.StreamableClientTransport{Endpoint: e.url, HTTPClient: &http.Client{Transport: wires}},
		d, change)
}

// answeringAsAda configures a client that fills in every form and has a model.
func answeringAsAda(o *mcp.ClientOptions) {
	o.Capabilities.Elicitation = &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}}
	o.CreateMessageHandler = func(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
		return &mcp.CreateMessageResult{Role: "assistant", Model: "m1", Content: &mcp.TextContent{Text: "Paris"}}, nil
	}
	o.ElicitationHandler = func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		form, _ := r.Params.RequestedSchema.(map[string]any)
		fields, _ := form["properties"].(map[string]any)
		content := map[string]any{}
		for name := range fields {
			content[name] = "Ada"
		}
		return &mcp.ElicitResult{Action: "accept", Content: content}, nil
	}
}

// subscribe subscribes to changes of a resource and of the tools, and to log
// messages.
func (s *session) subscribe(uri string) {
	s.t.Helper()
	if err := s.Subscribe(s.ctx, &mcp.SubscribeParams{URI: uri}); err != nil {
		s.t.Fatal(err)
	}
	if s.InitializeResult().ProtocolVersion == modern {
		return // modern requests carry the log level themselves
	}
	if err := s.SetLoggingLevel(s.ctx, &mcp.SetLoggingLevelParams{Level: "warning"}); err != nil {
		s.t.Fatal(err)
	}
}

// receivesUpdate changes a resource until a notification arrives. A client of
// this SDK cannot tell when a subscription is in effect.
func (s *session) receivesUpdate(uri string) bool {
	s.t.Helper()
	for {
		s.call("go__touch", object{"uri": uri})
		select {
		case heard := <-s.updated:
			return heard == uri
		case <-s.ctx.Done():
			return false
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// callWithProgress calls a tool that reports progress, and returns the reports.
func (s *session) callWithProgress(of string) (heard []float64) {
	s.t.Helper()
	p := &mcp.CallToolParams{Name: of + "__count", Arguments: object{"steps": 3, "millis": 60}}
	p.SetProgressToken("count of " + of)
	if _, err := s.CallTool(s.ctx, p); err != nil {
		s.t.Fatal(err)
	}
	for len(heard) == 0 || heard[len(heard)-1] < 3 {
		heard = append(heard, next(s.t, "the last progress of "+of, s.progress).Progress)
	}
	return heard
}

// callWithLog calls a tool that logs a message, and waits for the message.
func (s *session) callWithLog(of, text string) {
	s.t.Helper()
	p := &mcp.CallToolParams{Name: of + "__speak", Arguments: object{"level": "warning", "text": text}}
	if s.InitializeResult().ProtocolVersion == modern {
		p.Meta = mcp.Meta{metaLogLevel: "warning"}
	}
	if _, err := s.CallTool(s.ctx, p); err != nil {
		s.t.Fatal(err)
	}
	for next(s.t, text, s.logs).Data != text {
	}
}
