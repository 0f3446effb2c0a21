package plugin

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/gob"
	"fmt"
	"io"
	"net"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"

	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/wire"
)

func muxFrame(kind byte, flags uint16, stream, length uint32, payload string) string {
	b := binary.BigEndian.AppendUint16([]byte{0, kind}, flags)
	b = binary.BigEndian.AppendUint32(b, stream)
	return string(binary.BigEndian.AppendUint32(b, length)) + payload
}

func dataOn(stream uint32, payload string) string {
	return muxFrame(frameData, 0, stream, uint32(len(payload)), payload)
}

// gobbed is a gob message of size zeros.
func gobbed(size int) string {
	length := binary.BigEndian.AppendUint64([]byte{0xf8}, uint64(size))
	return string(length) + strings.Repeat("\x00", size)
}

// guarded is a guard of a host that has opened the streams up to 11.
func guarded() *guard {
	g := newGuard(nil, func(error) {})
	for stream := uint32(1); stream <= 11; stream += 2 {
		_ = g.out.split([]byte(muxFrame(frameWindow, flagSYN, stream, 0, "")))
	}
	return g
}

// TestGuard: what a plugin sends is looked at before yamux and gob take it.
// #9 P11 P12, L11 L14
func TestGuard(t *testing.T) {
	two := func(f func(n int) string, times int) string {
		var b strings.Builder
		for n := range times {
			b.WriteString(f(n))
		}
		return b.String()
	}
	ping := muxFrame(framePing, flagSYN, 0, 1, "")
	for _, c := range []struct {
		name, sent, refused string // empty: it may pass
	}{
		{"nothing", "", ""},
		{"a ping, as every half minute", ping, ""},
		{"an answer to one of ours", muxFrame(framePing, 2, 0, 1, ""), ""},
		{"more pings than anybody needs", strings.Repeat(ping, 10*extraMost), "too many frames"},
		{"window", muxFrame(frameWindow, 2, 11, 1<<20, ""), ""},
		{"many windows of an open stream", strings.Repeat(muxFrame(frameWindow, 0, 11, 1, ""), 1000), ""},
		{"the end of a stream, and what crosses with it", muxFrame(frameWindow, flagFIN, 11, 0, "") + muxFrame(frameWindow, 0, 11, 9, ""), ""},
		{"frames of no stream", strings.Repeat(muxFrame(frameWindow, 0, 4, 9, ""), 10*extraMost), "too many frames"},
		{"data after the end", muxFrame(frameWindow, flagFIN, 11, 0, "") + strings.Repeat(dataOn(11, "x"), 10*extraMost), "too many frames"},
		{"data after a reset", muxFrame(frameWindow, flagRST, 11, 0, "") + strings.Repeat(dataOn(11, "x"), 10*extraMost), "too many frames"},
		{"many farewells", strings.Repeat(muxFrame(frameGoAway, 0, 0, 0, ""), 10*extraMost), "too many frames"},
		{"a stream of its own", muxFrame(frameWindow, flagSYN, 2, 0, ""), "opened a stream"},
		{"a stream of its own with data", muxFrame(frameData, flagSYN, 2, 0, ""), "opened a stream"},
		{"another version", "\x01" + ping[1:], "not yamux"},
		{"another kind", muxFrame(4, 0, 0, 0, ""), "not yamux"},
		{"another protocol", "HTTP/1.1 400 Bad Request", "not yamux"},
		{"much on a stream of data", two(func(int) string { return dataOn(11, strings.Repeat("x", 1<<20)) }, 8), ""},
		{"small messages", two(func(n int) string { return dataOn(1, gobbed(n)) }, 300), ""},
		{"a large message", dataOn(7, gobbed(maxGob)), ""},
		{"large messages", two(func(int) string { return dataOn(7, gobbed(1<<20)) }, 8), ""},
		{"large questions to the host", two(func(int) string { return dataOn(9, gobbed(maxService)) }, 64), ""},
		{"too large a question to the host", dataOn(9, gobbed(maxService + 1)[:9]), "131073 bytes, 131072 are allowed"},
		{"too large a message", dataOn(1, gobbed(maxGob + 1)[:9]), "control message of"},
		{"one of 2 GiB", dataOn(7, "\xfc\x80\x00\x00\x00"), "2147483648 bytes"},
		{"one of almost no end", dataOn(9, "\xf8"+strings.Repeat("\xff", 8)), "control message of"},
		{"a length of nine bytes", dataOn(1, "\xf7"), "not gob"},
		{"a length of 128 bytes", dataOn(1, "\x80"), "not gob"},
		{"the type's number of nine bytes", dataOn(1, "\x20\xf7"), "not gob"},
		{"all the types there are", two(func(n int) string { return dataOn(1, defines(n)) }, maxTypes), ""},
		{"more types than there are", two(func(n int) string { return dataOn(1, defines(n)) }, maxTypes+1), "types"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for name, size := range map[string]int{"at once": len(c.sent) + 1, "in small pieces": 7, "byte by byte": 1} {
				if size < 8 && len(c.sent) > 4<<20 {
					continue
				}
				err := inspectIn(guarded(), []byte(c.sent), size)
				if (err == nil) != (c.refused == "") || err != nil && !strings.Contains(err.Error(), c.refused) {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
}

func inspectIn(g *guard, b []byte, size int) error {
	for len(b) > 0 {
		n := min(size, len(b))
		if err := g.inspect(b[:n]); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// defines is a message with which gob defines a type, the nth of many.
func defines(n int) string {
	var b bytes.Buffer
	field := reflect.StructField{Name: fmt.Sprint("F", n), Type: reflect.TypeFor[int]()}
	if err := gob.NewEncoder(&b).EncodeValue(reflect.New(reflect.StructOf([]reflect.StructField{field}))); err != nil {
		panic(err)
	}
	return string(b.Bytes()[:1+b.Bytes()[0]])
}

// TestGuardReads: the guard passes on what it allows, says once why the
// conversation is over, and yamux is told nothing that it would print. #8
func TestGuardReads(t *testing.T) {
	window, opens := muxFrame(frameWindow, 2, 11, 0, ""), muxFrame(frameWindow, flagSYN, 2, 0, "")
	for _, c := range []struct {
		name, sent, passes, over string
		err                      error
	}{
		{"its end", window, window, "<nil>", io.EOF},
		{"its end within a header", window + opens[:5], window + opens[:5], "<nil>", net.ErrClosed},
		{"its end within data", dataOn(11, "1234567")[:15], dataOn(11, "1234567")[:15], "<nil>", io.EOF},
		{"a violation", window + opens, window + opens[:11], "it opened a stream, which only the host does", net.ErrClosed},
	} {
		ours, theirs := net.Pipe()
		go func() {
			_, _ = io.Copy(theirs, iotest.OneByteReader(strings.NewReader(c.sent)))
			_ = theirs.Close()
		}()
		var over []string
		g := newGuard(ours, func(err error) { over = append(over, fmt.Sprint(err)) })
		_ = g.out.split([]byte(muxFrame(frameWindow, flagSYN, 11, 0, "")))
		var got []byte
		var err error
		for b := make([]byte, 100); err == nil; {
			var n int
			n, err = g.Read(b)
			got = append(got, b[:n]...)
		}
		if string(got) != c.passes || err != c.err {
			t.Errorf("%s: read %q, %v", c.name, got, err)
		}
		if _, err := g.Read(make([]byte, 9)); err == nil || len(over) != 1 || over[0] != c.over {
			t.Errorf("%s: over for %q, then %v", c.name, over, err)
		}
		if n, err := g.Write([]byte("nobody reads this")); n != 17 || err != nil {
			t.Errorf("%s: written %d, %v", c.name, n, err)
		}
	}
}

// TestGuardJoins: a frame's header leaves with its payload, unless that is
// large, and nothing is held that nothing follows.
func TestGuardJoins(t *testing.T) {
	large := strings.Repeat("x", joinMost+1)
	for _, c := range []struct {
		name   string
		writes []string
		want   []string
	}{
		{"payload", []string{muxFrame(frameData, 0, 11, 2, ""), "ab"}, []string{dataOn(11, "ab")}},
		{"empty", []string{muxFrame(frameData, flagFIN, 11, 0, ""), muxFrame(framePing, flagSYN, 0, 1, "")},
			[]string{muxFrame(frameData, flagFIN, 11, 0, ""), muxFrame(framePing, flagSYN, 0, 1, "")}},
		{"window", []string{muxFrame(frameWindow, 0, 11, 512, "")}, []string{muxFrame(frameWindow, 0, 11, 512, "")}},
		{"large", []string{muxFrame(frameData, 0, 11, joinMost+1, ""), large, muxFrame(framePing, flagSYN, 0, 1, "")},
			[]string{muxFrame(frameData, 0, 11, joinMost+1, ""), large, muxFrame(framePing, flagSYN, 0, 1, "")}},
		{"payload that looks like a header", []string{muxFrame(frameData, 0, 11, frameSize, ""), muxFrame(frameData, 0, 11, 5, ""), muxFrame(frameWindow, 0, 11, 1, "")},
			[]string{dataOn(11, muxFrame(frameData, 0, 11, 5, "")), muxFrame(frameWindow, 0, 11, 1, "")}},
		{"payload in two pieces", []string{muxFrame(frameData, 0, 11, 3, ""), "a", "bc"}, []string{muxFrame(frameData, 0, 11, 3, "") + "a", "bc"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			to := &writes{}
			g := newGuard(to, func(error) {})
			for _, w := range c.writes {
				if n, err := g.Write([]byte(w)); n != len(w) || err != nil {
					t.Fatal(n, err)
				}
			}
			if !slices.Equal(to.all, c.want) {
				t.Errorf("wrote %q, want %q", to.all, c.want)
			}
		})
	}
}

// writes is a connection that remembers what was written at a time.
type writes struct {
	net.Conn
	all []string
}

func (w *writes) Write(p []byte) (int, error) {
	w.all = append(w.all, string(p))
	return len(p), nil
}

// TestGuardAllows: an ordinary plugin that opens and closes many connections
// hardly ever sends a frame that belongs to no stream.
func TestGuardAllows(t *testing.T) {
	ours, theirs := net.Pipe()
	server := wire.NewServer(&sdk.Plugin{
		Name: "p", Version: "1.0.0", Transports: map[string]sdk.Transport{"t": sdk.NewTransport(openSilent)},
	}, hclog.NewNullLogger(), nil)
	rpcServer := &plugin.RPCServer{
		Plugins: map[string]plugin.Plugin{wire.Object: server.Plugin()}, Stdout: strings.NewReader(""), Stderr: strings.NewReader(""),
	}
	go rpcServer.ServeConn(theirs)
	var broke error
	g := newGuard(ours, func(err error) { broke = err })
	client, err := plugin.NewRPCClient(g, map[string]plugin.Plugin{wire.Object: wire.HostSide(nobody{})})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	object, err := client.Dispense(wire.Object)
	if err != nil {
		t.Fatal(err)
	}
	w := object.(*wire.Client)
	if _, err := w.Attach(t.Context(), "test", "debug"); err != nil {
		t.Fatal(err)
	}
	for n := range 300 {
		name := fmt.Sprint(n)
		s, err := w.Open(t.Context(), wire.OpenArgs{Component: "t", Instance: name, Settings: []byte("{}")})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Health(t.Context()); err != nil {
			t.Fatal(err)
		}
		_ = s.Close()
		if err := w.Close(t.Context(), name, 0); err != nil {
			t.Fatal(err)
		}
	}
	if broke != nil || g.extra > extraMost/2 {
		t.Errorf("%g frames of no stream, %v", g.extra, broke)
	}
}

type nobody struct{}

func (nobody) Grant(string) (sdk.Host, bool) { return sdk.Host{}, false }

// silent is a server that says nothing.
type silent struct{ done chan struct{} }

func openSilent(context.Context, *sdk.Server, *struct{}) (sdk.Conn, error) {
	return &silent{make(chan struct{})}, nil
}

func (s *silent) Recv() ([]byte, error)       { <-s.done; return nil, io.EOF }
func (s *silent) Send([]byte) error           { return nil }
func (s *silent) Close(context.Context) error { close(s.done); return nil }

// FuzzGuard: the verdict does not depend on the pieces that the bytes come in.
func FuzzGuard(f *testing.F) {
	f.Add([]byte(dataOn(1, gobbed(3))+dataOn(7, defines(1))), uint8(5))
	f.Add([]byte(muxFrame(frameWindow, flagSYN, 2, 0, "")), uint8(1))
	f.Add([]byte(dataOn(9, "\xfc\x80\x00\x00\x00")), uint8(2))
	f.Add([]byte(muxFrame(framePing, flagSYN, 0, 0, "")+dataOn(11, "x")), uint8(11))
	f.Add([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"), uint8(3))
	f.Fuzz(func(t *testing.T, sent []byte, size uint8) {
		once := inspectIn(guarded(), sent, len(sent))
		pieces := inspectIn(guarded(), sent, 1+int(size))
		if fmt.Sprint(once) != fmt.Sprint(pieces) {
			t.Errorf("at once %v, in pieces of %d %v", once, 1+int(size), pieces)
		}
	})
}
