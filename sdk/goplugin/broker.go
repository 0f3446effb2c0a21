package goplugin

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/yamux"
)

const (
	// meetTime is how long one side waits for the other one at a stream.
	meetTime = 5 * time.Second
	// maxUnclaimed is the number of streams that may wait to be accepted.
	maxUnclaimed = 256
)

// A Broker connects both sides through further streams: one side reserves a number with NextId,
// tells it to the other one by a call, and accepts the stream; the other one dials the number. The
// methods may be called concurrently. The broker belongs to the session and ends with it.
type Broker struct {
	session *yamux.Session
	last    atomic.Uint32
	reading sync.WaitGroup

	mu        sync.Mutex
	meetings  map[uint32]*meeting // guarded by mu
	unclaimed int                 // guarded by mu; streams in meetings
}

// A meeting is where a stream and its Accept find each other. Either may come first.
type meeting struct {
	stream chan net.Conn // of one element
	come   bool          // guarded by the broker's mu; a stream has come
}

var errTwice = errors.New("the number of the stream is in use")

func newBroker(s *yamux.Session) *Broker {
	return &Broker{session: s, meetings: map[uint32]*meeting{}}
}

// NextId returns a number that was not used before. The name is that of go-plugin's broker.
func (b *Broker) NextId() uint32 { return b.last.Add(1) } //nolint:revive // see above

// Accept waits five seconds for the other side to dial a number, and returns the stream. Only one
// Accept may wait for a number.
func (b *Broker) Accept(id uint32) (net.Conn, error) {
	m := b.meeting(id)
	timer := time.NewTimer(meetTime)
	defer timer.Stop()
	var stream net.Conn
	select {
	case stream = <-m.stream:
		b.leave(id, m)
	case <-timer.C:
		b.leave(id, m)
		return nil, fmt.Errorf("stream %d was not dialled within %s", id, meetTime)
	case <-b.session.CloseChan():
		b.leave(id, m)
		return nil, net.ErrClosed
	}
	if _, err := stream.Write(number(id)); err != nil {
		_ = stream.Close()
		return nil, err
	}
	return stream, nil
}

// Dial opens the stream of a number that the other side accepts. It has no deadline of its own: it
// returns when the other side has accepted or refused, or the session ends.
func (b *Broker) Dial(id uint32) (net.Conn, error) {
	stream, err := b.session.OpenStream()
	if err != nil {
		return nil, err
	}
	if _, err = stream.Write(number(id)); err == nil {
		var answer uint32
		if answer, err = readNumber(stream); err == nil && answer != id {
			err = fmt.Errorf("stream %d was answered as %d", id, answer)
		}
	}
	if err != nil {
		_ = stream.Close()
		return nil, err
	}
	return stream, nil
}

// Close ends the session with all its streams.
func (b *Broker) Close() error { return b.session.Close() }

// run takes the streams that the other side opens, until the session ends.
func (b *Broker) run() {
	for {
		stream, err := b.session.AcceptStream()
		if err != nil {
			break
		}
		b.reading.Go(func() { b.take(stream) })
	}
	b.reading.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	for id, m := range b.meetings {
		if m.come {
			b.drop(id, m)
		}
	}
}

// take brings a stream to its Accept. The stream is closed if nothing accepts it in time.
func (b *Broker) take(stream net.Conn) {
	_ = stream.SetReadDeadline(time.Now().Add(meetTime))
	id, err := readNumber(stream)
	if err == nil {
		_ = stream.SetReadDeadline(time.Time{})
		err = b.offer(id, stream)
	}
	if err != nil {
		_ = stream.Close()
	}
}

// offer puts a stream to the meeting of its number.
func (b *Broker) offer(id uint32, stream net.Conn) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	m := b.at(id)
	if m.come {
		return errTwice
	}
	if b.unclaimed == maxUnclaimed {
		return errors.New("too many streams wait to be accepted")
	}
	m.come = true
	b.unclaimed++
	m.stream <- stream
	time.AfterFunc(meetTime, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.drop(id, m)
	})
	return nil
}

// drop closes the stream of a meeting if it is still there. The caller holds mu.
func (b *Broker) drop(id uint32, m *meeting) {
	select {
	case stream := <-m.stream:
		b.forget(id, m)
		_ = stream.Close()
	default:
	}
}

// leave ends an Accept.
func (b *Broker) leave(id uint32, m *meeting) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.drop(id, m)
	b.forget(id, m)
}

// forget ends a meeting. The caller holds mu.
func (b *Broker) forget(id uint32, m *meeting) {
	if b.meetings[id] != m {
		return
	}
	delete(b.meetings, id)
	if m.come {
		b.unclaimed--
	}
}

// meeting returns the meeting of a number.
func (b *Broker) meeting(id uint32) *meeting {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.at(id)
}

// at returns the meeting of a number. The caller holds mu.
func (b *Broker) at(id uint32) *meeting {
	m := b.meetings[id]
	if m == nil {
		m = &meeting{stream: make(chan net.Conn, 1)}
		b.meetings[id] = m
	}
	return m
}

// number returns the bytes of a number at the start of a stream.
func number(id uint32) []byte { return binary.LittleEndian.AppendUint32(nil, id) }

func readNumber(stream net.Conn) (uint32, error) {
	var id uint32
	err := binary.Read(stream, binary.LittleEndian, &id)
	return id, err
}
