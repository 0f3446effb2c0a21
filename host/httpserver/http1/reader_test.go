package http1

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

const post = "POST / HTTP/1.1\r\nHost: x\r\n"

// good are requests that pass unchanged.
var good = map[string]string{
	"no body":          "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
	"old":              "GET / HTTP/1.0\r\nHost: x\r\n\r\n",
	"a body":           post + "Content-Length: 5\r\n\r\nhello",
	"an empty body":    post + "Content-Length: 0\r\n\r\n",
	"chunks":           post + "Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;a=b\r\nlo\r\n0\r\n\r\n",
	"chunks, CHUNKED":  post + "transfer-encoding:CHUNKED\r\n\r\n0\r\n\r\n",
	"trailers":         post + "Transfer-Encoding: chunked\r\nTrailer: X-A\r\n\r\n1\r\na\r\n0\r\nX-A: b\r\n\r\n",
	"line ends inside": post + "Content-Length: 8\r\n\r\n\n\n\r\n\r\n\n\n",
	"chunk of ends":    post + "Transfer-Encoding: chunked\r\n\r\n4\r\n\n\n\r\n\r\n0\r\n\r\n",
	"odd values":       post + "X-A:\r\nX-B: a:b \t\r\nX-C: \xff\r\n\r\n",
}

// bad are requests that get 400 for their head or their body.
var bad = map[string]string{
	"both lengths":              post + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	"both, the other order":     post + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
	"both, Content-Length 0":    post + "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	"two lengths":               post + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
	"two equal lengths":         post + "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
	"a list of lengths":         post + "Content-Length: 5, 5\r\n\r\nhello",
	"a signed length":           post + "Content-Length: +5\r\n\r\nhello",
	"no length":                 post + "Content-Length:\r\n\r\n",
	"a length in hexadecimal":   post + "Content-Length: 0x5\r\n\r\nhello",
	"a length beyond int64":     post + "Content-Length: 9999999999999999999\r\n\r\nhello",
	"two encodings":             post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	"an encoding of 1.0":        "POST / HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	"LF everywhere":             "GET / HTTP/1.1\nHost: x\n\n",
	"LF after the first line":   "GET / HTTP/1.1\nHost: x\r\n\r\n",
	"LF after a header":         "GET / HTTP/1.1\r\nHost: x\nX-A: b\r\n\r\n",
	"LF at the end":             "GET / HTTP/1.1\r\nHost: x\r\n\n",
	"CR alone":                  "GET / HTTP/1.1\r\nHost: x\rX-A: b\r\n\r\n",
	"CR CR LF":                  "GET / HTTP/1.1\r\nHost: x\r\r\n\r\n",
	"a folded header":           post + "X-A: b\r\n c\r\nContent-Length: 0\r\n\r\n",
	"a folded header, tab":      post + "X-A: b\r\n\tc\r\n\r\n",
	"a first header with space": "GET / HTTP/1.1\r\n Host: x\r\n\r\n",
	"space before the colon":    post + "Content-Length : 5\r\n\r\nhello",
	"tab before the colon":      post + "Transfer-Encoding\t: chunked\r\n\r\n0\r\n\r\n",
	"no name":                   post + ": a\r\n\r\n",
	"no colon":                  post + "X-A\r\n\r\n",
	"NUL in a name":             post + "X\x00A: b\r\n\r\n",
	"an empty first line":       "\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n",
	"version 2":                 "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
	"version 1.2":               "GET / HTTP/1.2\r\nHost: x\r\n\r\n",
	"no version":                "GET /\r\n\r\n",
	"a chunk with LF":           post + "Transfer-Encoding: chunked\r\n\r\n3\nhel\r\n0\r\n\r\n",
	"a chunk with LF behind":    post + "Transfer-Encoding: chunked\r\n\r\n3\r\nhel\n0\r\n\r\n",
	"a chunk that goes on":      post + "Transfer-Encoding: chunked\r\n\r\n3\r\nhello\r\n0\r\n\r\n",
	"a chunk of -1":             post + "Transfer-Encoding: chunked\r\n\r\n-1\r\n\r\n",
	"a chunk of nothing":        post + "Transfer-Encoding: chunked\r\n\r\n\r\n\r\n",
	"a chunk of 0x1":            post + "Transfer-Encoding: chunked\r\n\r\n0x1\r\na\r\n0\r\n\r\n",
	"a chunk beyond int64":      post + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\na\r\n0\r\n\r\n",
	"a space behind the size":   post + "Transfer-Encoding: chunked\r\n\r\n1 \r\na\r\n0\r\n\r\n",
	"a long extension": post + "Transfer-Encoding: chunked\r\n\r\n1;" + strings.Repeat("a",
		1000) + "\r\na\r\n0\r\n\r\n",
	"a trailer with LF": post + "Transfer-Encoding: chunked\r\n\r\n0\r\nX-A: b\n\r\n",
	"a folded trailer":  post + "Transfer-Encoding: chunked\r\n\r\n0\r\nX-A: b\r\n c\r\n\r\n",
	"too many trailers": post + "Transfer-Encoding: chunked\r\n\r\n0\r\n" +
		strings.Repeat("X-A: "+strings.Repeat("a", 1000)+"\r\n", 9) + "\r\n",
}

// pieces are ways in which bytes arrive.
var pieces = map[string]func(io.Reader) io.Reader{
	"at once":    func(r io.Reader) io.Reader { return r },
	"one by one": iotest.OneByteReader, "halves": iotest.HalfReader,
	"the last with its error": iotest.DataErrReader,
}

func TestGoodRequestsPass(t *testing.T) {
	all := ""
	for name, text := range good {
		all += text
		for how, wrap := range pieces {
			if got, err := io.ReadAll(NewReader(wrap(strings.NewReader(text)))); err != nil || string(got) != text {
				t.Errorf("%s, %s: %q, %v", name, how, got, err)
			}
		}
	}
	for how, wrap := range pieces {
		if got, err := io.ReadAll(iotest.OneByteReader(NewReader(wrap(strings.NewReader(all))))); err != nil ||
			string(got) != all {
			t.Errorf("all, %s: %q, %v", how, got, err)
		}
	}
}

// TestBadRequestsDoNotPass checks that no byte of a bad head and no later byte
// passes.
func TestBadRequestsDoNotPass(t *testing.T) {
	for name, text := range bad {
		for how, wrap := range pieces {
			for _, before := range []string{"", good["a body"], good["chunks"]} {
				got, err := io.ReadAll(NewReader(wrap(strings.NewReader(before + text + good["a body"]))))
				rest, found := strings.CutPrefix(string(got), before)
				if !found || strings.HasSuffix(rest, good["a body"]) {
					t.Errorf("%s, %s: %q, %v", name, how, got, err)
				}
				if rest != malformedHead && err != ErrMalformed {
					t.Errorf("%s, %s: %q, %v", name, how, rest, err)
				}
			}
		}
	}
}

func TestErrorsPass(t *testing.T) {
	broken := errors.New("broken")
	for text, want := range map[string]string{"": "", "POST / HTTP": "", good["a body"]: good["a body"],
		post + "Content-Length: 5\r\n\r\nhel": post + "Content-Length: 5\r\n\r\nhel"} {
		got, err := io.ReadAll(NewReader(io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken))))
		if string(got) != want || err != broken {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	// After a deadline reading continues.
	r := NewReader(io.MultiReader(strings.NewReader("GET / HT"), iotest.ErrReader(broken)))
	if _, err := r.Read(make([]byte, 100)); err != broken {
		t.Fatal(err)
	}
	r.in = strings.NewReader("TP/1.1\r\n\r\n")
	if got, err := io.ReadAll(r); string(got) != "GET / HTTP/1.1\r\n\r\n" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

// TestLongHeadTakesBoundedMemory sends a head that net/http refuses as too
// large.
func TestLongHeadTakesBoundedMemory(t *testing.T) {
	r := NewReader(strings.NewReader("GET / HTTP/1.1\r\n" + strings.Repeat("X-A: b\r\n", 100_000)))
	if n, err := io.Copy(io.Discard, r); n != 16+800_000 || err != nil || cap(r.part)+cap(r.ready) > 4*maxHead {
		t.Errorf("%d bytes, %v, %d are kept", n, err, cap(r.part)+cap(r.ready))
	}
}

type listener struct{ net.Listener }

type conn struct {
	net.Conn
	in *Reader
}

func (c *conn) Read(p []byte) (int, error) { return c.in.Read(p) }

func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &conn{c, NewReader(c)}, nil
}

// TestWithServer checks the statuses of net/http behind a Reader.
func TestWithServer(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.ReadAll(r.Body); err != nil {
			w.WriteHeader(http.StatusBadRequest)
		}
	}))
	server.Listener = listener{server.Listener}
	server.Start()
	defer server.Close()
	ask := func(text string) (statuses []string) {
		c, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		_ = c.SetDeadline(time.Now().Add(20 * time.Second))
		if _, err := io.WriteString(c, text); err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(c)
		if err != nil && len(answer) == 0 { // closing a connection with unread bytes resets it
			t.Fatalf("%v after %q", err, answer)
		}
		for line := range strings.Lines(string(answer)) {
			if status, found := strings.CutPrefix(line, "HTTP/1.1 "); found {
				statuses = append(statuses, status[:3])
			}
		}
		return statuses
	}
	last := "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
	for name, text := range good {
		want := fmt.Sprint([]string{"200", "200"})
		if name == "old" {
			want = "[]" // HTTP/1.0, and the connection is closed
		}
		if got := fmt.Sprint(ask(text + last)); got != want && name != "odd values" && name != "old" {
			t.Errorf("%s: %s", name, got)
		}
	}
	for name, text := range bad {
		if got := fmt.Sprint(ask(good["a body"] + text + last)); got != "[200 400]" {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := fmt.Sprint(ask(post + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n" + last)); got != "[501]" {
		t.Errorf("another encoding: %s", got)
	}
	if got := fmt.Sprint(ask("GET / HTTP/1.1\r\n" + strings.Repeat("X-A: "+strings.Repeat("a", 1000)+"\r\n",
		1100))); got != "[431]" {
		t.Errorf("a long head: %s", got)
	}
}

// FuzzReader checks that bytes pass unchanged, or stop where they are refused.
func FuzzReader(f *testing.F) {
	for _, text := range good {
		f.Add(text)
	}
	for _, text := range bad {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		want, wantErr := io.ReadAll(NewReader(strings.NewReader(text)))
		passed := strings.TrimSuffix(string(want), malformedHead)
		if !strings.HasPrefix(text, passed) && !strings.HasPrefix(text, string(want)) {
			t.Fatalf("%q", want)
		}
		got, err := io.ReadAll(NewReader(iotest.OneByteReader(strings.NewReader(text))))
		if string(got) != string(want) || err != wantErr {
			t.Fatalf("in pieces %q, %v; at once %q, %v", got, err, want, wantErr)
		}
	})
}
