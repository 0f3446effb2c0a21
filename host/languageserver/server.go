package languageserver

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"runtime/debug"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"go.lsp.dev/jsonrpc2"

	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/sdk"
)

// Options configure [Serve].
type Options struct {
	Version string // of Junctor
	Log     hclog.Logger
	// Describe returns the manifest of a plugin. It must not start a program that a text names.
	Describe func(ctx context.Context, p config.Plugin) (sdk.Manifest, error)
	// Directory is a directory whose files are one configuration, as an absolute path; empty: each
	// file is a configuration of its own.
	Directory string
	Own       string // the absolute path of the user's own configuration, a layer below that of a project; empty: none
	Managed   string // see config.Options
}

// ErrNoShutdown is the error of a session that ended without the request to shut down.
var ErrNoShutdown = errors.New("the editor ended the session without a shutdown request")

// Serve answers one editor that sends messages on in and reads them from out. It returns when
// the editor sends exit, when in ends, or when ctx ends. Its error is [ErrNoShutdown] if the
// editor did not send shutdown before, or the error of reading or writing. Serve closes in.
func Serve(ctx context.Context, in io.ReadCloser, out io.Writer, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream := newStream(in, out)
	s := &server{
		options: o, stream: stream, documents: documents{all: map[string]*document{}},
		due: map[string]time.Time{}, wake: make(chan struct{}, 1),
		cancels: map[jsonrpc2.ID]context.CancelFunc{}, answering: make(chan struct{}, maxAnswering),
	}
	s.conn = jsonrpc2.NewConn(stream, jsonrpc2.WithPreempter(s))
	var working sync.WaitGroup
	working.Go(func() { s.work(ctx) })
	defer working.Wait()
	defer cancel()
	s.conn.Go(ctx, s.handle)
	select {
	case <-s.conn.Done():
	case <-ctx.Done():
		_ = stream.Close() // ends the read, if the system allows it
		return context.Cause(ctx)
	}
	if ctx.Err() != nil { // its end closes the connection, too
		return context.Cause(ctx)
	}
	if err := s.conn.Err(); err != nil {
		return err
	}
	if s.present() != shutDown {
		return ErrNoShutdown
	}
	return nil
}

// A server is one session with an editor. Serve makes it and waits for its goroutines: those of the
// connection, which call handle and the answers, and work, which checks texts.
type server struct {
	options   Options
	conn      jsonrpc2.Conn
	stream    *stream
	documents documents
	wake      chan struct{} // a document was added to due
	answering chan struct{} // has an element for each request that is answered beside others

	mu       sync.Mutex
	snippets bool                               // guarded by mu: the editor takes completions with places to fill in
	state    state                              // guarded by mu
	due      map[string]time.Time               // guarded by mu: when to check which document
	cancels  map[jsonrpc2.ID]context.CancelFunc // guarded by mu: of requests in progress
}

type state int

const (
	starting state = iota // before initialize
	running
	shutDown
)

// requestCancelled is the code of an answer to a request that the editor cancelled.
const requestCancelled jsonrpc2.Code = -32800

// maxAnswering bounds the requests that are answered at a time. The server reads no further
// message meanwhile.
const maxAnswering = 8

// notifications are the notifications that the server knows, except those of the life of a
// session.
var notifications = map[string]func(s *server, ctx context.Context, params json.RawMessage) error{
	"textDocument/didOpen":   (*server).didOpen,
	"textDocument/didChange": (*server).didChange,
	"textDocument/didSave":   (*server).didSave,
	"textDocument/didClose":  (*server).didClose,
}

// requests are the requests that the server knows, except those of the life of a session. Each
// reads its parameters and the document before the next message is read, and returns what
// makes the answer, which runs beside later messages.
var requests = map[string]func(s *server, params json.RawMessage) (answer func(ctx context.Context) any, err error){
	"textDocument/completion": (*server).completion,
	"textDocument/hover":      (*server).hover,
	"textDocument/definition": (*server).definition,
}

// Preempt implements [jsonrpc2.Preempter]: it cancels requests without waiting for others.
func (s *server) Preempt(_ context.Context, r *jsonrpc2.Request) (any, error) {
	if r.Method() != "$/cancelRequest" || r.IsCall() {
		return nil, jsonrpc2.ErrNotHandled
	}
	var p cancelParams
	var number int64
	var text string
	if json.Unmarshal(r.Params(), &p) == nil {
		if json.Unmarshal(p.ID, &number) == nil {
			s.cancel(jsonrpc2.NewNumberID(number))
		} else if json.Unmarshal(p.ID, &text) == nil {
			s.cancel(jsonrpc2.NewStringID(text))
		}
	}
	return struct{}{}, nil
}

// cancel cancels a request, if it is in progress.
func (s *server) cancel(id jsonrpc2.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if cancel := s.cancels[id]; cancel != nil {
		cancel()
	}
}

// handle answers one message. The error of a notification is logged.
func (s *server) handle(ctx context.Context, r *jsonrpc2.Request) (result any, err error) {
	method, isCall := r.Method(), r.IsCall()
	defer func() {
		if caught := recover(); caught != nil {
			s.options.Log.Error("a message could not be handled",
				"method", method, "panic", caught, "stack", string(debug.Stack()))
			err = jsonrpc2.NewError(jsonrpc2.InternalError, "this is a mistake in Junctor; please report it")
		}
		if !isCall && err != nil {
			s.options.Log.Debug("a notification was ignored", "method", method, "error", err)
			err = nil
		}
	}()
	switch state := s.present(); {
	case method == "exit" && !isCall:
		s.stream.ended.Store(true)
		return nil, nil
	case method == "initialize" && isCall && state == starting:
		return s.initialize(r.Params())
	case method == "initialize" && isCall:
		return nil, jsonrpc2.NewError(jsonrpc2.InvalidRequest, "the session is initialized already")
	case state == starting:
		return nil, jsonrpc2.NewError(jsonrpc2.ServerNotInitialized, "send initialize first")
	case state == shutDown:
		return nil, jsonrpc2.NewError(jsonrpc2.InvalidRequest, "the session was shut down")
	case method == "shutdown" && isCall:
		s.enter(shutDown)
		return nil, nil
	case isCall:
		return s.answer(ctx, r.ID(), method, json.RawMessage(r.Params()))
	}
	if take, known := notifications[method]; known {
		return nil, take(s, ctx, json.RawMessage(r.Params()))
	}
	return nil, nil
}

func (s *server) present() state {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

func (s *server) enter(next state) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = next
}

// answer answers a request. The context of the library lives no longer than the handler and is
// used again, so the answer has one of its own.
func (s *server) answer(ctx context.Context, id jsonrpc2.ID, method string, params json.RawMessage) (any, error) {
	ask, known := requests[method]
	if !known {
		return nil, jsonrpc2.Errorf(jsonrpc2.MethodNotFound, "there is no method %q", method)
	}
	answer, err := ask(s, params)
	if err != nil {
		return nil, err
	}
	own, cancel := context.WithCancel(jsonrpc2.DetachContext(ctx))
	defer cancel()
	s.mu.Lock()
	s.cancels[id] = cancel
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.cancels, id)
		s.mu.Unlock()
	}()
	s.answering <- struct{}{}
	defer func() { <-s.answering }()
	jsonrpc2.Async(ctx)
	result := answer(own)
	if own.Err() != nil {
		return nil, jsonrpc2.NewError(requestCancelled, "the request was cancelled")
	}
	return result, nil
}

// initialize answers the first request.
func (s *server) initialize(params []byte) (any, error) {
	var p initializeParams
	if err := decode(params, &p); err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.state, s.snippets = running, p.Capabilities.TextDocument.Completion.CompletionItem.SnippetSupport
	s.mu.Unlock()
	return initializeResult{
		Capabilities: capabilities{
			PositionEncoding: "utf-16",
			TextDocumentSync: syncOptions{OpenClose: true, Change: incremental, Save: true},
			// A quote begins a value or a label, and a point a member of local, var or each.
			CompletionProvider: completionOptions{TriggerCharacters: []string{`"`, "."}},
			HoverProvider:      true, DefinitionProvider: true,
		},
		ServerInfo: serverInfo{Name: "junctor", Version: s.options.Version},
	}, nil
}

// decode decodes the parameters of a message.
func decode(params []byte, into any) error {
	if err := json.Unmarshal(params, into); err != nil {
		return jsonrpc2.Errorf(jsonrpc2.InvalidParams, "the parameters cannot be read: %v", err)
	}
	return nil
}

func (s *server) didOpen(_ context.Context, params json.RawMessage) error {
	var p openParams
	if err := decode(params, &p); err != nil {
		return err
	}
	if err := s.documents.open(p.TextDocument); err != nil {
		return err
	}
	s.checkSoon(p.TextDocument.URI, 0)
	return nil
}

func (s *server) didChange(_ context.Context, params json.RawMessage) error {
	var p changeParams
	if err := decode(params, &p); err != nil {
		return err
	}
	if err := s.documents.change(p.TextDocument, p.ContentChanges); err != nil {
		return err
	}
	s.checkSoon(p.TextDocument.URI, debounce)
	return nil
}

func (s *server) didSave(_ context.Context, params json.RawMessage) error {
	var p documentParams
	if err := decode(params, &p); err != nil {
		return err
	}
	s.checkSoon(p.TextDocument.URI, 0)
	return nil
}

// didClose forgets a document and clears its diagnostics.
func (s *server) didClose(ctx context.Context, params json.RawMessage) error {
	var p documentParams
	if err := decode(params, &p); err != nil {
		return err
	}
	s.documents.shut(p.TextDocument.URI)
	s.notify(ctx, "textDocument/publishDiagnostics",
		publishParams{URI: p.TextDocument.URI, Diagnostics: []diagnostic{}})
	return nil
}

// notify sends a notification. If that fails, the connection ends, and Serve returns why.
func (s *server) notify(ctx context.Context, method string, params any) {
	if err := s.conn.Notify(ctx, method, params); err != nil {
		s.options.Log.Debug("a notification was not sent", "method", method, "error", err)
	}
}
