package httpserver

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/host/gateway"
	"github.com/junctor-mcp/junctor/host/mcp"
	conversation "github.com/junctor-mcp/junctor/testdata/conversations"
)

// TestTranscripts plays testdata/conversations/http. The first lines configure
// the server:
//
//	server NAME REVISION [SHARE]
//	tokens                       authenticate alice and bob by tokens
//	option NAME                  see transcriptOptions
//
// Requests and responses follow, on named connections:
//
//	C> POST /mcp                 the request line, then headers. Host and
//	C> NAME: VALUE               Content-Length are added if they are missing
//	C>
//	C> BODY
//	C< STATUS                    then headers of the response, each with
//	C< NAME: VALUE               its whole value, in which … matches anything
//	C< -NAME                     a header that must be absent
//	C<                           and the body: one line of JSON, or the lines
//	C< BODY                      of events, without empty lines and comments
//	C< end                       the response has ended
//
// Other steps:
//
//	keep NAME C HEADER           sets $NAME to a header of C's last response
//	data NAME C                  sets $NAME to the data of C's last event
//	same C D                     the last responses are equal except for Date and X-Request-Id
//	drop C                       C closes its connection
//	a answers RESULT             server a answers the pending call
//	a set METHOD ITEM            a list changes, with a notification
//	calls a N                    server a has seen N calls
//	shut                         the server shuts down
//
// A request on a used connection opens a new one, unless the previous response
// is complete.
func TestTranscripts(t *testing.T) {
	for name, steps := range conversation.Load(t, "../../testdata/conversations/http/*.txt") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			(&transcript{t: t, kept: map[string]string{}, conns: map[string]*transcriptConn{}}).play(steps)
		})
	}
}

// transcriptOptions are the changes of options that a transcript can name.
var transcriptOptions = map[string]func(*Options){
	"legacy_sse":    func(o *Options) { o.LegacySSE = true },
	"one_session":   func(o *Options) { o.Sessions.Max = 1 },
	"one_in_flight": func(o *Options) { o.MaxInFlight = 1 },
	"one_a_minute":  func(o *Options) { o.PerAddress, o.Loopback = Rate{PerSecond: 1.0 / 60, Burst: 1}, true },
	"small_body":    func(o *Options) { o.MaxBody = 1 << 10 },
	"no_origins":    func(o *Options) { o.Origins = nil },
}

type transcript struct {
	t       *testing.T
	fixture *fixture
	kept    map[string]string
	conns   map[string]*transcriptConn
}

// A transcriptConn is a connection of a transcript.
type transcriptConn struct {
	conn  net.Conn
	in    *bufio.Reader
	resp  *http.Response
	body  *bufio.Reader
	whole string // normalized last response
	last  string // last line of a stream
	over  bool   // the response was read to its end
}

func (s *transcript) play(steps []conversation.Step) {
	var servers []*scriptedServer
	var change []func(*Options)
	for len(steps) > 0 {
		w := steps[0].Words(3)
		if steps[0].Verb == "server" {
			p := newScriptedServer(w[0], w[1])
			p.share = gateway.Share(w[2])
			servers = append(servers, p)
		} else if steps[0].Verb == "tokens" {
			change = append(change, func(o *Options) { o.Auth = newTestTokens() })
		} else if o := transcriptOptions[w[0]]; steps[0].Verb == "option" && o != nil {
			change = append(change, o)
		} else {
			break
		}
		steps = steps[1:]
	}
	s.fixture = openFixture(s.t, func(o *Options) {
		for _, c := range change {
			c(o)
		}
	}, servers...)
	defer func() {
		for _, w := range s.conns {
			_ = w.conn.Close()
		}
	}()
	for len(steps) > 0 {
		n := 1
		for n < len(steps) && steps[n].Verb == steps[0].Verb && strings.ContainsAny(steps[0].Verb, "<>") {
			n++
		}
		if err := s.block(steps[:n]); err != nil {
			s.t.Fatalf("line %d: %.100s %.100s: %v", steps[0].Line, steps[0].Verb, steps[0].Rest, err)
		}
		steps = steps[n:]
	}
	if log := s.fixture.log.String(); strings.Contains(log, aliceToken) || strings.Contains(log, bobToken) {
		s.t.Error("the log contains a token")
	}
}

// block plays the steps of one request, one response, or one other step.
func (s *transcript) block(steps []conversation.Step) error {
	var lines []string
	for _, step := range steps {
		lines = append(lines, s.expand(step.Rest))
	}
	if who, ok := strings.CutSuffix(steps[0].Verb, ">"); ok {
		return s.request(who, lines)
	}
	if who, ok := strings.CutSuffix(steps[0].Verb, "<"); ok {
		return s.response(who, lines)
	}
	return s.direct(steps[0].Verb, lines[0])
}

var repeated = regexp.MustCompile(`\{(.)\*(\d+)\}`)

// expand replaces variables and repetitions in a line.
func (s *transcript) expand(line string) string {
	for name, value := range s.kept {
		line = strings.ReplaceAll(line, "$"+name, value)
	}
	line = repeated.ReplaceAllStringFunc(line, func(m string) string {
		parts := repeated.FindStringSubmatch(m)
		var n int
		_, _ = fmt.Sscan(parts[2], &n)
		return strings.Repeat(parts[1], n)
	})
	return strings.NewReplacer(
		"$M", `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}`,
		"$AT", s.fixture.address, "$PORT", s.fixture.address[strings.LastIndex(s.fixture.address, ":")+1:], "$ALICE",
		aliceToken, "$BOB", bobToken, "$ACCEPT", "application/json, text/event-stream",
	).Replace(line)
}

func (s *transcript) request(who string, lines []string) error {
	head, body := lines, ""
	if i := slices.Index(lines, ""); i >= 0 {
		head, body = lines[:i], strings.Join(lines[i+1:], "\n")
	}
	has := func(name string) bool {
		return slices.ContainsFunc(head, func(line string) bool {
			return len(line) > len(name) && strings.EqualFold(line[:len(name)+1], name+":")
		})
	}
	if !has("Host") {
		head = append(head, "Host: "+s.fixture.address)
	}
	if !has("Content-Length") && body != "" {
		head = append(head, fmt.Sprintf("Content-Length: %d", len(body)))
	}
	head[0] += " HTTP/1.1"
	w := s.conns[who]
	if w == nil || !w.over || w.resp.Close {
		if w != nil {
			_ = w.conn.Close()
		}
		conn, err := net.Dial("tcp", s.fixture.address)
		if err != nil {
			return err
		}
		_ = conn.SetDeadline(time.Now().Add(testTimeout))
		w = &transcriptConn{conn: conn, in: bufio.NewReader(conn)}
		s.conns[who] = w
	}
	w.resp, w.body, w.over = nil, nil, false
	_, err := io.WriteString(w.conn, strings.Join(head, "\r\n")+"\r\n\r\n"+body)
	return err
}

func (s *transcript) response(who string, lines []string) error {
	w := s.conns[who]
	if w == nil {
		return errors.New("nothing was asked")
	}
	if w.resp == nil {
		resp, err := http.ReadResponse(w.in, nil)
		if err != nil {
			return err
		}
		w.resp, w.body = resp, bufio.NewReader(resp.Body)
		if got := fmt.Sprint(resp.StatusCode); got != lines[0] {
			text, _ := io.ReadAll(io.LimitReader(w.body, 500))
			return fmt.Errorf("%s: %s", resp.Status, text)
		}
		head := lines[1:]
		if i := slices.Index(head, ""); i >= 0 {
			head, lines = head[:i], head[i+1:]
		} else {
			lines = nil
		}
		if err := w.headers(head); err != nil {
			return err
		}
		if resp.Header.Get("Content-Type") != "text/event-stream" {
			return w.all(lines)
		}
	}
	for _, want := range lines {
		got, err := w.line()
		switch {
		case want == "end" && err == io.EOF:
			w.over = true
			continue
		case err != nil:
			return fmt.Errorf("%w, want %s", err, want)
		case !conversation.Match(want, got):
			return fmt.Errorf("got the line\n\t%s\nwant\n\t%s", got, want)
		}
		w.last = got
	}
	return nil
}

func (w *transcriptConn) headers(lines []string) error {
	for _, line := range lines {
		if name, ok := strings.CutPrefix(line, "-"); ok {
			if w.resp.Header.Values(name) != nil {
				return fmt.Errorf("unexpected header %s: %q", name, w.resp.Header.Values(name))
			}
			continue
		}
		name, want, _ := strings.Cut(line, ": ")
		if name == "Connection" {
			w.resp.Header.Set(name, map[bool]string{true: "close"}[w.resp.Close]) // net/http keeps it in Close
		}
		if got := strings.Join(w.resp.Header.Values(name), "; "); !conversation.Match(want, got) {
			return fmt.Errorf("header %s: %q, want %q", name, got, want)
		}
	}
	return nil
}

// all compares a complete body. Without lines it must be empty.
func (w *transcriptConn) all(lines []string) error {
	text, err := io.ReadAll(w.body)
	if err != nil {
		return err
	}
	w.over = true
	header := w.resp.Header.Clone()
	header.Del("Date")
	header.Del("X-Request-Id")
	var head bytes.Buffer
	_ = header.Write(&head)
	w.whole = w.resp.Status + head.String() + string(text)
	if want := strings.Join(lines, "\n"); !conversation.Match(want, string(text)) {
		return fmt.Errorf("got the body\n\t%s\nwant\n\t%s", text, want)
	}
	return nil
}

// line returns the next line of a stream that is not empty or a comment.
func (w *transcriptConn) line() (string, error) {
	for {
		line, err := w.body.ReadString('\n')
		if err != nil {
			return line, err
		}
		if line = strings.TrimRight(line, " \n"); line != "" && line[0] != ':' {
			return line, nil
		}
	}
}

// direct plays a step that is neither a request nor a response.
func (s *transcript) direct(verb, rest string) error {
	w := strings.SplitN(rest, " ", 3)
	switch verb {
	case "keep":
		if s.kept[w[0]] = s.conns[w[1]].resp.Header.Get(w[2]); s.kept[w[0]] == "" {
			return errors.New("there is no such header")
		}
	case "data":
		s.kept[w[0]] = strings.TrimPrefix(s.conns[w[1]].last, "data: ")
	case "same":
		if a, b := s.conns[w[0]].whole, s.conns[w[1]].whole; a != b || a == "" {
			return fmt.Errorf("the responses differ:\n%s\n%s", a, b)
		}
	case "drop":
		_ = s.conns[w[0]].conn.Close()
		delete(s.conns, w[0])
	case "calls":
		if n := s.fixture.servers[w[0]].Count(mcp.MethodCallTool); fmt.Sprint(n) != w[1] {
			return fmt.Errorf("the server has seen %d calls", n)
		}
	case "shut":
		go s.fixture.close()
	default:
		return s.act(verb, w)
	}
	return nil
}

// act plays an action of a server.
func (s *transcript) act(name string, w []string) error {
	p := s.fixture.servers[name]
	switch {
	case p == nil:
		return errors.New("no such verb")
	case w[0] == "answers":
		p.nextCall(s.t).answer(strings.Join(w[1:], " "))
	case w[0] == "set":
		p.Set(w[1], w[2])
		p.Link().Say(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/%s/list_changed"}`,
			strings.TrimSuffix(w[1], "/list")))
	default:
		return errors.New("no such verb")
	}
	return nil
}
