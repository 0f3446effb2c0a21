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
	"github.com/junctor-mcp/junctor/host/gateway"
	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// sendPartially sends the head of a POST and now bytes of its body on a new
// connection.
func (h *fixture) sendPartially(t *testing.T, path, head, body string, now int) net.Conn {
	t.Helper()
	conn := dialWithSmallBuffer(t, h.address)
	_ = conn.SetDeadline(time.Now().Add(3 * testTimeout))
	if _, err := fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n%s\r\n%s",
		path, h.address, head, body[:now]); err != nil {
		t.Fatal(err)
	}
	return conn
}

// waitForBodies waits until so many bodies are being read and hold so many
// bytes.
func (h *fixture) waitForBodies(t *testing.T, bodies, least int64) {
	t.Helper()
	eventually.NoError(t, func() error {
		if n, used := h.reading.Load(), h.memory.Used(); n != bodies || used < least {
			return fmt.Errorf("%d bodies are being read, with %d bytes", n, used)
		}
		return nil
	})
}

// TestSlowBodiesDoNotBlockOthers checks that clients with slow bodies do not
// count as in flight, and are answered when their bodies are complete.
func TestSlowBodiesDoNotBlockOthers(t *testing.T) {
	t.Parallel()
	h, alice, bob := openShared(t, func(o *Options) {
		o.MaxInFlight, o.LegacySSE, o.Body = 2, true, 5*time.Minute // the bodies stay until the test goes on
	}, newScriptedServer("a", "2026-07-28"))
	auth := "Authorization: Bearer " + aliceToken + "\r\n"
	old := dialWithSmallBuffer(t, h.address)
	fmt.Fprintf(old, "GET /sse HTTP/1.1\r\nHost: %s\r\nAccept: text/event-stream\r\n%s\r\n", h.address, auth)
	messages := "/messages?sessionId=" + h.legacyID(t)
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
			slow{h.sendPartially(t, "/mcp", modern+fmt.Sprintf("Content-Length: %d\r\n", len(call)), call, 20),
				call[20:], " 200 "},
			slow{h.sendPartially(t, "/mcp", modern+"Transfer-Encoding: chunked\r\n", chunk, 30), chunk[30:], " 200 "},
			slow{h.sendPartially(t, messages, auth+fmt.Sprintf("Content-Length: %d\r\n", len(initializeRequest)),
				initializeRequest, 0), initializeRequest, " 202 "})
	}
	h.waitForBodies(t, int64(len(all)), 0)
	for range 100 {
		alice.mustPost(call, header...)
		bob.mustPost(call, header...)
	}
	h.waitForBodies(t, int64(len(all)), 0)
	for _, s := range all {
		if _, err := io.WriteString(s, s.rest); err != nil {
			t.Fatal(err)
		}
		status := make([]byte, 13)
		if _, err := io.ReadFull(s, status); err != nil || !strings.Contains(string(status), s.want) {
			t.Fatalf("%q, %v", status, err)
		}
	}
	h.waitForBodies(t, 0, 0)
	alice.mustPost(call, header...)
}

// TestIncompleteBodiesAreLimitedInBytes checks the limits for one of several
// clients and for all. Small bodies still pass.
func TestIncompleteBodiesAreLimitedInBytes(t *testing.T) {
	t.Parallel()
	const size, comes = 100_000, 90_000
	for name, c := range map[string]struct {
		several bool
		status  int
		reason  string
	}{"one of several": {true, http.StatusTooManyRequests, "share"},
		"all": {false, http.StatusServiceUnavailable, "overloaded"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, alice, bob := openShared(t, func(*Options) {}, newScriptedServer("a", "2026-07-28"))
			if !c.several {
				h.gateway.SetShares(gateway.Shares{})
			}
			left := int64(fixtureMemory)
			if c.several {
				held, err := h.memory.Hold(fixtureMemory/2 - size)
				if err == nil {
					err = held.Assign(authn.Principal{Tenant: "default", Method: "static_token",
						Subject: "alice"}.Owner())
				}
				if err != nil {
					t.Fatal(err)
				}
				defer held.Release()
				left = fixtureMemory/2 - size
			} else {
				h.leaveMemory(size + 2000)
				left -= size + 2000
			}
			call, header := modernCall(1, "a__echo", `{"x":"`+strings.Repeat("x", size)+`"}`)
			head := fmt.Sprintf("Authorization: Bearer %s\r\nContent-Length: %d\r\n", aliceToken, len(call))
			first := h.sendPartially(t, "/mcp", head, call, comes)
			h.waitForBodies(t, 1, left+size/2)
			for range 3 {
				status, text, got, err := alice.post(call, header...)
				if err != nil ||
					!strings.Contains(text, fmt.Sprint(map[bool]int{true: -31010, false: -31011}[c.several])) {
					t.Errorf("%v: %s", err, text)
				}
				expectRetryable(t, status, c.status, got, text, c.reason)
			}
			small, smallHeader := modernCall(2, "a__echo", `{}`)
			alice.mustPost(small, smallHeader...)
			bob.mustPost(small, smallHeader...)
			if c.several {
				bob.mustPost(call, header...)
			}
			_ = first.Close()
			h.waitForBodies(t, 0, 0)
			// A body is counted until its request has ended, a moment after its answer.
			eventually.NoError(t, func() error {
				if used := h.memory.Used(); used != left {
					return fmt.Errorf("%d bytes are counted, not %d", used, left)
				}
				return nil
			})
			alice.mustPost(call, header...)
		})
	}
}

// TestReadAll reads bodies in pieces of all sizes. A body is complete or an
// error, and takes only the memory that it needs.
func TestReadAll(t *testing.T) {
	t.Parallel()
	errLimit, errLost := errors.New("limit"), errors.New("lost")
	text := func(n int) string { return strings.Repeat("0123456789", n/10+1)[:n] }
	const most = 300_000
	for _, c := range []struct {
		comes, size int
		memory      int
		then        error // after the bytes; nil: the body ends
		want        error
	}{
		{0, 0, 0, nil, nil}, {0, -1, 0, nil, nil}, {1, 1, 0, nil, nil}, {1, -1, 0, nil, nil},
		{initialBody, initialBody, 0, nil, nil}, {initialBody, -1, 3 * initialBody, nil, nil},
		{initialBody + 1, initialBody + 1, 1, nil, nil}, {100_000, 100_000, 100_000 - initialBody, nil, nil},
		// The rest belongs to the next request.
		{most, most, most, nil, nil}, {most, -1, most, nil, nil}, {100, 50, 0, nil, nil},
		{0, 1, 0, nil, io.ErrUnexpectedEOF}, {99, 100, 0, nil, io.ErrUnexpectedEOF},
		{20_000, 1 << 30, 3 * initialBody, nil, io.ErrUnexpectedEOF}, {10, 100, 0, errLost, errLost},
		{10, -1, 0, errLost, errLost}, {10, -1, 0, io.ErrUnexpectedEOF, io.ErrUnexpectedEOF},
		{initialBody + 1, initialBody + 1, 0, nil, errLimit}, {100_000, 100_000, 50_000, nil, errLimit},
		{100_000, -1, 0, nil, errLimit},
	} {
		for how, pieces := range map[string]func(io.Reader) io.Reader{
			"whole":  func(r io.Reader) io.Reader { return r },
			"halves": iotest.HalfReader, "bytes": iotest.OneByteReader, "early ends": iotest.DataErrReader,
		} {
			in := io.Reader(strings.NewReader(text(c.comes)))
			if c.then != nil {
				in = io.MultiReader(in, iotest.ErrReader(c.then))
			}
			taken := 0
			got, err := readAll(pieces(in), c.size, most, func(n int) error {
				if taken += n; taken > c.memory {
					return errLimit
				}
				return nil
			})
			want := text(c.comes)
			if c.size >= 0 && c.size < len(want) {
				want = want[:c.size]
			}
			if err != c.want || c.want == nil && !bytes.Equal(got, []byte(want)) || taken > max(0, 4*c.comes) {
				t.Errorf("%d bytes of %d, %s: got %d bytes, %v, with %d bytes of memory",
					c.comes, c.size, how, len(got), err, taken)
			}
		}
	}
}

// TestRequestsInFlightHoldTheirMemory checks that a large request is refused
// while requests in flight hold the memory for messages, and that a small one
// passes.
func TestRequestsInFlightHoldTheirMemory(t *testing.T) {
	t.Parallel()
	a := newScriptedServer("a", "2025-11-25")
	h := openFixture(t, func(*Options) {}, a)
	h.leaveMemory(1_000_000)
	says := h.newClient(t).initialize()
	large := fmt.Sprintf(`{"x":%q}`, strings.Repeat("x", 600_000))
	done := make(chan int, 1)
	go func() {
		status, _, _, _ := says.post(legacyCall(1, "a__wait", large))
		done <- status
	}()
	call := a.nextCall(t)
	status, text, header, _ := says.post(legacyCall(2, "a__wait", large))
	expectRetryable(t, status, http.StatusServiceUnavailable, header, text, "overloaded")
	says.mustPost(legacyCall(3, "a__echo", `{}`))
	call.answer(`{"content":[]}`)
	if status := <-done; status != http.StatusOK {
		t.Errorf("status %d", status)
	}
	if held := h.memory.Used(); held != fixtureMemory-1_000_000 {
		t.Errorf("%d bytes are held", held)
	}
}
