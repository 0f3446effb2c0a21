package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	laneTime  = time.Minute // per answer
	maxAnswer = 64 << 20    // bytes
)

// A lane is a keep-alive connection with one request at a time. http.Transport
// would be most of the cost of a small call, on the processors that the gateway
// needs.
type lane struct {
	to   *endpoint
	conn net.Conn
	in   *bufio.Reader
	out  []byte

	status  int    // status of the last response
	session string // session id of the last response
	answer  []byte // valid until the next request
}

func (e *endpoint) lane() (*lane, error) {
	conn, err := net.Dial("tcp", e.address)
	if err != nil {
		return nil, err
	}
	return &lane{to: e, conn: conn, in: bufio.NewReaderSize(conn, 64<<10)}, nil
}

func (l *lane) close() { _ = l.conn.Close() }

// do sends a request and returns the time until its complete answer has
// arrived. The answer is checked afterwards.
func (l *lane) do(r *request) (time.Duration, error) {
	id := l.to.ids.Add(1)
	number := strconv.AppendInt(nil, id, 10)
	const before = `{"jsonrpc":"2.0","id":`
	l.compose(r.head, len(before)+len(number)+len(r.rest))
	l.out = append(append(append(l.out, before...), number...), r.rest...)
	began := time.Now()
	took, err := l.exchange(began, id)
	if err != nil {
		return 0, err
	}
	return took, r.check(l.answer, id)
}

func (l *lane) compose(head []byte, length int) {
	l.out = append(append(l.out[:0], head...), "Content-Length: "...)
	l.out = append(strconv.AppendInt(l.out, int64(length), 10), "\r\n\r\n"...)
}

func (l *lane) exchange(began time.Time, id int64) (time.Duration, error) {
	res, err := l.send(began)
	if err != nil {
		return 0, err
	}
	if l.status != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(res.Body, 300))
		return 0, fmt.Errorf("%s: %s", res.Status, text)
	}
	if !strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		err := l.whole(res)
		return time.Since(began), err
	}
	if err := l.event(res.Body, id); err != nil {
		return 0, err
	}
	took := time.Since(began)
	_, err = io.Copy(io.Discard, res.Body) // the next response follows it
	return took, err
}

func (l *lane) send(began time.Time) (*http.Response, error) {
	if err := l.conn.SetDeadline(began.Add(laneTime)); err != nil {
		return nil, err
	}
	if _, err := l.conn.Write(l.out); err != nil {
		return nil, err
	}
	res, err := http.ReadResponse(l.in, nil)
	if err != nil {
		return nil, err
	}
	l.status, l.session = res.StatusCode, res.Header.Get("Mcp-Session-Id")
	return res, nil
}

// notify sends a notification.
func (l *lane) notify(head, message []byte) error {
	l.compose(head, len(message))
	l.out = append(l.out, message...)
	res, err := l.send(time.Now())
	if err != nil {
		return err
	}
	if l.status >= http.StatusMultipleChoices {
		return fmt.Errorf("a notification was answered with %s", res.Status)
	}
	_, err = io.Copy(io.Discard, res.Body)
	return err
}

// whole reads an answer that is the body.
func (l *lane) whole(res *http.Response) error {
	into := bytes.NewBuffer(l.answer[:0])
	if n := int(res.ContentLength); n > 0 && n < maxAnswer {
		into.Grow(n + bytes.MinRead) // else it grows at the end of the body
	}
	n, err := into.ReadFrom(io.LimitReader(res.Body, maxAnswer))
	if l.answer = into.Bytes(); err == nil && n == maxAnswer {
		err = errors.New("the answer does not end")
	}
	return err
}

// event reads a stream up to the event with the answer. Each event is one line
// of data.
func (l *lane) event(stream io.Reader, id int64) error {
	in := bufio.NewReaderSize(io.LimitReader(stream, maxAnswer), 64<<10)
	for {
		line := l.answer[:0]
		for {
			part, err := in.ReadSlice('\n')
			line = append(line, part...)
			if err == nil {
				break
			}
			if err != bufio.ErrBufferFull {
				return fmt.Errorf("the stream ended without the answer: %w", err)
			}
		}
		l.answer = line
		data, found := bytes.CutPrefix(bytes.TrimRight(line, "\r\n"), []byte("data:"))
		if found && answers(data, id) && !bytes.Contains(data[:min(len(data), 100)], []byte(`"method":`)) {
			l.answer = append(line[:0], data...)
			return nil
		}
	}
}
