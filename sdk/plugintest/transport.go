package plugintest

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/wire"
)

const (
	concurrently = 64       // number of connections open at the same time
	largest      = 16 << 20 // bytes of the largest message, as in the default configuration
)

func (c Transport) checks() []check {
	about := func(what string, run func(t testing.TB, s *subject, c *Transport)) check {
		return check{"transport " + c.Name + " " + what, func(t testing.TB, s *subject) { run(t, s, &c) }}
	}
	return append([]check{
		about("refusals", func(t testing.TB, s *subject, c *Transport) {
			checkRefusals(t, s, component{"transport", c.Name}, c.Refused)
		}),
		about("secret", checkSecret),
	}, c.streamChecks()...)
}

// pipeChecks returns the checks for a host that takes the servers' own streams.
func (c Transport) pipeChecks() []check {
	// Those are about frames of messages.
	return slices.DeleteFunc(c.streamChecks(), func(q check) bool { return strings.HasSuffix(q.name, " grease") })
}

// streamChecks returns the checks that exchange messages with a server.
func (c Transport) streamChecks() []check {
	about := func(what string, run func(t testing.TB, s *subject, c *Transport)) check {
		return check{"transport " + c.Name + " " + what, func(t testing.TB, s *subject) { run(t, s, &c) }}
	}
	return []check{
		about("sizes", checkSizes),
		about("contents", checkContents),
		about("order", checkOrder),
		about("many", checkMany),
		about("grease", checkFrames),
		about("cancel", checkCancel),
		about("close", checkClose),
		about("death", checkDeath),
		about("leaks", checkLeaks),
		about("host gone", checkHostGone),
	}
}

// exchange sends messages and compares the echoes, in order.
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
				return fmt.Errorf("message %d of %d bytes was changed: %s", i, len(want), difference(string(msg), want))
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
	return fmt.Sprintf("%d bytes, different from byte %d: got %.40q, want %.40q", len(got), i, got[i:], want[i:])
}

// message returns a JSON-RPC message of n bytes, or of the minimum size.
func message(n int) string {
	const empty = `{"jsonrpc":"2.0","method":"notifications/grease","params":{"pad":""}}`
	if n < len(empty) {
		return "{" + strings.Repeat(" ", max(0, n-2)) + "}"
	}
	return strings.Replace(empty, `""`, `"`+strings.Repeat("x", n-len(empty))+`"`, 1)
}

// checkSizes checks that messages of all sizes are not changed.
func checkSizes(t testing.TB, s *subject, c *Transport) {
	stream, _ := s.start(t, c.Host).open(t, c, c.Peer(t))
	for _, n := range []int{2, 3, 70, 1 << 10, 4<<10 - 1, 4 << 10, 32 << 10, 64<<10 - 1, 64 << 10, 64<<10 + 1,
		1 << 20, largest} {
		if c.Serves {
			served(t, stream, ping(n, n))
			continue
		}
		exchange(t, stream, message(n))
	}
}

// checkContents checks that the transport does not interpret messages.
func checkContents(t testing.TB, s *subject, c *Transport) {
	if c.Serves {
		t.Skip("the transport is not a relay")
	}
	stream, _ := s.start(t, c.Host).open(t, c, c.Peer(t))
	exchange(t, stream,
		`{"id":9007199254740993,"jsonrpc":"2.0","result":{"z":1,"a":1.0,"e":1e400,"n":-0,"unknown":null}}`,
		`{ "jsonrpc" : "2.0" , "id" : "\u0000\ud800" , "error" : { "code" : -1 , "message" : "\r\n" } }`,
		"{\"jsonrpc\":\"2.0\",\"method\":\"é\u2028😀\x7f\",\"params\":[]}",
		`{"jsonrpc":"2.0","jsonrpc":"1.0","no":"json-rpc"}`,
		`{"not even":json}`)
}

// checkOrder checks that messages keep their order without waiting for
// responses.
func checkOrder(t testing.TB, s *subject, c *Transport) {
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

// checkMany checks that concurrent connections do not affect each other.
func checkMany(t testing.TB, s *subject, c *Transport) {
	l, peer := s.start(t, c.Host), c.Peer(t)
	var streams []*wire.Stream
	for range concurrently {
		stream, _ := l.open(t, c, peer)
		streams = append(streams, stream)
	}
	message := func(i, j int) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":"%d-%d","method":"ping"}`, i, j)
	}
	send := func(i, j int) error {
		if err := streams[i].WriteMessage([]byte(message(i, j))); err != nil {
			return err
		}
		return streams[i].Flush()
	}
	// The first messages go in the opposite order: connections that share a peer, and
	// wait for it in the order in which they were opened, get those of each other.
	firsts := make([]error, len(streams))
	for i := len(streams) - 1; i >= 0; i-- {
		firsts[i] = send(i, 0)
	}
	problems := make(chan error, concurrently)
	for i, stream := range streams {
		go func() {
			for j := range 10 {
				want, err := message(i, j), firsts[i]
				if j > 0 {
					err = send(i, j)
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

// checkFrames checks that frames and events of later versions are ignored.
func checkFrames(t testing.TB, s *subject, c *Transport) {
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
	c.roundTrip(t, wire.NewStream(conn, 0))
}

// checkSecret checks that a secret in the settings is not printed, not even in
// error messages. Every check searches for secrets; this one causes errors.
func checkSecret(t testing.TB, s *subject, c *Transport) {
	peer := c.Peer(t)
	schema := s.schema(t, component{"transport", c.Name})
	if sensitive(&schema) && !strings.Contains(peer.Settings, Canary) {
		t.Error("the transport has sensitive settings: set one of them to Canary in Peer")
	}
	l := s.start(t, c.Host)
	complain(t, l, component{"transport", c.Name}, peer.Settings)
	stream, instance := l.open(t, c, peer)
	c.roundTrip(t, stream)
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

// complain makes a plugin reject settings that contain a secret.
func complain(t testing.TB, l *link, c component, settings string) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := l.note(l.Validate(ctx, c.kind, c.name, []byte(settings))); err != nil {
		t.Errorf("the settings of the case are rejected: %v", err)
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
