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
	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// eventCount returns the number of events that are sent while streams are cut.
func eventCount() int {
	if testing.Short() {
		return 2000
	}
	return 10_000
}

// openUpdatesFixture returns a fixture with one server, a session that is
// subscribed to its resource, and a function that sends a notification about
// the resource.
func openUpdatesFixture(t *testing.T, change func(*Options)) (h *fixture, v *testClient, update func(n int,
	padding string)) {
	t.Helper()
	a := newScriptedServer("a", "2025-11-25")
	h = openFixture(t, change, a)
	v = h.newClient(t).initialize()
	v.mustPost(`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"test://r"}}`)
	link := a.Link()
	return h, v, func(n int, padding string) {
		link.Say(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"test://r","n":%d,"padding":%q}}`,
			n, padding))
	}
}

// number returns the n of a notification.
func number(data string) int {
	var m struct{ Params struct{ N, Data int } }
	_ = json.Unmarshal([]byte(data), &m)
	return m.Params.N + m.Params.Data
}

// readWithCuts reads a stream and cuts it repeatedly. It expects each event
// once and in order.
func readWithCuts(t *testing.T, v *testClient, first *eventReader, last int) {
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
				t.Errorf("got event %d, want %d, after %d cuts, at %q: %.200s", n, want, cuts, after, e.data)
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
		f = v.mustListen(after)
	}
	if cuts < 50 {
		t.Errorf("only %d cuts were made", cuts)
	}
	e, err := f.next()
	for err == nil && e.kind == "" {
		e, err = f.next()
	}
	if err == nil && number(e.data) != 0 {
		t.Errorf("after the last event came %.200s", e.data)
	}
}

// TestCommonStreamSurvivesCuts cuts the common stream of a session a hundred
// times while thousands of events are sent. Each event must arrive once.
func TestCommonStreamSurvivesCuts(t *testing.T) {
	t.Parallel()
	_, v, update := openUpdatesFixture(t, nil)
	f := v.mustListen("")
	var work sync.WaitGroup
	work.Go(func() {
		for i := range eventCount() {
			update(i+1, "")
		}
		update(0, "") // the end
	})
	readWithCuts(t, v, f, eventCount())
	work.Wait()
}

// TestRequestStreamSurvivesCuts is TestCommonStreamSurvivesCuts for the stream
// of a request.
func TestRequestStreamSurvivesCuts(t *testing.T) {
	t.Parallel()
	a := newScriptedServer("a", "2025-11-25")
	a.share = "session"
	h := openFixture(t, nil, a)
	v := h.newClient(t).initialize()
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
	w := a.nextCall(t)
	var work sync.WaitGroup
	defer work.Wait()
	work.Go(func() {
		for i := range eventCount() {
			w.link.Say(fmt.Sprintf(
				`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":%d}}`, i+1,
			))
		}
		w.answer(`{"content":[]}`)
	})
	o := <-response
	if o.err != nil || o.resp.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatal(o.resp, o.err)
	}
	readWithCuts(t, v, newEventReader(o.resp), eventCount())
	// It ends with the answer, no matter how often it is read.
	for range 2 {
		f := v.mustListen("1-" + strconv.Itoa(eventCount()))
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

// TestResumingAfterPurgeFails checks that a client that was away for too long
// gets an error and can open a new stream.
func TestResumingAfterPurgeFails(t *testing.T) {
	t.Parallel()
	_, v, update := openUpdatesFixture(t, func(o *Options) { o.Sessions.Events = 10 })
	f := v.mustListen("")
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
			t.Errorf("resuming after %s: %v, %v", after, f, err)
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
	if e, _ := v.mustListen("0-20").next(); e.id != "0-20" {
		t.Error(e)
	}
	if e, _ := v.mustListen("").next(); e.id != "0-30" {
		t.Error(e)
	}
}

// dialWithSmallBuffer returns a connection with a small receive buffer that is
// not read.
func dialWithSmallBuffer(t *testing.T, at string) net.Conn {
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

// openUnreadStream opens the common stream of a session on such a connection.
func openUnreadStream(t *testing.T, h *fixture, v *testClient) net.Conn {
	t.Helper()
	conn := dialWithSmallBuffer(t, h.address)
	if _, err := fmt.Fprintf(conn,
		"GET /mcp HTTP/1.1\r\nHost: %s\r\nAccept: text/event-stream\r\nMcp-Session-Id: %s\r\n\r\n",
		h.address, v.session); err != nil {
		t.Fatal(err)
	}
	return conn
}

// TestUnreadStreamIsClosedInTime checks that a client that does not read its
// stream is disconnected in time, and that other clients do not wait.
func TestUnreadStreamIsClosedInTime(t *testing.T) {
	t.Parallel()
	const send = 4 * time.Second
	h, v, update := openUpdatesFixture(t, func(o *Options) { o.Send = send })
	other := h.newClient(t).initialize()
	other.mustPost(`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"test://r"}}`)
	openUnreadStream(t, h, v)
	quick := other.mustListen("")
	if _, err := quick.next(); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	padding := strings.Repeat("x", 100<<10)
	slowest := time.Duration(0)
	for i := range 100 { // 10 MB: more than any buffer in between
		sent := time.Now()
		update(i+1, padding)
		e, err := quick.next()
		if err != nil || number(e.data) != i+1 {
			t.Fatalf("event %d: %.100s, %v", i+1, e.data, err)
		}
		slowest = max(slowest, time.Since(sent))
	}
	if slowest > send { // another client waited for the slow one
		t.Errorf("another client waited for %s", slowest)
	}
	eventually.True(t, "the slow client is disconnected", func() bool {
		other.mustPost(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
		return !h.hasReader(v.session)
	})
	took := time.Since(begun)
	if took > send+testTimeout {
		t.Errorf("the slow client was disconnected after %s", took)
	}
	t.Logf("disconnected after %s; others waited for %s at most", took, slowest)
}

// hasReader reports whether a request reads the common stream of a session.
func (h *fixture) hasReader(id string) bool {
	s, err := h.sessions.Find(id, authn.Anonymous().Key())
	if err != nil {
		return false
	}
	c := s.Client.(*sessionClient)
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.following[0] != nil
}

// TestSlowReaderIsToldAboutDroppedEvents checks that a client that reads too
// slowly gets the number of dropped events and then the remaining ones.
func TestSlowReaderIsToldAboutDroppedEvents(t *testing.T) {
	t.Parallel()
	h, v, update := openUpdatesFixture(t, func(o *Options) { o.Sessions.Events, o.Send = 20, testTimeout })
	conn := openUnreadStream(t, h, v)
	eventually.True(t, "the stream is read", func() bool { return h.hasReader(v.session) })
	const events = 400
	padding := strings.Repeat("x", 100<<10)
	for i := range events {
		update(i+1, padding)
	}
	// All events are in the log when a later call is answered.
	v.mustPost(legacyCall(9, "a__echo", `{}`))
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	f, got, dropped, before := newEventReader(resp), 0, 0, 0
	_ = conn.SetReadDeadline(time.Now().Add(testTimeout))
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
				t.Fatalf("event %d after event %d", n, before)
			}
			got, before = got+1, before+1
		}
	}
	if dropped == 0 || got < 20 {
		t.Errorf("%d events arrived and %d were dropped", got, dropped)
	}
}

// TestTakenOverStreamContinuesOnce checks that a stream that another request
// takes over stops, and that the other request gets the remaining events once.
func TestTakenOverStreamContinuesOnce(t *testing.T) {
	t.Parallel()
	h, v, update := openUpdatesFixture(t, func(o *Options) { o.Send = testTimeout })
	conn := openUnreadStream(t, h, v)
	eventually.True(t, "the stream is read", func() bool { return h.hasReader(v.session) })
	padding := strings.Repeat("x", 100<<10)
	const events = 70 // fewer than the log keeps
	for i := range events {
		update(i+1, padding)
	}
	v.mustPost(legacyCall(9, "a__echo", `{}`))
	second := v.mustListen("0-0")
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.SetReadDeadline(time.Now().Add(testTimeout))
	first, n := newEventReader(resp), 0
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
		t.Error("the first request got the whole stream")
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
