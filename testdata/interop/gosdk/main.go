// Command gosdk is an MCP server for host/interoptest, made with the official
// Go SDK. It supports every revision up to 2026-07-28. It has the features that
// the tests exercise through Junctor: progress, log messages, cancellation,
// changing lists, subscriptions and elicitation.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A testServer is the server and the state of its tools.
type testServer struct {
	server *mcp.Server

	mu        sync.Mutex
	withdrawn int           // guarded by mu; number of cancelled calls of wait
	changed   chan struct{} // guarded by mu; closed and replaced when withdrawn changes
}

type echoArguments struct {
	Text   string `json:"text"`
	Millis int    `json:"millis,omitempty" jsonschema:"how long to take"`
}

type echoed struct {
	Text   string `json:"text"`
	Length int    `json:"length"`
}

func (s *testServer) echo(ctx context.Context, _ *mcp.CallToolRequest,
	a echoArguments) (*mcp.CallToolResult, echoed, error) {
	return nil, echoed{a.Text, len(a.Text)}, pause(ctx, a.Millis)
}

func pause(ctx context.Context, millis int) error {
	select {
	case <-time.After(time.Duration(millis) * time.Millisecond):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *testServer) fail(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
	return nil, nil, errors.New("this tool always fails")
}

type countArguments struct {
	Steps  int `json:"steps"`
	Millis int `json:"millis,omitempty" jsonschema:"how long each step takes"`
}

// count reports progress before it returns.
func (s *testServer) count(ctx context.Context, r *mcp.CallToolRequest,
	a countArguments) (*mcp.CallToolResult, any, error) {
	for i := range a.Steps + 1 {
		if err := progress(ctx, r, i, a.Steps); err != nil {
			return nil, nil, err
		}
		if err := pause(ctx, a.Millis); err != nil {
			return nil, nil, err
		}
	}
	return text("counted to %d", a.Steps), nil, nil
}

// progress reports progress if the client has sent a progress token.
func progress(ctx context.Context, r *mcp.CallToolRequest, i, of int) error {
	token := r.Params.GetProgressToken()
	if token == nil {
		return nil
	}
	return r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
		ProgressToken: token, Progress: float64(i), Total: float64(of), Message: fmt.Sprintf("step %d", i),
	})
}

type speakArguments struct {
	Level string `json:"level"`
	Text  string `json:"text"`
}

func (s *testServer) speak(ctx context.Context, r *mcp.CallToolRequest,
	a speakArguments) (*mcp.CallToolResult, any, error) {
	err := r.Session.Log(ctx,
		&mcp.LoggingMessageParams{Level: mcp.LoggingLevel(a.Level), Logger: "gosdk", Data: a.Text})
	return text("said"), nil, err
}

// wait reports progress and waits to be cancelled.
func (s *testServer) wait(ctx context.Context, r *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
	if err := progress(ctx, r, 0, 1); err != nil {
		return nil, nil, err
	}
	<-ctx.Done()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.withdrawn++
	close(s.changed)
	s.changed = make(chan struct{})
	return nil, nil, ctx.Err()
}

type reachArguments struct {
	Number int `json:"number"`
}

// reach returns when a number of calls of wait were cancelled.
func (s *testServer) reach(ctx context.Context, _ *mcp.CallToolRequest,
	a reachArguments) (*mcp.CallToolResult, any, error) {
	for {
		s.mu.Lock()
		n, changed := s.withdrawn, s.changed
		s.mu.Unlock()
		if n >= a.Number {
			return text("%d", n), nil, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
	}
}

type nameArguments struct {
	Name string `json:"name"`
}

// grow adds a tool, a prompt and a resource while clients are connected.
func (s *testServer) grow(_ context.Context, _ *mcp.CallToolRequest,
	a nameArguments) (*mcp.CallToolResult, any, error) {
	mcp.AddTool(s.server, &mcp.Tool{Name: a.Name, Description: "Was not there before."}, s.fail)
	s.server.AddPrompt(&mcp.Prompt{Name: a.Name}, s.prompt)
	s.server.AddResource(&mcp.Resource{Name: a.Name, URI: "go://grown/" + a.Name}, s.read)
	return text("grown"), nil, nil
}

func (s *testServer) shrink(_ context.Context, _ *mcp.CallToolRequest,
	a nameArguments) (*mcp.CallToolResult, any, error) {
	s.server.RemoveTools(a.Name)
	s.server.RemovePrompts(a.Name)
	s.server.RemoveResources("go://grown/" + a.Name)
	return text("shrunk"), nil, nil
}

type touchArguments struct {
	URI string `json:"uri"`
}

// touch reports that a resource changed.
func (s *testServer) touch(ctx context.Context, _ *mcp.CallToolRequest,
	a touchArguments) (*mcp.CallToolResult, any, error) {
	return text("touched"), nil, s.server.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: a.URI})
}

// ask elicits input from the user. The SDK sends a request to a legacy client
// and responds with input_required to a modern one.
func (s *testServer) ask(_ context.Context, r *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
	answer, ok := r.Params.InputResponses["color"].(*mcp.ElicitResult)
	if !ok {
		return &mcp.CallToolResult{
			InputRequests: mcp.InputRequestMap{"color": &mcp.ElicitParams{
				Message: "Which color?",
				RequestedSchema: map[string]any{
					"type": "object", "required": []string{"color"},
					"properties": map[string]any{"color": map[string]any{"type": "string"}},
				},
			}},
			RequestState: "state of the go-sdk server",
		}, nil, nil
	}
	if r.Params.RequestState != "state of the go-sdk server" {
		return nil, nil, fmt.Errorf("the state came back as %q", r.Params.RequestState)
	}
	return text("%s %v", answer.Action, answer.Content["color"]), nil, nil
}

func (s *testServer) read(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	c := &mcp.ResourceContents{URI: r.Params.URI, MIMEType: "text/plain", Text: "what stands at " + r.Params.URI}
	if strings.HasSuffix(r.Params.URI, "/blob") {
		c = &mcp.ResourceContents{URI: r.Params.URI, MIMEType: "application/octet-stream",
			Blob: []byte{0, 1, 2, 0xfd, 0xfe, 0xff}}
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{c}}, nil
}

func (s *testServer) prompt(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{
		Role: "user", Content: &mcp.TextContent{Text: fmt.Sprintf("%s: %v", r.Params.Name, r.Params.Arguments)},
	}}}, nil
}

func complete(_ context.Context, r *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	of := r.Params.Ref.Name + r.Params.Ref.URI
	return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{
		Values: []string{r.Params.Argument.Value + "-" + of, r.Params.Argument.Value + "-other"}, Total: 2,
	}}, nil
}

func text(format string, args ...any) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf(format, args...)}}}
}

// addFeatures adds the tools, prompts and resources that exist from the start.
func (s *testServer) addFeatures(extra, describe int) {
	mcp.AddTool(s.server, &mcp.Tool{Name: "echo", Description: "Return a text, after a while."}, s.echo)
	mcp.AddTool(s.server, &mcp.Tool{Name: "fail", Description: "Fail."}, s.fail)
	mcp.AddTool(s.server, &mcp.Tool{Name: "count", Description: "Count with progress."}, s.count)
	mcp.AddTool(s.server, &mcp.Tool{Name: "speak", Description: "Log a message."}, s.speak)
	mcp.AddTool(s.server, &mcp.Tool{Name: "wait", Description: "Wait to be cancelled."}, s.wait)
	mcp.AddTool(s.server, &mcp.Tool{Name: "reach", Description: "Wait until calls of wait were cancelled."}, s.reach)
	mcp.AddTool(s.server, &mcp.Tool{Name: "grow", Description: "Add a tool, a prompt and a resource."}, s.grow)
	mcp.AddTool(s.server, &mcp.Tool{Name: "shrink", Description: "Remove them."}, s.shrink)
	mcp.AddTool(s.server, &mcp.Tool{Name: "touch", Description: "Say that a resource changed."}, s.touch)
	mcp.AddTool(s.server, &mcp.Tool{Name: "ask", Description: "Ask the user."}, s.ask)
	for i := range extra {
		mcp.AddTool(s.server,
			&mcp.Tool{Name: fmt.Sprintf("extra-%04d", i), Description: strings.Repeat("x", describe)}, s.fail)
	}
	for _, name := range []string{"one", "two", "three", "blob"} {
		s.server.AddResource(&mcp.Resource{Name: name, URI: "go://resource/" + name, MIMEType: "text/plain"}, s.read)
	}
	s.server.AddResourceTemplate(&mcp.ResourceTemplate{Name: "dynamic", URITemplate: "go://dynamic/{id}"}, s.read)
	s.server.AddPrompt(&mcp.Prompt{Name: "plain", Description: "Has no arguments."}, s.prompt)
	s.server.AddPrompt(&mcp.Prompt{Name: "topic", Description: "Has arguments.", Arguments: []*mcp.PromptArgument{
		{Name: "topic", Required: true}, {Name: "length"},
	}}, s.prompt)
}

// serve serves the server over all HTTP transports.
func (s *testServer) serve(address string) error {
	same := func(*http.Request) *mcp.Server { return s.server }
	mux := http.NewServeMux()
	mux.Handle("/mcp", mcp.NewStreamableHTTPHandler(same, nil))
	mux.Handle("/modern", mcp.NewStreamableHTTPHandler(same,
		&mcp.StreamableHTTPOptions{Stateless: true, PropagateRequestCancellation: true}))
	mux.Handle("/plain",
		mcp.NewStreamableHTTPHandler(same, &mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true}))
	mux.Handle("/sse", mcp.NewSSEHandler(same, nil))
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr, "listening on", l.Addr())
	return http.Serve(l, mux)
}

func main() {
	pageSize := flag.Int("page", 3, "items on a page of a list")
	extra := flag.Int("extra", 0, "tools to add to the list")
	describe := flag.Int("describe", 10, "bytes in the description of each of those")
	address := flag.String("http", "", "where to listen, instead of standard input and output: /mcp has sessions, /modern has none, /plain has no streams either, /sse is the older transport")
	flag.Parse()
	nothing := func(context.Context, *mcp.SubscribeRequest) error { return nil }
	s := &testServer{changed: make(chan struct{})}
	s.server = mcp.NewServer(&mcp.Implementation{Name: "gosdk", Title: "Go SDK", Version: "1.2.3"}, &mcp.ServerOptions{
		PageSize: *pageSize, CompletionHandler: complete, Instructions: "Use it for tests.",
		SubscribeHandler:   nothing,
		UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
	})
	s.addFeatures(*extra, *describe)
	if *address != "" {
		log.Fatal(s.serve(*address))
	}
	if err := s.server.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		log.Fatal(err)
	}
}
