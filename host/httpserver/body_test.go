package httpserver

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/junctor-mcp/junctor/host/authn"
)

// begin sends the head of a POST and so much of its body, on a connection of its
// own.
func (h *fixture) begin(t *testing.T, path, head, body string, now int) net.Conn {
	t.Helper()
	conn := stall(t, h.at)
	_ = conn.SetDeadline(time.Now().Add(3 * patience))
	if _, err := fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n%s\r\n%s", path, h.at, head, body[:now]); err != nil {
		t.Fatal(err)
	}
	return conn
}

// awaits waits until so many bodies are under way, and so much has come of them.
func (h *fixture) awaits(t *testing.T, bodies, least int64) {
	t.Helper()
	for until := time.Now().Add(patience); h.reading.Load() != bodies || h.budget.Used() < least; time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("%d bodies are under way, and %d bytes", h.reading.Load(), h.budget.Used())
		}
	}
}

// TestSlowBodies: who sends slowly takes no place of those who do not, however
// many they are, and is answered when everything has come.
func TestSlowBodies(t *testing.T) {
	t.Parallel()
	h, alice, bob := openShared(t, func(o *Options) { o.MaxInFlight, o.LegacySSE = 2, true }, newPerformer("a", "2026-07-28"))
	auth := "Authorization: Bearer " + aliceToken + "\r\n"
	old := stall(t, h.at)
	fmt.Fprintf(old, "GET /sse HTTP/1.1\r\nHost: %s\r\nAccept: text/event-stream\r\n%s\r\n", h.at, auth)
	messages := "/messages?sessionId=" + h.oldID(t)
	call, header := modernCall(1, "a__echo", `{}`)
	modern := auth
	for i := 0; i < len(header); i += 2 {
		modern += header[i] + ": " + header[i+1] + "\r\n"
	}
	chunk := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(call), call)
	type slow struct {
		net.Conn
		rest, want string
	}
	var all []slow
	for range 30 {
		all = append(all,
			slow{h.begin(t, "/mcp", modern+fmt.Sprintf("Content-Length: %d\r\n", len(call)), call, 20), call[20:], " 200 "},
			slow{h.begin(t, "/mcp", modern+"Transfer-Encoding: chunked\r\n", chunk, 30), chunk[30:], " 200 "},
			slow{h.begin(t, messages, auth+fmt.Sprintf("Content-Length: %d\r\n", len(greeting)), greeting, 0), greeting, " 202 "})
	}
	h.awaits(t, int64(len(all)), 0)
	for range 100 {
		alice.must(call, header...)
		bob.must(call, header...)
	}
	h.awaits(t, int64(len(all)), 0)
	for _, s := range all {
		if _, err := io.WriteString(s, s.rest); err != nil {
			t.Fatal(err)
		}
		status := make([]byte, 13)
		if _, err := io.ReadFull(s, status); err != nil || !strings.Contains(string(status), s.want) {
			t.Fatalf("%q, %v", status, err)
		}
	}
	h.awaits(t, 0, 0)
	alice.must(call, header...)
}

// TestArriving: what has come of bodies is bounded, of one of several clients and
// of all, and who sends little is let in all the same.
func TestArriving(t *testing.T) {
	t.Parallel()
	const size, comes = 100_000, 90_000
	for name, c := range map[string]struct {
		several bool
		status  int
		reason  string
	}{"one of several": {true, http.StatusTooManyRequests, "share"}, "all": {false, http.StatusServiceUnavailable, "overloaded"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, alice, bob := openShared(t, func(o *Options) { o.Several = c.several }, newPerformer("a", "2026-07-28"))
			left := int64(hallMemory)
			if c.several {
				held, err := h.budget.Hold(hallMemory/2 - size)
				if err == nil {
					err = held.Assign(authn.Principal{Tenant: "default", Method: "static_token", Subject: "alice"}.Key())
				}
				if err != nil {
					t.Fatal(err)
				}
				defer held.Release()
				left = hallMemory/2 - size
			} else {
				h.leave(size + 2000)
				left -= size + 2000
			}
			call, header := modernCall(1, "a__echo", `{"x":"`+strings.Repeat("x", size)+`"}`)
			head := fmt.Sprintf("Authorization: Bearer %s\r\nContent-Length: %d\r\n", aliceToken, len(call))
			first := h.begin(t, "/mcp", head, call, comes)
			h.awaits(t, 1, left+size/2)
			for range 3 {
				status, text, got, err := alice.post(call, header...)
				if err != nil || !strings.Contains(text, fmt.Sprint(map[bool]int{true: -31010, false: -31011}[c.several])) {
					t.Errorf("%v: %s", err, text)
				}
				refusedFor(t, status, c.status, got, text, c.reason)
			}
			small, smallHeader := modernCall(2, "a__echo", `{}`)
			alice.must(small, smallHeader...)
			bob.must(small, smallHeader...)
			if c.several {
				bob.must(call, header...)
			}
			_ = first.Close()
			h.awaits(t, 0, 0)
			// A body is counted until its request has ended, a moment after its answer.
			for end := time.Now().Add(10 * time.Second); h.budget.Used() != left; time.Sleep(time.Millisecond) {
				if time.Now().After(end) {
					t.Fatalf("%d bytes are counted, not %d", h.budget.Used(), left)
				}
			}
			alice.must(call, header...)
		})
	}
}

// TestGather: a body is read whole or not at all, whatever pieces it comes in,
// and no more memory is taken than it has come to need.
func TestGather(t *testing.T) {
	t.Parallel()
	errEnough, errLost := errors.New("enough"), errors.New("lost")
	text := func(n int) string { return strings.Repeat("0123456789", n/10+1)[:n] }
	const most = 300_000
	for _, c := range []struct {
		comes, size int
		room        int
		then        error // behind what comes; nil: it ends
		want        error
	}{
		{0, 0, 0, nil, nil}, {0, -1, 0, nil, nil}, {1, 1, 0, nil, nil}, {1, -1, 0, nil, nil},
		{readFirst, readFirst, 0, nil, nil}, {readFirst, -1, 3 * readFirst, nil, nil},
		{readFirst + 1, readFirst + 1, 1, nil, nil}, {100_000, 100_000, 100_000 - readFirst, nil, nil},
		{most, most, most, nil, nil}, {most, -1, most, nil, nil}, {100, 50, 0, nil, nil}, // the rest is not of this body
		{0, 1, 0, nil, io.ErrUnexpectedEOF}, {99, 100, 0, nil, io.ErrUnexpectedEOF}, {20_000, 1 << 30, 3 * readFirst, nil, io.ErrUnexpectedEOF},
		{10, 100, 0, errLost, errLost}, {10, -1, 0, errLost, errLost}, {10, -1, 0, io.ErrUnexpectedEOF, io.ErrUnexpectedEOF},
		{readFirst + 1, readFirst + 1, 0, nil, errEnough}, {100_000, 100_000, 50_000, nil, errEnough}, {100_000, -1, 0, nil, errEnough},
	} {
		for how, pieces := range map[string]func(io.Reader) io.Reader{
			"whole": func(r io.Reader) io.Reader { return r }, "halves": iotest.HalfReader, "bytes": iotest.OneByteReader, "early ends": iotest.DataErrReader,
		} {
			in := io.Reader(strings.NewReader(text(c.comes)))
			if c.then != nil {
				in = io.MultiReader(in, iotest.ErrReader(c.then))
			}
			taken := 0
			got, err := gather(pieces(in), c.size, most, func(n int) error {
				if taken += n; taken > c.room {
					return errEnough
				}
				return nil
			})
			want := text(c.comes)
			if c.size >= 0 && c.size < len(want) {
				want = want[:c.size]
			}
			if err != c.want || c.want == nil && !bytes.Equal(got, []byte(want)) || taken > max(0, 4*c.comes) {
				t.Errorf("%d bytes of %d, %s: %d bytes, %v after taking %d", c.comes, c.size, how, len(got), err, taken)
			}
		}
	}
}
