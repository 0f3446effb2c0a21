package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/junctor-mcp/junctor/sdk/ndjson"
)

// memory is a connection that reads from and writes to buffers.
type memory struct {
	net.Conn
	in  io.Reader
	out bytes.Buffer
}

func (m *memory) Read(b []byte) (int, error) {
	if m.in == nil {
		return 0, io.EOF
	}
	return m.in.Read(b)
}

func (m *memory) Write(b []byte) (int, error) { return m.out.Write(b) }

// frame returns an encoded frame.
func frame(kind byte, payload string) string {
	header := binary.LittleEndian.AppendUint32(nil, uint32(len(payload)))
	return string(append(header, kind)) + payload
}

func TestStreamRoundTrip(t *testing.T) {
	conn := &memory{}
	w := NewStream(conn, 0)
	status := StatusOf(errors.New("gone"))
	closed := Event{Name: "closed", Status: &status}
	dropped := Event{Name: "dropped", Reason: "message_too_large", Size: 5, Limit: 4, Prefix: []byte("\x00{")}
	large := strings.Repeat("x", ndjson.DefaultLimit)
	for _, err := range []error{
		w.WriteMessage([]byte("{}")), w.WriteEvent(dropped), w.WriteMessage([]byte(large)),
		w.WriteEvent(closed), w.Flush(),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, wrap := range map[string]func(io.Reader) io.Reader{"at once": func(r io.Reader) io.Reader { return r },
		"halves": iotest.HalfReader} {
		t.Run(name, func(t *testing.T) {
			r := NewStream(&memory{in: wrap(bytes.NewReader(conn.out.Bytes()))}, 0)
			for _, want := range []any{"{}", dropped, large, closed} {
				msg, ev, err := r.Read()
				var got any = string(msg)
				if ev != nil {
					got = *ev
				}
				if err != nil || !reflect.DeepEqual(got, want) {
					t.Fatalf("got %.80v, %v", got, err)
				}
			}
			if _, _, err := r.Read(); err != io.EOF {
				t.Errorf("at the end: %v", err)
			}
		})
	}
}

func TestStreamRefuses(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     error
	}{
		{"nothing", "", io.EOF},
		{"half a header", "\x01\x00", io.ErrUnexpectedEOF},
		{"no payload", frame(0, "{}")[:5], io.ErrUnexpectedEOF},
		{"half a payload", frame(0, "{}")[:6], io.ErrUnexpectedEOF},
		{"a message beyond the limit", frame(0, strings.Repeat("x", 101)), ErrProtocol},
		{"a length that would fill memory", "\xff\xff\xff\xff\x00", ErrProtocol},
		{"an event that would", "\xff\xff\xff\xff\x01", ErrProtocol},
		{"a frame of a later version that would", "\xff\xff\xff\xff\x07", ErrProtocol},
		{"LF", frame(0, "{\n}"), ErrProtocol},
		{"CR", frame(0, "{}\r"), ErrProtocol},
		{"an empty message", frame(0, ""), ErrProtocol},
		{"an event that is not JSON", frame(1, "{"), ErrProtocol},
		{"an event of the wrong shape", frame(1, `{"ev":1}`), ErrProtocol},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := NewStream(&memory{in: strings.NewReader(c.in)}, 100)
			if msg, ev, err := s.Read(); !errors.Is(err, c.want) {
				t.Errorf("got %q, %v, %v", msg, ev, err)
			}
		})
	}
}

// TestStreamLater checks that frames and events of later versions are
// tolerated.
func TestStreamLater(t *testing.T) {
	in := frame(9, "\n\r\x00") + frame(1, `{"ev":"stats","later":{"a":1}}`) +
		frame(1, `{"ev":"closed","status":{"Code":"x","Later":1}}`) + frame(0, "{}")
	s := NewStream(&memory{in: strings.NewReader(in)}, 100)
	if _, ev, err := s.Read(); err != nil || ev == nil || ev.Name != "stats" {
		t.Errorf("got %v, %v", ev, err)
	}
	if _, ev, err := s.Read(); err != nil || ev == nil || ev.Status == nil || ev.Status.Code != "x" {
		t.Errorf("got %v, %v", ev, err)
	}
	if msg, _, err := s.Read(); err != nil || string(msg) != "{}" {
		t.Errorf("got %q, %v", msg, err)
	}
}

func TestStreamWriteRefuses(t *testing.T) {
	conn := &memory{}
	s := NewStream(conn, 100)
	if err := s.WriteMessage(make([]byte, 101)); !errors.Is(err, ErrProtocol) {
		t.Errorf("a long message: %v", err)
	}
	if err := s.WriteEvent(Event{Name: strings.Repeat("x", eventLimit)}); !errors.Is(err, ErrProtocol) {
		t.Errorf("a long event: %v", err)
	}
	if err := s.WriteMessage([]byte("{}")); err != nil || s.Flush() != nil || conn.out.String() != frame(0, "{}") {
		t.Errorf("a rejected frame was partly written: %q", &conn.out)
	}
}

func FuzzStream(f *testing.F) {
	f.Add([]byte(frame(0, "{}") + frame(1, `{"ev":"closed","status":{"Code":"internal"}}`) + frame(3, "later")))
	f.Add([]byte(frame(0, "a\rb")))
	f.Add([]byte("\xff\xff\xff\xff\x00{}"))
	f.Fuzz(func(t *testing.T, in []byte) {
		const limit = 64
		r := NewStream(&memory{in: bytes.NewReader(in)}, limit)
		conn := &memory{}
		w := NewStream(conn, limit)
		var msgs, events int
		for {
			msg, ev, err := r.Read()
			if err != nil {
				break
			}
			if ev != nil {
				events++
				if err := w.WriteEvent(*ev); err != nil {
					t.Fatal(err)
				}
				continue
			}
			msgs++
			if len(msg) == 0 || len(msg) > limit || bytes.ContainsAny(msg, "\r\n") {
				t.Fatalf("message %q", msg)
			}
			if err := w.WriteMessage(msg); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		again := NewStream(&memory{in: &conn.out}, limit)
		for msgs+events > 0 {
			_, ev, err := again.Read()
			if err != nil {
				t.Fatal(err)
			}
			if ev != nil {
				events--
			} else {
				msgs--
			}
		}
		if msgs != 0 || events != 0 {
			t.Fatalf("%d messages and %d events differ", msgs, events)
		}
	})
}

// TestStreamAdmit checks that a message that is not admitted is reported with
// its first and last bytes. It must use no other memory and not end the stream.
func TestStreamAdmit(t *testing.T) {
	large := "{" + strings.Repeat("x", 1<<20) + "}"
	text := frame(kindMessage, large) + frame(kindMessage, "{}") + frame(kindEvent, `{"ev":"related"}`) +
		frame(kindMessage, "[1]") + frame(kindMessage, large[:5000])
	for name, wrap := range map[string]func(io.Reader) io.Reader{"at once": func(r io.Reader) io.Reader { return r },
		"halves": iotest.HalfReader} {
		t.Run(name, func(t *testing.T) {
			s := NewStream(&memory{in: wrap(strings.NewReader(text))}, 0)
			var asked []int
			s.Admit(func(size int) bool {
				asked = append(asked, size)
				return size == 3
			})
			var e *NotAdmitted
			for _, want := range []NotAdmitted{
				{Size: int64(len(large)), Prefix: []byte(large[:maxPrefix]),
					Suffix: []byte(large[len(large)-maxSuffix:])},
				{Size: 2, Prefix: []byte("{}"), Suffix: []byte{}},
			} {
				if msg, ev, err := s.Read(); !errors.As(err, &e) || msg != nil || ev != nil ||
					!reflect.DeepEqual(*e, want) {
					t.Fatalf("%q, %v, %v", msg, ev, err)
				}
			}
			if _, ev, err := s.Read(); err != nil || ev.Name != "related" {
				t.Fatal(ev, err)
			}
			if msg, _, err := s.Read(); err != nil || string(msg) != "[1]" {
				t.Fatalf("%q, %v", msg, err)
			}
			if _, _, err := s.Read(); !errors.As(err, &e) || len(e.Prefix) != maxPrefix ||
				len(e.Suffix) != 5000-maxPrefix {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(asked, []int{len(large), 2, 3, 5000}) {
				t.Error(asked)
			}
			if _, _, err := s.Read(); err != io.EOF {
				t.Error(err)
			}
		})
	}
	for cut := 1; cut < 40; cut++ {
		s := NewStream(&memory{in: strings.NewReader(text[:5+len(large)-cut*1000])}, 0)
		s.Admit(func(int) bool { return false })
		if _, _, err := s.Read(); err != io.ErrUnexpectedEOF {
			t.Errorf("cut off: %v", err)
		}
	}
}
