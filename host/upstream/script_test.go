package upstream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/testdata/bubble"
	conversation "github.com/junctor-mcp/junctor/testdata/conversations"
)

// TestConversations runs the scripts in testdata/conversations/upstream. The verbs:
//
//	option NAME=VALUE…             before all other verbs
//	call NAME METHOD PARAMS        a client's request; options before METHOD:
//	                               repeat, progress, timeout=5s
//	list NAME KIND · connect NAME · subscribe NAME URI
//	unsubscribe URI · cancel NAME · drop · close · notify METHOD PARAMS
//
//	> MESSAGE                      the server receives this; … matches anything
//	< MESSAGE                      the server sends this
//	handshake REVISION CAPS        a complete handshake
//	<< ID MESSAGE                  the server sends this as part of request ID
//	failed ID delivered|undelivered|ends CODE TEXT
//	exit · broken CODE TEXT · dropped REASON PREFIX · mute · unmute · jam TEXT
//	opened N · closed GRACE        connections so far; the last one's end
//	wait DURATION
//
//	heard TEXT                     the peer received this notification or ?request
//	answer RESULT · refuse ERROR   the response of the peer
//	NAME result|error|progress|fault|pending TEXT
//	status STATE … · ignored N · remembers REVISION
//
// Before each step all goroutines are blocked. Messages to the server must be expected
// before the server sends a message or time passes.
func TestConversations(t *testing.T) {
	for name, steps := range conversation.Load(t, "../../testdata/conversations/upstream/*.txt") {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { play(t, steps) })
		})
	}
}

// A stage runs one script.
type stage struct {
	t     *testing.T
	opts  Options
	peer  *recorder
	up    *Upstream
	calls map[string]*ended
	older bool // the upstream prefers the old era

	mu      sync.Mutex
	openErr error                // guarded by mu
	links   []*conversation.Link // guarded by mu
}

// An ended is the result of a call.
type ended struct {
	cancel   context.CancelFunc
	progress chan string
	done     chan struct{}
	text     string // valid after done is closed
}

func play(t *testing.T, steps []conversation.Step) {
	s := &stage{t: t, peer: newRecorder(), calls: map[string]*ended{}}
	s.opts = usual(s.peer, nil)
	s.opts.Open = func(context.Context) (Link, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.openErr != nil {
			return nil, s.openErr
		}
		l := conversation.NewLink()
		s.links = append(s.links, l)
		return l, nil
	}
	for len(steps) > 0 && steps[0].Verb == "option" {
		for _, o := range strings.Fields(steps[0].Rest) {
			s.option(o)
		}
		steps = steps[1:]
	}
	s.up = New(s.opts)
	defer s.up.Close()
	if s.older {
		s.up.PreferLegacy()
	}
	for _, step := range steps {
		synctest.Wait()
		if err := s.step(step); err != nil {
			t.Fatalf("line %d: %s: %v", step.Line, step.Verb, err)
		}
	}
	synctest.Wait()
	if err := s.quiet(); err != nil {
		t.Errorf("at the end of the script: %v", err)
	}
}

func (s *stage) option(text string) {
	name, value, _ := strings.Cut(text, "=")
	duration := func() time.Duration {
		d, err := time.ParseDuration(value)
		if err != nil {
			s.t.Fatal(err)
		}
		return d
	}
	switch name {
	case "revision":
		s.opts.Revision = mcp.Revision(value)
	case "remembered":
		s.opts.Revisions.Remember(mcp.Revision(value))
	case "offered":
		s.peer.caps = value
	case "start":
		s.opts.Start = duration()
	case "idle":
		s.opts.Idle = Idle{Adaptive: value == "adaptive"}
		if !s.opts.Idle.Adaptive {
			s.opts.Idle.After = duration()
		}
	case "extends":
		s.opts.Extends = value == "yes"
	case "prefers":
		s.older = value == "old"
	case "max":
		s.opts.MaxMessage, _ = strconv.Atoi(value)
	default:
		s.t.Fatalf("unknown option %q", name)
	}
}

// opened returns all connections so far.
func (s *stage) opened() []*conversation.Link {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.links)
}

func (s *stage) link() *conversation.Link {
	links := s.opened()
	if len(links) == 0 {
		s.t.Fatal("no connection was opened")
	}
	return links[len(links)-1]
}

// quiet fails if the server received a message that the script does not expect.
func (s *stage) quiet() error {
	for _, l := range s.opened() {
		if err := conversation.Nothing(l.Sent); err != nil {
			return err
		}
	}
	return nil
}

func (s *stage) step(step conversation.Step) error {
	switch step.Verb {
	case ">":
		return conversation.Next(s.link().Sent, step.Rest)
	case "handshake":
		return s.handshake(mcp.Revision(step.Words(2)[0]), step.Words(2)[1])
	case "opened":
		if n, _ := strconv.Atoi(step.Rest); n != len(s.opened()) {
			return fmt.Errorf("%d connections", len(s.opened()))
		}
		return nil
	case "closed":
		select {
		case <-s.link().Closed():
		default:
			return errors.New("the link is open")
		}
		if got := s.link().Grace().String(); got != step.Rest {
			return errors.New(got)
		}
		return nil
	case "heard":
		return conversation.Next(s.peer.heard, step.Rest)
	case "answer", "refuse":
		s.peer.answers <- [2]string{step.Verb, step.Rest}
		return nil
	case "status", "ignored", "remembers":
		return s.state(step)
	}
	if o := s.calls[step.Verb]; o != nil {
		w := step.Words(2)
		return o.is(w[0], w[1])
	}
	if s.hostDoes(step) {
		return nil
	}
	// The remaining verbs advance the conversation, so all messages must be expected.
	if err := s.quiet(); err != nil {
		return err
	}
	if !s.serverDoes(step) {
		return errors.New("no such verb")
	}
	return nil
}

// serverDoes runs a verb of the server, or lets time pass.
func (s *stage) serverDoes(step conversation.Step) bool {
	switch step.Verb {
	case "<":
		s.link().Say(strings.NewReplacer(`<CR>`, "\r", `<LF>`, "\n", `<NUL>`, "\x00").Replace(step.Rest))
	case "exit":
		s.link().End(nil)
	case "broken":
		w := step.Words(2)
		s.link().End(fault.New(fault.Code(w[0]), "%s", w[1]))
	case "dropped":
		w := step.Words(2)
		s.link().Drop(w[0], w[1])
	case "failed":
		w := step.Words(4)
		s.link().Fail(&conversation.Failed{
			ID: w[0], Delivered: w[1] == "delivered", Ends: w[1] == "ends",
			Err: fault.New(fault.Code(w[2]), "%s", w[3]),
		})
	case "<<":
		w := step.Words(2)
		s.link().SayAbout(w[0], w[1])
	case "mute", "unmute":
		s.link().Mute(step.Verb == "mute")
	case "jam":
		s.link().Jam(errors.New(step.Rest))
	case "unreachable":
		s.mu.Lock()
		defer s.mu.Unlock()
		s.openErr = nil
		if step.Rest != "no" {
			s.openErr = fault.New(fault.UpstreamCommandNotFound, "%s", step.Rest)
		}
	case "wait":
		d, err := time.ParseDuration(step.Rest)
		if err != nil {
			s.t.Fatal(err)
		}
		bubble.Sleep(d)
	default:
		return false
	}
	return true
}

// hostDoes runs a verb of a client or of the host.
func (s *stage) hostDoes(step conversation.Step) bool {
	switch step.Verb {
	case "call":
		s.call(step)
	case "connect":
		s.run(step.Rest, func(ctx context.Context, _ *ended) (string, error) { return "done", s.up.Connect(ctx) })
	case "list":
		s.list(step)
	case "subscribe":
		w := step.Words(2)
		s.run(w[0], func(ctx context.Context, _ *ended) (string, error) {
			return "done", s.up.Subscribe(ctx, permittedResource(s.t, w[1]), w[1])
		})
	case "unsubscribe":
		s.up.Unsubscribe(step.Rest)
	case "follow":
		w := step.Words(2)
		s.run(w[0], func(ctx context.Context, _ *ended) (string, error) {
			return "done", s.up.Follow(ctx, permittedTask(s.t), w[1])
		})
	case "unfollow":
		s.up.Unfollow(step.Rest)
	case "notify":
		w := step.Words(2)
		s.up.Notify(w[0], []byte(w[1]))
	case "cancel":
		s.calls[step.Rest].cancel()
	case "drop":
		s.up.Drop()
	case "close":
		go s.up.Close()
	default:
		return false
	}
	return true
}

func (s *stage) call(step conversation.Step) {
	words := strings.Fields(step.Rest)
	name, words := words[0], words[1:]
	var c Call
	o := &ended{progress: make(chan string, 1000)}
	for !strings.Contains(words[0], "/") {
		switch option, value, _ := strings.Cut(words[0], "="); option {
		case "task":
			c.AsTask = true
		case "repeat":
			c.Repeat = true
		case "timeout":
			c.Timeout.Limit, _ = time.ParseDuration(value)
		case "progress":
			c.Progress = func(params []byte) { o.progress <- string(params) }
		default:
			s.t.Fatalf("line %d: unknown option %q", step.Line, option)
		}
		words = words[1:]
	}
	c.Method = words[0]
	if _, params, ok := strings.Cut(step.Rest, c.Method+" "); ok {
		c.Params = []byte(params)
	}
	s.start(name, o, func(ctx context.Context, _ *ended) (string, error) {
		switch r, err := s.up.Call(ctx, permitted(s.t, c)); {
		case err != nil:
			return "", err
		case r.Error != nil:
			return "error " + string(r.Error), nil
		default:
			return "result " + string(r.Result), nil
		}
	})
}

func (s *stage) list(step conversation.Step) {
	w := step.Words(2)
	kind := map[string]ListKind{"tools": Tools, "resources": Resources,
		"templates": Templates, "prompts": Prompts}[w[1]]
	s.run(w[0], func(ctx context.Context, _ *ended) (string, error) {
		l, err := s.up.List(ctx, kind)
		text := fmt.Sprintf("result %s ttl=%s degraded=%q", slices.Collect(func(yield func(string) bool) {
			for _, item := range l.Items {
				if !yield(string(item)) {
					return
				}
			}
		}), l.TTL, l.Degraded)
		return text, err
	})
}

func (s *stage) run(name string, f func(context.Context, *ended) (string, error)) {
	s.start(name, &ended{progress: make(chan string, 1)}, f)
}

func (s *stage) start(name string, o *ended, f func(context.Context, *ended) (string, error)) {
	var ctx context.Context
	ctx, o.cancel = context.WithCancel(s.t.Context())
	o.done = make(chan struct{})
	s.calls[name] = o
	go func() {
		defer close(o.done)
		text, err := f(ctx, o)
		if err != nil {
			f := fault.As(err)
			text = fmt.Sprintf("fault %s %s", f.Code, err)
			if f.RetryAfter > 0 {
				text += " (later)"
			}
		}
		o.text = text
	}()
}

// is compares the ended of a call.
func (o *ended) is(verb, text string) error {
	if verb == "progress" {
		if text == "" {
			return conversation.Nothing(o.progress)
		}
		return conversation.Next(o.progress, text)
	}
	select {
	case <-o.done:
		if want := strings.TrimSpace(verb + " " + text); !conversation.Match(want, o.text) {
			return fmt.Errorf("%s, want %s", o.text, want)
		}
		return nil
	default:
		if verb != "pending" {
			return errors.New("it has not ended")
		}
		return nil
	}
}

func (s *stage) state(step conversation.Step) error {
	st := s.up.Status()
	got := map[string]string{
		"status": fmt.Sprintf("%s %s in flight %d, connected %d times",
			st.State, st.Revision, st.InFlight, st.Connects),
		"ignored":   fmt.Sprint(st.Ignored),
		"remembers": string(s.opts.Revisions.Revision()),
	}[step.Verb]
	if !conversation.Match(step.Rest, got) {
		return errors.New(got)
	}
	return nil
}

// handshake performs a complete handshake with the server.
func (s *stage) handshake(r mcp.Revision, caps string) error {
	if caps == "" {
		caps = `{"tools":{},"resources":{"subscribe":true},"prompts":{}}`
	}
	next := func(pattern, reply string) error {
		synctest.Wait()
		if err := conversation.Next(s.link().Sent, pattern); err != nil {
			return err
		}
		s.link().Say(reply)
		synctest.Wait()
		return nil
	}
	if r.Modern() {
		return next(`{"jsonrpc":"2.0","id":1,"method":"server/discover",…}`,
			fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","supportedVersions":[%q],"capabilities":%s}}`,
				r, caps))
	}
	id := 1
	if s.opts.Revision == "" && s.opts.Revisions.Revision() == "" {
		if err := next(`{"jsonrpc":"2.0","id":1,"method":"server/discover",…}`,
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}`); err != nil {
			return err
		}
		id = 2
	}
	if err := next(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"initialize",…}`, id),
		fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"protocolVersion":%q,"capabilities":%s,"serverInfo":{"name":"s","version":"1"}}}`,
			id, r, caps)); err != nil {
		return err
	}
	return conversation.Next(s.link().Sent, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}
