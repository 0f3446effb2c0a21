package httpserver

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/host/authn"
)

// flooded is how many events flow while streams are cut.
func flooded() int {
	if testing.Short() {
		return 2000
	}
	return 10_000
}

// updates makes a hall of one server with a session that is subscribed to its
// resource, and what makes the server say that it changed.
func updates(t *testing.T, change func(*Options)) (h *fixture, v *visitor, update func(n int, padding string)) {
	t.Helper()
	a := newPerformer("a", "2025-11-25")
	h = openFixture(t, change, a)
	v = h.visit(t).greet()
	v.must(`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"test://r"}}`)
	link := a.Link()
	return h, v, func(n int, padding string) {
		link.Say(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"test://r","n":%d,"padding":%q}}`, n, padding))
	}
}

// number is the n of a notification.
func number(data string) int {
	var m struct{ Params struct{ N, Data int } }
	_ = json.Unmarshal([]byte(data), &m)
	return m.Params.N + m.Params.Data
}

// cutter reads a stream that is cut again and again, until it has the last
// event, and expects each event once and in order.
func cutter(t *testing.T, v *visitor, first *feed, last int) {
	t.Helper()
	f, after, cuts := first, "", 0
	for want := 1; want <= last; {
		left := 1 + rand.IntN(2*last/110)
		for left > 0 && want <= last {
			e, err := f.next()
			if err != nil {
				t.Errorf("event %d after %q: %v", want, after, err)
				return
			}
			if e.id != "" {
				after = e.id
			}
			if e.kind != "message" {
				continue
			}
			if n := number(e.data); n != want {
				t.Errorf("event %d instead of %d, after %d cuts, at %q: %.200s", n, want, cuts, after, e.data)
				return
			}
			want++
			left--
		}
		if want > last {
			break
		}
		_ = f.body.Close()
		cuts++
		f = v.follow(after)
	}
	if cuts < 50 {
		t.Errorf("only %d cuts", cuts)
	}
	e, err := f.next()
	for err == nil && e.kind == "" {
		e, err = f.next()
	}
	if err == nil && number(e.data) != 0 {
		t.Errorf("behind the last event there is %.200s", e.data)
	}
}

// TestCutCommon cuts the common stream of a session a hundred times while
// thousands of events flow: none is lost, none comes twice.
func TestCutCommon(t *testing.T) {
	t.Parallel()
	_, v, update := updates(t, nil)
	f := v.follow("")
	var work sync.WaitGroup
	work.Go(func() {
		for i := range flooded() {
			update(i+1, "")
		}
		update(0, "") // the end
	})
	cutter(t, v, f, flooded())
	work.Wait()
}

// TestCutRequest is TestCutCommon for the stream of a request.
func TestCutRequest(t *testing.T) {
	t.Parallel()
	a := newPerformer("a", "2025-11-25")
	a.share = "session"
	h := openFixture(t, nil, a)
	v := h.visit(t).greet()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	type opened struct {
		resp *http.Response
		err  error
	}
	response := make(chan opened, 1)
	go func() {
		resp, err := v.request(ctx, http.MethodPost, legacyCall(7, "a__wait", `{}`))
		response <- opened{resp, err}
	}()
	w := a.next(t)
	var work sync.WaitGroup
	defer work.Wait()
	work.Go(func() {
		for i := range flooded() {
			w.link.Say(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":%d}}`, i+1))
		}
		w.answer(`{"content":[]}`)
	})
	o := <-response
	if o.err != nil || o.resp.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatal(o.resp, o.err)
	}
	cutter(t, v, newFeed(o.resp), flooded())
	// It ends with the answer, however often it is asked for.
	for range 2 {
		f := v.follow("1-" + strconv.Itoa(flooded()))
		var last event
		for {
			e, err := f.next()
			if err != nil {
				break
			}
			last = e
		}
		if last.data != `{"jsonrpc":"2.0","id":7,"result":{"content":[]}}` {
			t.Errorf("%+v", last)
		}
	}
}

// TestPurged: who was away for too long is told, and can begin anew.
func TestPurged(t *testing.T) {
	t.Parallel()
	_, v, update := updates(t, func(o *Options) { o.Sessions.Events = 10 })
	f := v.follow("")
	for i := range 30 {
		update(i+1, "")
		e, err := f.next()
		for err == nil && e.kind == "" {
			e, err = f.next()
		}
		if err != nil || number(e.data) != i+1 {
			t.Fatal(e, err)
		}
	}
	_ = f.body.Close()
	for after, want := range map[string]int{"0-0": 410, "0-19": 410, "0-20": 200, "0-30": 200, "0-31": 400} {
		ctx, cancel := context.WithCancel(t.Context())
		f, err := v.listen(ctx, after)
		if err != nil || f.status != want {
			t.Errorf("after %s: %v, %v", after, f, err)
		}
		if want == 410 {
			text, _ := io.ReadAll(f.body)
			if !strings.Contains(string(text), `"reason":"events_purged"`) {
				t.Errorf("%s", text)
			}
		}
		cancel()
		_ = f.body.Close()
	}
	if e, _ := v.follow("0-20").next(); e.id != "0-20" {
		t.Error(e)
	}
	if e, _ := v.follow("").next(); e.id != "0-30" {
		t.Error(e)
	}
}

// stall makes a connection that nobody reads from, with little room on its way.
func stall(t *testing.T, at string) net.Conn {
	t.Helper()
	var d net.Dialer
	conn, err := d.DialContext(t.Context(), "tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.(*net.TCPConn).SetReadBuffer(128 << 10)
	return conn
}

// stalled opens the common stream of a session on such a connection.
func stalled(t *testing.T, h *fixture, v *visitor) net.Conn {
	t.Helper()
	conn := stall(t, h.at)
	if _, err := fmt.Fprintf(conn, "GET /mcp HTTP/1.1\r\nHost: %s\r\nAccept: text/event-stream\r\nMcp-Session-Id: %s\r\n\r\n", h.at, v.session); err != nil {
		t.Fatal(err)
	}
	return conn
}

// TestSlowReader: a client that does not read its stream is given up within the
// time that it has, and nobody else notices.
func TestSlowReader(t *testing.T) {
	t.Parallel()
	const send = 4 * time.Second
	h, v, update := updates(t, func(o *Options) { o.Send = send })
	other := h.visit(t).greet()
	other.must(`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"test://r"}}`)
	stalled(t, h, v)
	quick := other.follow("")
	if _, err := quick.next(); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	padding := strings.Repeat("x", 100<<10)
	slowest := time.Duration(0)
	for i := range 100 { // 10 MB: more than any buffer on the way
		sent := time.Now()
		update(i+1, padding)
		e, err := quick.next()
		if err != nil || number(e.data) != i+1 {
			t.Fatalf("event %d: %.100s, %v", i+1, e.data, err)
		}
		slowest = max(slowest, time.Since(sent))
	}
	if slowest > send { // as whoever waits for the slow one would
		t.Errorf("somebody else waited for %s", slowest)
	}
	for h.following(v.session) {
		if time.Since(begun) > send+patience {
			t.Fatal("the slow client is not given up")
		}
		other.must(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
		time.Sleep(10 * time.Millisecond)
	}
	t.Logf("given up after %s; others waited for %s at most", time.Since(begun), slowest)
}

// following reports whether somebody reads the common stream of a session.
func (h *fixture) following(id string) bool {
	s, err := h.sessions.Find(id, authn.Anonymous().Key())
	if err != nil {
		return false
	}
	c := s.Client.(*client)
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.following[0] != nil
}

// TestLagged: a client that reads, but not fast enough for what is kept, is told
// how much it missed and goes on with what is there.
func TestLagged(t *testing.T) {
	t.Parallel()
	h, v, update := updates(t, func(o *Options) { o.Sessions.Events, o.Send = 20, patience })
	conn := stalled(t, h, v)
	for !h.following(v.session) {
		time.Sleep(time.Millisecond)
	}
	const events = 400
	padding := strings.Repeat("x", 100<<10)
	for i := range events {
		update(i+1, padding)
	}
	// Everything is in the log when a call that came later is answered.
	v.must(legacyCall(9, "a__echo", `{}`))
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	f, got, dropped, before := newFeed(resp), 0, 0, 0
	_ = conn.SetReadDeadline(time.Now().Add(patience))
	for before < events {
		e, err := f.next()
		if err != nil {
			t.Fatalf("after %d events: %v", got, err)
		}
		switch e.kind {
		case "lagged":
			var m struct{ Dropped int }
			if err := json.Unmarshal([]byte(e.data), &m); err != nil || m.Dropped < 1 || e.id != "" {
				t.Fatal(e, err)
			}
			dropped += m.Dropped
			before += m.Dropped
		case "message":
			if n := number(e.data); n != before+1 {
				t.Fatalf("event %d behind %d", n, before)
			}
			got, before = got+1, before+1
		}
	}
	if dropped == 0 || got < 20 {
		t.Errorf("%d events came and %d were dropped", got, dropped)
	}
}

// TestReplacedMidway: a stream that another request takes over stops where it
// is: what was not written comes once, to the other.
func TestReplacedMidway(t *testing.T) {
	t.Parallel()
	h, v, update := updates(t, func(o *Options) { o.Send = patience })
	conn := stalled(t, h, v)
	for !h.following(v.session) {
		time.Sleep(time.Millisecond)
	}
	padding := strings.Repeat("x", 100<<10)
	const events = 70 // fewer than are kept
	for i := range events {
		update(i+1, padding)
	}
	v.must(legacyCall(9, "a__echo", `{}`))
	second := v.follow("0-0")
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.SetReadDeadline(time.Now().Add(patience))
	first, n := newFeed(resp), 0
	for {
		e, err := first.next()
		if err != nil {
			t.Fatal(n, err)
		}
		if e.kind == "end" {
			if e.data != `{"reason":"replaced"}` {
				t.Error(e.data)
			}
			break
		}
		if e.kind == "message" {
			n++
		}
	}
	if n == events {
		t.Error("the first went on to the end")
	}
	for i := range events {
		e, err := second.next()
		for err == nil && e.kind == "" {
			e, err = second.next()
		}
		if err != nil || number(e.data) != i+1 {
			t.Fatal(i, err)
		}
	}
}
