package wire

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/ndjson"
	"github.com/junctor-mcp/junctor/sdk/process"
)

const (
	// lastWords is the time to read on when another process holds the output of a
	// server that has ended.
	lastWords = 50 * time.Millisecond
	// reasonTime is the time for the plugin to say why a server has closed its output. The
	// server may take two seconds to exit after that, and the plugin then closes the
	// connection for up to closeGrace before it says so.
	reasonTime = 2*time.Second + closeGrace + 2*time.Second

	junkShown = 5   // lines from the server kept that are not messages
	junkLine  = 200 // bytes kept of each of them
)

// pipes are the streams of a server that the plugin has passed to the host. They carry
// one message a line. One goroutine reads, one writes, and one reads the events of the
// plugin.
type pipes struct {
	events   *Stream // carries events only
	from, to *os.File
	lines    *ndjson.Reader
	out      []byte // written and not flushed
	now      *nowWriter
	heard    bool // a message was read; used by the reading goroutine
	told     bool // last was returned; used by the reading goroutine

	work  sync.WaitGroup // waits for awaitEnd
	ended chan struct{}  // closed when the plugin's events have ended
	last  *Event         // the event "closed"; valid after ended is closed
	err   error          // the error in place of it; valid after ended is closed

	mu   sync.Mutex
	junk Junk // guarded by mu
}

// A Junk describes the lines from a server that were not messages. A message that was dropped
// for its size is none of them.
type Junk struct {
	Lines []string // the first ones, cut
	Count uint64   // of all
	Last  time.Time
}

func newPipes(events *Stream, from, to *os.File, limit int) *pipes {
	p := &pipes{events: events, from: from, to: to, now: newNowWriter(to), ended: make(chan struct{})}
	p.lines = ndjson.NewReader(process.LastWords(from, lastWords), limit)
	p.work.Go(p.awaitEnd)
	return p
}

// awaitEnd reads events until the plugin says why the connection has ended, or ends the
// stream. What is left in the pipe can still be read afterwards.
func (p *pipes) awaitEnd() {
	for {
		_, ev, err := p.events.readFrame()
		if err == nil && (ev == nil || ev.Name != eventClosed) {
			continue // from a later version
		}
		p.last, p.err = ev, err
		close(p.ended)
		_ = p.from.SetReadDeadline(time.Now())
		return
	}
}

// read returns the next message, or an event, as Stream.Read does.
func (p *pipes) read() (msg []byte, ev *Event, err error) {
	for {
		line, err := p.lines.Next()
		if err != nil {
			return p.readEnd(err)
		}
		msg, err := ndjson.Message(line)
		if err != nil {
			p.addJunk(line)
			continue
		}
		msg = p.lines.Owned(msg)
		if p.events.admit != nil && !p.events.admit(cap(msg)) { // the message keeps all of its buffer
			return nil, nil, notAdmitted(msg)
		}
		if !p.heard {
			p.heard = true
			_ = p.events.report(eventFirstMessage) // awaitEnd notices the end of the stream
		}
		return msg, nil, nil
	}
}

// readEnd returns what read returns for an error of the line reader.
func (p *pipes) readEnd(err error) ([]byte, *Event, error) {
	if long, ok := errors.AsType[*ndjson.TooLongError](err); ok {
		return nil, &Event{Name: eventDropped, Reason: "message_too_large", Size: long.Size, Limit: int64(long.Limit),
			Prefix: long.Prefix}, nil
	}
	if refused, ok := errors.AsType[*ndjson.NotAdmittedError](err); ok {
		return nil, nil, &NotAdmitted{Size: refused.Size, Prefix: refused.Prefix, Suffix: refused.Suffix}
	}
	if endless := sdk.EndlessLine(err); endless != nil && !p.told {
		p.told = true
		status := StatusOf(endless)
		return nil, &Event{Name: eventClosed, Status: &status}, nil
	}
	_ = p.events.report(eventEndOfOutput)
	t := time.NewTimer(reasonTime)
	defer t.Stop()
	select {
	case <-p.ended:
		if p.told && p.err == nil {
			return nil, nil, io.EOF
		}
		p.told = true
		return nil, p.last, p.err
	case <-t.C:
		return nil, nil, fmt.Errorf("%w: the plugin did not say why the server has closed its output", ErrProtocol)
	}
}

// notAdmitted describes a message that is not admitted after it was read.
func notAdmitted(msg []byte) *NotAdmitted {
	rest := msg[min(len(msg), maxPrefix):]
	return &NotAdmitted{
		Size: int64(len(msg)), Prefix: append([]byte{}, msg[:min(len(msg), maxPrefix)]...),
		Suffix: append([]byte{}, rest[max(0, len(rest)-maxSuffix):]...),
	}
}

// addJunk records a line that is not a message.
func (p *pipes) addJunk(line []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.junk.Count++
	p.junk.Last = time.Now()
	if len(p.junk.Lines) == junkShown {
		return
	}
	text := strings.ToValidUTF8(string(line[:min(len(line), junkLine)]), "\uFFFD")
	if len(line) > junkLine {
		text += " …"
	}
	p.junk.Lines = append(p.junk.Lines, text)
}

// write appends a message, given in parts, to the buffer.
func (p *pipes) write(parts ...[]byte) error {
	for _, part := range parts {
		if len(part) < coalesceLimit {
			p.out = append(p.out, part...)
			continue
		}
		if err := p.flush(); err != nil {
			return err
		}
		if err := p.send(part); err != nil {
			return err
		}
	}
	p.out = append(p.out, '\n')
	if len(p.out) >= 2*coalesceLimit {
		return p.flush()
	}
	return nil
}

// writeNow writes a small message, given in parts, if that needs no wait.
func (p *pipes) writeNow(parts ...[]byte) bool { return len(p.out) == 0 && p.now.write("\n", parts...) }

// flush sends the buffered messages.
func (p *pipes) flush() error {
	if len(p.out) == 0 {
		return nil
	}
	err := p.send(p.out)
	if p.out = p.out[:0]; cap(p.out) > maxIdleBuffer {
		p.out = nil
	}
	return err
}

// send writes to the server. It succeeds if the server does not read any longer: the
// reason of the end is still to be read, and an error here would hide it.
func (p *pipes) send(b []byte) error {
	_, err := p.to.Write(b)
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) {
		return nil
	}
	return err
}

// closeInput ends the input of the server.
func (p *pipes) closeInput() {
	endSending(p.to)
	_ = p.to.Close()
}

// leave ends reading. The events have ended, or end now because their stream is closed.
func (p *pipes) leave() {
	_ = p.to.Close()
	_ = p.from.Close()
	p.work.Wait()
}

// Piped reports whether messages travel over the server's own streams.
func (s *Stream) Piped() bool { return s.pipes != nil }

// Junk returns the lines from the server that were not messages. It is empty if the plugin
// reads them.
func (s *Stream) Junk() Junk {
	if s.pipes == nil {
		return Junk{}
	}
	s.pipes.mu.Lock()
	defer s.pipes.mu.Unlock()
	junk := s.pipes.junk
	junk.Lines = append([]string{}, junk.Lines...)
	return junk
}
