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
	"github.com/junctor-mcp/junctor/sdk/goplugin"
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

// gobbed returns a gob message with size zeros.
func gobbed(size int) string {
	length := binary.BigEndian.AppendUint64([]byte{0xf8}, uint64(size))
	return string(length) + strings.Repeat("\x00", size)
}

// openedFilter returns a filter of a host that has opened the streams up to 11.
func openedFilter() *connFilter {
	g := newConnFilter(nil, func(error) {})
	for stream := uint32(1); stream <= 11; stream += 2 {
		_ = g.out.split([]byte(muxFrame(frameWindow, flagSYN, stream, 0, "")))
	}
	return g
}

// TestConnFilter checks which input of a plugin is rejected. #9 P11 P12, L11 L14
func TestConnFilter(t *testing.T) {
	two := func(f func(n int) string, times int) string {
		var b strings.Builder
		for n := range times {
			b.WriteString(f(n))
		}
		return b.String()
	}
	ping := muxFrame(framePing, flagSYN, 0, 1, "")
	for _, c := range []struct {
		name, sent, rejected string // empty if accepted
	}{
		{"nothing", "", ""},
		{"a ping, as every half minute", ping, ""},
		{"an answer to one of ours", muxFrame(framePing, 2, 0, 1, ""), ""},
		{"too many pings", strings.Repeat(ping, 10*extraBurst), "too many frames"},
		{"window", muxFrame(frameWindow, 2, 11, 1<<20, ""), ""},
		{"many windows of an open stream", strings.Repeat(muxFrame(frameWindow, 0, 11, 1, ""), 1000), ""},
		{"the end of a stream, and what crosses with it",
			muxFrame(frameWindow, flagFIN, 11, 0, "") + muxFrame(frameWindow, 0, 11, 9, ""), ""},
		{"frames outside of open streams",
			strings.Repeat(muxFrame(frameWindow, 0, 4, 9, ""), 10*extraBurst), "too many frames"},
		{"data after the end",
			muxFrame(frameWindow, flagFIN, 11, 0, "") + strings.Repeat(dataOn(11, "x"), 10*extraBurst),
			"too many frames"},
		{"data after a reset",
			muxFrame(frameWindow, flagRST, 11, 0, "") + strings.Repeat(dataOn(11, "x"), 10*extraBurst),
			"too many frames"},
		{"many go-away frames", strings.Repeat(muxFrame(frameGoAway, 0, 0, 0, ""), 10*extraBurst), "too many frames"},
		{"a stream of its own", muxFrame(frameWindow, flagSYN, 2, 0, ""), "opened a stream"},
		{"a stream of its own with data", muxFrame(frameData, flagSYN, 2, 0, ""), "opened a stream"},
		{"another version", "\x01" + ping[1:], "invalid yamux data"},
		{"another kind", muxFrame(4, 0, 0, 0, ""), "invalid yamux data"},
		{"another protocol", "HTTP/1.1 400 Bad Request", "invalid yamux data"},
		{"much on a stream of data", two(func(int) string { return dataOn(11, strings.Repeat("x", 1<<20)) }, 8), ""},
		{"small messages", two(func(n int) string { return dataOn(1, gobbed(n)) }, 300), ""},
		{"a large message", dataOn(7, gobbed(maxGob)), ""},
		{"large messages", two(func(int) string { return dataOn(7, gobbed(1<<20)) }, 8), ""},
		{"large questions to the host", two(func(int) string { return dataOn(9, gobbed(maxService)) }, 64), ""},
		{"too large a question to the host",
			dataOn(9, gobbed(maxService + 1)[:9]), "131073 bytes, the limit is 131072"},
		{"too large a message", dataOn(1, gobbed(maxGob + 1)[:9]), "control message of"},
		{"one of 2 GiB", dataOn(7, "\xfc\x80\x00\x00\x00"), "2147483648 bytes"},
		{"one of almost no end", dataOn(9, "\xf8"+strings.Repeat("\xff", 8)), "control message of"},
		{"a length of nine bytes", dataOn(1, "\xf7"), "invalid gob data"},
		{"a length of 128 bytes", dataOn(1, "\x80"), "invalid gob data"},
		{"the type's number of nine bytes", dataOn(1, "\x20\xf7"), "invalid gob data"},
		{"all the types there are", two(func(n int) string { return dataOn(1, defines(n)) }, maxTypes), ""},
		{"more types than there are", two(func(n int) string { return dataOn(1, defines(n)) }, maxTypes+1), "types"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for name, size := range map[string]int{"at once": len(c.sent) + 1,
				"in small pieces": 7, "byte by byte": 1} {
				if size < 8 && len(c.sent) > 4<<20 {
					continue
				}
				err := inspectIn(openedFilter(), []byte(c.sent), size)
				if (err == nil) != (c.rejected == "") || err != nil && !strings.Contains(err.Error(), c.rejected) {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
}

func inspectIn(g *connFilter, b []byte, size int) error {
	for len(b) > 0 {
		n := min(size, len(b))
		if err := g.inspect(b[:n]); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// defines returns a gob message that defines the nth type.
func defines(n int) string {
	var b bytes.Buffer
	field := reflect.StructField{Name: fmt.Sprint("F", n), Type: reflect.TypeFor[int]()}
	if err := gob.NewEncoder(&b).EncodeValue(reflect.New(reflect.StructOf([]reflect.StructField{field}))); err != nil {
		panic(err)
	}
	return string(b.Bytes()[:1+b.Bytes()[0]])
}

// TestConnFilterRead checks that Read passes valid input, reports the end once, and
// returns only errors that yamux does not log. #8
func TestConnFilterRead(t *testing.T) {
	window, opens := muxFrame(frameWindow, 2, 11, 0, ""), muxFrame(frameWindow, flagSYN, 2, 0, "")
	for _, c := range []struct {
		name, sent, passes, over string
		err                      error
	}{
		{"its end", window, window, "<nil>", io.EOF},
		{"its end within a header", window + opens[:5], window + opens[:5], "<nil>", net.ErrClosed},
		{"its end within data", dataOn(11, "1234567")[:15], dataOn(11, "1234567")[:15], "<nil>", io.EOF},
		{"a violation",
			window + opens,
			window + opens[:11], "the plugin opened a stream, which only the host may do", net.ErrClosed},
	} {
		ours, theirs := net.Pipe()
		go func() {
			_, _ = io.Copy(theirs, iotest.OneByteReader(strings.NewReader(c.sent)))
			_ = theirs.Close()
		}()
		var over []string
		g := newConnFilter(ours, func(err error) { over = append(over, fmt.Sprint(err)) })
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
			t.Errorf("%s: ended with %q, then %v", c.name, over, err)
		}
		if n, err := g.Write([]byte("reader is missing")); n != 17 || err != nil {
			t.Errorf("%s: written %d, %v", c.name, n, err)
		}
	}
}

// TestConnFilterJoinsWrites checks that a frame header is written together with a small
// payload, and that nothing else is held back.
func TestConnFilterJoinsWrites(t *testing.T) {
	large := strings.Repeat("x", joinMax+1)
	for _, c := range []struct {
		name   string
		writes []string
		want   []string
	}{
		{"payload", []string{muxFrame(frameData, 0, 11, 2, ""), "ab"}, []string{dataOn(11, "ab")}},
		{"empty", []string{muxFrame(frameData, flagFIN, 11, 0, ""), muxFrame(framePing, flagSYN, 0, 1, "")},
			[]string{muxFrame(frameData, flagFIN, 11, 0, ""), muxFrame(framePing, flagSYN, 0, 1, "")}},
		{"window", []string{muxFrame(frameWindow, 0, 11, 512, "")}, []string{muxFrame(frameWindow, 0, 11, 512, "")}},
		{"large", []string{muxFrame(frameData, 0, 11, joinMax+1, ""), large, muxFrame(framePing, flagSYN, 0, 1, "")},
			[]string{muxFrame(frameData, 0, 11, joinMax+1, ""), large, muxFrame(framePing, flagSYN, 0, 1, "")}},
		{"payload that looks like a header", []string{muxFrame(frameData, 0, 11, frameSize, ""),
			muxFrame(frameData, 0, 11, 5, ""), muxFrame(frameWindow, 0, 11, 1, "")},
			[]string{dataOn(11, muxFrame(frameData, 0, 11, 5, "")), muxFrame(frameWindow, 0, 11, 1, "")}},
		{"payload in two pieces", []string{muxFrame(frameData, 0, 11, 3, ""), "a", "bc"},
			[]string{muxFrame(frameData, 0, 11, 3, "") + "a", "bc"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			to := &writes{}
			g := newConnFilter(to, func(error) {})
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

// writes is a connection that records its writes.
type writes struct {
	net.Conn
	all []string
}

func (w *writes) Write(p []byte) (int, error) {
	w.all = append(w.all, string(p))
	return len(p), nil
}

// TestConnFilterAcceptsOrdinaryPlugin checks that a plugin with many short connections
// sends few frames outside of open streams.
func TestConnFilterAcceptsOrdinaryPlugin(t *testing.T) {
	ours, theirs := net.Pipe()
	server := wire.NewServer(&sdk.Plugin{
		Name: "p", Version: "1.0.0", Transports: map[string]sdk.Transport{"t": sdk.NewTransport(openSilent)},
	}, hclog.NewNullLogger(), nil)
	go goplugin.ServeConn(theirs, server.Objects())
	var broke error
	g := newConnFilter(ours, func(err error) { broke = err })
	client, err := plugin.NewRPCClient(g, dispensed(noGrants{})[wire.Major])
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
	if broke != nil || g.extra > extraBurst/2 {
		t.Errorf("%g frames outside of open streams, %v", g.extra, broke)
	}
}

type noGrants struct{}

func (noGrants) Grant(string) (sdk.Host, bool) { return sdk.Host{}, false }

// silent is a server that sends nothing.
type silent struct{ done chan struct{} }

func openSilent(context.Context, *sdk.Server, *struct{}) (sdk.Conn, error) {
	return &silent{make(chan struct{})}, nil
}

func (s *silent) Recv() ([]byte, error)       { <-s.done; return nil, io.EOF }
func (s *silent) Send([]byte) error           { return nil }
func (s *silent) Close(context.Context) error { close(s.done); return nil }

// FuzzConnFilter checks that the result does not depend on the chunks of the input.
func FuzzConnFilter(f *testing.F) {
	f.Add([]byte(dataOn(1, gobbed(3))+dataOn(7, defines(1))), uint8(5))
	f.Add([]byte(muxFrame(frameWindow, flagSYN, 2, 0, "")), uint8(1))
	f.Add([]byte(dataOn(9, "\xfc\x80\x00\x00\x00")), uint8(2))
	f.Add([]byte(muxFrame(framePing, flagSYN, 0, 0, "")+dataOn(11, "x")), uint8(11))
	f.Add([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"), uint8(3))
	f.Fuzz(func(t *testing.T, sent []byte, size uint8) {
		once := inspectIn(openedFilter(), sent, len(sent))
		pieces := inspectIn(openedFilter(), sent, 1+int(size))
		if fmt.Sprint(once) != fmt.Sprint(pieces) {
			t.Errorf("in one chunk: %v; in chunks of %d: %v", once, 1+int(size), pieces)
		}
	})
}
