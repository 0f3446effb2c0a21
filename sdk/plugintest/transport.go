package plugintest

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/wire"
)

const (
	concurrently = 64       // connections that are open at the same time
	largest      = 16 << 20 // bytes of a message, unless a host is configured otherwise
)

func (c Transport) questions() []question {
	about := func(what string, ask func(t testing.TB, s *subject, c *Transport)) question {
		return question{"transport " + c.Name + " " + what, func(t testing.TB, s *subject) { ask(t, s, &c) }}
	}
	return []question{
		about("refusals", func(t testing.TB, s *subject, c *Transport) {
			refusals(t, s, component{"transport", c.Name}, c.Refused)
		}),
		about("secret", askSecret),
		about("sizes", askSizes),
		about("contents", askContents),
		about("order", askOrder),
		about("many", askMany),
		about("grease", askFrames),
		about("cancel", askCancel),
		about("close", askClose),
		about("death", askDeath),
		about("leaks", askLeaks),
		about("host gone", askHostGone),
	}
}

// exchange sends messages and compares what comes back, in order.
func exchange(t testing.TB, s *wire.Stream, msgs ...string) {
	t.Helper()
	var wg sync.WaitGroup
	wg.Go(func() {
		for _, m := range msgs {
			if err := s.WriteMessage([]byte(m)); err != nil {
				t.Errorf("sending: %v", err)
				return
			}
		}
		if err := s.Flush(); err != nil {
			t.Errorf("sending: %v", err)
		}
	})
	problem := within(t, "an answer", func() error {
		for i, want := range msgs {
			msg, ev, err := s.Read()
			switch {
			case err != nil:
				return fmt.Errorf("message %d: %w", i, err)
			case ev != nil && ev.Status != nil:
				return fmt.Errorf("message %d: the connection ended: %s", i, ev.Status.Message)
			case ev != nil:
				return fmt.Errorf("message %d: event %q in its place: %s", i, ev.Name, ev.Reason)
			case string(msg) != want:
				return fmt.Errorf("message %d of %d bytes came back altered: %s", i, len(want), difference(string(msg), want))
			}
		}
		return nil
	})
	if problem != nil {
		t.Fatal(problem)
	}
	within(t, "sending", func() any { wg.Wait(); return nil })
}

func difference(got, want string) string {
	i := 0
	for i < len(got) && i < len(want) && got[i] == want[i] {
		i++
	}
	return fmt.Sprintf("%d bytes, from byte %d on %.40q and not %.40q", len(got), i, got[i:], want[i:])
}

// message is a JSON-RPC message of n bytes, or as short as it can be.
func message(n int) string {
	const empty = `{"jsonrpc":"2.0","method":"notifications/grease","params":{"pad":""}}`
	if n < len(empty) {
		return "{" + strings.Repeat(" ", max(0, n-2)) + "}"
	}
	return strings.Replace(empty, `""`, `"`+strings.Repeat("x", n-len(empty))+`"`, 1)
}

// askSizes: messages of every size come through as they are.
func askSizes(t testing.TB, s *subject, c *Transport) {
	stream, _ := s.start(t, c.Host).open(t, c, c.Peer(t))
	for _, n := range []int{2, 3, 70, 1 << 10, 4<<10 - 1, 4 << 10, 32 << 10, 64<<10 - 1, 64 << 10, 64<<10 + 1, 1 << 20, largest} {
		if c.Serves {
			served(t, stream, ping(n, n))
			continue
		}
		exchange(t, stream, message(n))
	}
}

// askContents: nobody looks inside messages.
func askContents(t testing.TB, s *subject, c *Transport) {
	if c.Serves {
		t.Skip("the transport is no relay")
	}
	stream, _ := s.start(t, c.Host).open(t, c, c.Peer(t))
	exchange(t, stream,
		`{"id":9007199254740993,"jsonrpc":"2.0","result":{"z":1,"a":1.0,"e":1e400,"n":-0,"unknown":null}}`,
		`{ "jsonrpc" : "2.0" , "id" : "\u0000\ud800" , "error" : { "code" : -1 , "message" : "\r\n" } }`,
		"{\"jsonrpc\":\"2.0\",\"method\":\"é\u2028😀\x7f\",\"params\":[]}",
		`{"jsonrpc":"2.0","jsonrpc":"1.0","no":"json-rpc"}`,
		`{"not even":json}`)
}

// askOrder: messages keep their order, also when nobody waits for answers.
func askOrder(t testing.TB, s *subject, c *Transport) {
	stream, _ := s.start(t, c.Host).open(t, c, c.Peer(t))
	format := `{"jsonrpc":"2.0","id":%d,"method":"ping","params":{"pad":%q}}`
	if c.Apart {
		format = `{"jsonrpc":"2.0","method":"notifications/%d","params":{"pad":%q}}`
	}
	var msgs []string
	for i := range 1000 {
		msgs = append(msgs, fmt.Sprintf(format, i, strings.Repeat("x", i%300)))
	}
	if c.Serves {
		served(t, stream, msgs...)
		return
	}
	exchange(t, stream, msgs...)
}

// askMany: many connections at the same time do not disturb each other.
func askMany(t testing.TB, s *subject, c *Transport) {
	l, peer := s.start(t, c.Host), c.Peer(t)
	var streams []*wire.Stream
	for range concurrently {
		stream, _ := l.open(t, c, peer)
		streams = append(streams, stream)
	}
	problems := make(chan error, concurrently)
	for i, stream := range streams {
		go func() {
			for j := range 10 {
				want := fmt.Sprintf(`{"jsonrpc":"2.0","id":"%d-%d","method":"ping"}`, i, j)
				err := stream.WriteMessage([]byte(want))
				if err == nil {
					err = stream.Flush()
				}
				msg, _, readErr := stream.Read()
				if err != nil || readErr != nil || !c.answers(string(msg), want) {
					problems <- fmt.Errorf("connection %d: sent %s, got %q, %v, %v", i, want, msg, err, readErr)
					return
				}
			}
			problems <- nil
		}()
	}
	for range streams {
		if err := within(t, "an answer", func() error { return <-problems }); err != nil {
			t.Error(err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if _, err := l.Status(ctx, "i1"); l.note(err) != nil {
		t.Errorf("status: %v", err)
	}
	if err := l.Health(ctx); err != nil {
		t.Errorf("health: %v", err)
	}
}

// askFrames: frames of a later version are passed over.
func askFrames(t testing.TB, s *subject, c *Transport) {
	l := s.start(t, c.Host)
	a := l.args(t, c, c.Peer(t))
	var r wire.OpenReply
	l.call(t, "Open", a, &r)
	if err := l.note(r.Status.Err()); err != nil {
		t.Fatalf("opening: %v", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, err := l.Data(ctx, &r)
	if err != nil {
		t.Fatal(err)
	}
	for _, frame := range []string{"\x05\x00\x00\x00\x07later", "\x0e\x00\x00\x00\x01{\"ev\":\"later\"}"} {
		if _, err := io.WriteString(conn, frame); err != nil {
			t.Fatal(err)
		}
	}
	c.talk(t, wire.NewStream(conn, 0))
}

// askSecret: a secret in the settings stays there. Every question looks for
// it; this one gives the plugin reasons to complain.
func askSecret(t testing.TB, s *subject, c *Transport) {
	peer := c.Peer(t)
	schema := s.schema(t, component{"transport", c.Name})
	if sensitive(&schema) && !strings.Contains(peer.Settings, Canary) {
		t.Error("the transport has sensitive settings; let Peer put Canary into one")
	}
	l := s.start(t, c.Host)
	complain(t, l, component{"transport", c.Name}, peer.Settings)
	stream, instance := l.open(t, c, peer)
	c.talk(t, stream)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	st, err := l.Status(ctx, instance)
	_ = l.note(err)
	_ = l.note(&sdk.Error{Message: st.State, Output: st.Stderr})
	if peer.Die != nil {
		peer.Die()
		_ = l.note(ending(t, stream))
	}
}

// complain makes a plugin refuse settings that hold a secret.
func complain(t testing.TB, l *link, c component, settings string) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := l.note(l.Validate(ctx, c.kind, c.name, []byte(settings))); err != nil {
		t.Errorf("the settings of the case are refused: %v", err)
	}
	spoilt := strings.Replace(settings, "{", `{"no_such_setting_5f0c":true,`, 1)
	_ = l.note(l.Validate(ctx, c.kind, c.name, []byte(strings.Replace(spoilt, ",}", "}", 1))))
}

func sensitive(s *sdk.Schema) bool {
	for _, a := range s.Attributes {
		if a.Sensitive {
			return true
		}
	}
	for _, b := range s.Blocks {
		if sensitive(&b.Schema) {
			return true
		}
	}
	return false
}
