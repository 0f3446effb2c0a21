package goplugin

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A Greeter is an object with one call. It offers a stream, too.
type Greeter struct{ broker *Broker }

// Greet greets.
func (Greeter) Greet(name string, said *string) error {
	if name == "" {
		return errors.New("a name is needed")
	}
	*said = "hello " + name
	return nil
}

// Stream offers a stream on which the plugin says its number.
func (g Greeter) Stream(_ bool, id *uint32) error {
	*id = g.broker.NextId()
	go func(id uint32) {
		if c, err := g.broker.Accept(id); err == nil {
			fmt.Fprintf(c, "stream %d", id)
			_ = c.Close()
		}
	}(*id)
	return nil
}

// connect returns both ends of a connection with a greeter.
func connect(t *testing.T) (c *Client, conn net.Conn, served chan struct{}) {
	t.Helper()
	ours, theirs := net.Pipe()
	served = make(chan struct{})
	go func() {
		defer close(served)
		ServeConn(theirs, map[string]Object{"greeter": func(b *Broker) any { return Greeter{b} }})
	}()
	c, err := NewClient(ours, io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Close()
		<-served
	})
	return c, ours, served
}

// TestConversation calls an object, in order and at once, and reads its streams.
func TestConversation(t *testing.T) {
	c, _, _ := connect(t)
	if err := c.Ping(); err != nil {
		t.Fatal(err)
	}
	calls, err := c.Dispense("greeter")
	if err != nil {
		t.Fatal(err)
	}
	defer calls.Close()
	var said string
	if err := calls.Call("Plugin.Greet", "you", &said); err != nil || said != "hello you" {
		t.Errorf("%q, %v", said, err)
	}
	if err := calls.Call("Plugin.Greet", "", &said); err == nil || err.Error() != "a name is needed" {
		t.Errorf("the error is %v", err)
	}
	if _, err := c.Dispense("other"); err == nil || !strings.Contains(err.Error(), `no object "other"`) {
		t.Errorf("another object: %v", err)
	}
	for range 50 {
		var id uint32
		if err := calls.Call("Plugin.Stream", true, &id); err != nil {
			t.Fatal(err)
		}
		stream, err := c.Broker.Dial(id)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(stream)
		if string(text) != fmt.Sprint("stream ", id) || err != nil {
			t.Errorf("%q, %v", text, err)
		}
		_ = stream.Close()
	}
}

// TestConnectionThatEnds checks that everything returns when the connection ends.
func TestConnectionThatEnds(t *testing.T) {
	c, conn, served := connect(t)
	calls, err := c.Dispense("greeter")
	if err != nil {
		t.Fatal(err)
	}
	defer calls.Close()
	accepted, dialled := make(chan error, 1), make(chan error, 1)
	go func() { _, err := c.Broker.Accept(77); accepted <- err }()
	go func() { _, err := c.Broker.Dial(78); dialled <- err }()
	_ = conn.Close()
	<-served
	for what, err := range map[string]error{
		"Accept": <-accepted, "Dial": <-dialled, "Ping": c.Ping(),
		"a call": calls.Call("Plugin.Greet", "you", new(string)),
	} {
		if err == nil {
			t.Errorf("%s succeeds", what)
		}
	}
}

// TestHostileStreams checks what the broker does about streams that nothing accepts, that use a
// number twice, or that say no number: none of them keeps others from being accepted.
func TestHostileStreams(t *testing.T) {
	t.Parallel()
	c, _, _ := connect(t)
	calls, err := c.Dispense("greeter")
	if err != nil {
		t.Fatal(err)
	}
	defer calls.Close()
	open := func(first []byte) net.Conn {
		t.Helper()
		s, err := c.session.Open()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Write(first); err != nil {
			t.Fatal(err)
		}
		return s
	}
	silent := open([]byte{1, 2})
	unclaimed := open(number(1_000_000))
	twice := open(number(1_000_000))
	if _, err := twice.Read(make([]byte, 1)); err == nil {
		t.Error("a number is used twice")
	}
	for i := range uint32(2 * maxUnclaimed) { // more than may wait
		s, err := c.session.Open()
		if err != nil {
			t.Fatal(err)
		}
		_, _ = s.Write(number(2_000_000 + i))
		defer s.Close()
	}
	for name, s := range map[string]net.Conn{"silent": silent, "unclaimed": unclaimed} {
		_ = s.SetReadDeadline(time.Now().Add(4 * meetTime))
		if _, err := s.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("the %s stream: %v", name, err)
		}
	}
	var id uint32
	if err := calls.Call("Plugin.Stream", true, &id); err != nil {
		t.Fatal(err)
	}
	stream, err := c.Broker.Dial(id)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(stream); err != nil || len(text) == 0 {
		t.Errorf("%q, %v", text, err)
	}
}

// TestAcceptOfNothing checks that Accept gives up.
func TestAcceptOfNothing(t *testing.T) {
	t.Parallel()
	c, _, _ := connect(t)
	if _, err := c.Broker.Accept(5); err == nil || !strings.Contains(err.Error(), "was not dialled within 5s") {
		t.Error(err)
	}
}

// TestHandshake checks what a line has to be.
func TestHandshake(t *testing.T) {
	h := Handshake{Major: 3, Network: "unix", Address: "/tmp/x", Certificate: "MII"}
	if got := h.String(); got != "1|3|unix|/tmp/x|netrpc|MII" {
		t.Error(got)
	}
	for line, want := range map[string]Handshake{
		h.String():                       h,
		"1|2|tcp|127.0.0.1:1|netrpc\n":   {Major: 2, Network: "tcp", Address: "127.0.0.1:1"},
		"1|2|unix|/a|netrpc||true\r\n":   {Major: 2, Network: "unix", Address: "/a"},
		"1|2|unix|/a|netrpc|C|true|more": {Major: 2, Network: "unix", Address: "/a", Certificate: "C"},
	} {
		if got, err := ParseHandshake(line); err != nil || got != want {
			t.Errorf("%q: %+v, %v", line, got, err)
		}
	}
	for _, line := range []string{"", "hello\n", "1|1|unix|/a", "2|1|unix|/a|netrpc|", "1|1|unix|/a|grpc|",
		"1|x|unix|/a|netrpc|", "|1|unix|/a|netrpc|", strings.Repeat("x", 1<<20)} {
		if got, err := ParseHandshake(line); err == nil || len(err.Error()) > 400 {
			t.Errorf("%.40q: %+v, %.400v", line, got, err)
		}
	}
}

// TestNegotiation checks which major is used with hosts that name some.
func TestNegotiation(t *testing.T) {
	for _, c := range []struct {
		host string
		ours []int
		want int
	}{
		{"1", []int{1}, 1}, {"", []int{2, 1}, 1}, {"1,2,3", []int{2, 1}, 2}, {"3,4", []int{2, 1}, 1},
		{"x,,2", []int{1, 2}, 2}, {"1", []int{2, 1}, 1},
	} {
		t.Setenv(MajorsVariable, c.host)
		if got := negotiate(c.ours); got != c.want {
			t.Errorf("the host has %q, we have %v: %d", c.host, c.ours, got)
		}
	}
}

// TestListen checks the socket of a plugin, and what is refused.
func TestListen(t *testing.T) {
	dir := t.TempDir()
	l, err := listenUnix(dir)
	if err != nil {
		t.Fatal(err)
	}
	if path := l.Addr().String(); !strings.HasPrefix(path, dir) {
		t.Error(path)
	}
	_ = l.Close()
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
	if _, err := listenUnix(dir + "/absent"); err == nil {
		t.Error("a directory that does not exist is used")
	}
	t.Setenv(MinPortVariable, "20000")
	t.Setenv(MaxPortVariable, "20100")
	first, err := listenTCP()
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	second, err := listenTCP()
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	t.Setenv(MaxPortVariable, "10000")
	if _, err := listenTCP(); err == nil {
		t.Error("the range is empty")
	}
	if _, _, err := mutualTLS("not a certificate"); err == nil {
		t.Error("a certificate that is none is taken")
	}
}

// TestOutput checks that what a plugin prints reaches its host.
func TestOutput(t *testing.T) {
	ours, theirs := net.Pipe()
	printed, w := io.Pipe()
	s := &server{objects: map[string]Object{}, printed: printed, quit: func() {}}
	served := make(chan struct{})
	go func() { defer close(served); s.serve(theirs) }()
	got, hear := io.Pipe()
	c, err := NewClient(ours, hear, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.WriteString(w, "one\ntwo\n"); _ = w.Close() }()
	text := make([]byte, 8)
	if _, err := io.ReadFull(got, text); err != nil || string(text) != "one\ntwo\n" {
		t.Errorf("%q, %v", text, err)
	}
	_ = c.Close()
	<-served
}
