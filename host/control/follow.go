package control

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// maxLine is the largest line of a stream, in bytes. A record of the log has at most 32
// fields of 16 KiB.
const maxLine = 4 << 20

// Logs calls each with the lines about the log of a process that a query selects. It
// returns when there are no more, when ctx ends, or when each returns an error. It blocks; each
// runs on the goroutine of the caller.
func (i *Instance) Logs(ctx context.Context, q LogQuery, each func(LogLine) error) error {
	return readLines(ctx, i, "/v1/logs?"+q.values().Encode(), each)
}

// EventsOf calls each with the lines about the events of a process, with follow also with
// those to come. It returns as Logs does.
func (i *Instance) EventsOf(ctx context.Context, follow bool, each func(EventLine) error) error {
	return readLines(ctx, i, fmt.Sprintf("/v1/events?follow=%t", follow), each)
}

// CallsOf calls each with the beginnings and ends of calls at a process from now on. It
// returns as Logs does.
func (i *Instance) CallsOf(ctx context.Context, each func(EventLine) error) error {
	return readLines(ctx, i, "/v1/events?follow=true&kind=calls", each)
}

// readLines calls each with the lines of an answer.
func readLines[T any](ctx context.Context, i *Instance, path string, each func(T) error) error {
	resp, err := i.send(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return i.refusal(resp, path)
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		var line T
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			return i.unreachable(err)
		}
		if err := each(line); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil && ctx.Err() == nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		// A process that was killed.
		return i.unreachable(err)
	}
	return nil
}

// Restart makes a process connect to a server anew. The error is a *Refused if the server
// is not connected afterwards.
func (i *Instance) Restart(ctx context.Context, server string) (*Restarted, error) {
	return i.changeServer(ctx, server, "restart")
}

// Connect makes a process connect to a server now. The error is a *Refused if the server is
// not connected afterwards.
func (i *Instance) Connect(ctx context.Context, server string) (*Restarted, error) {
	return i.changeServer(ctx, server, "connect")
}

// Disconnect makes a process leave out a server until Connect.
func (i *Instance) Disconnect(ctx context.Context, server string) (*Restarted, error) {
	return i.changeServer(ctx, server, "disconnect")
}

// Login makes a process log in to a server. It calls show with the page of the login, and
// waits for the end.
func (i *Instance) Login(ctx context.Context, server string, show func(page string)) (*LoginDone, error) {
	path := "/v1/servers/" + url.PathEscape(server) + "/login"
	page, err := ask[LoginPage](ctx, i, http.MethodPost, path)
	if err != nil {
		return nil, err
	}
	show(page.URL)
	done, err := ask[LoginDone](ctx, i, http.MethodGet, path)
	if err == nil {
		done.Instance = i.Name
	}
	return done, err
}

func (i *Instance) changeServer(ctx context.Context, server, verb string) (*Restarted, error) {
	r, err := ask[Restarted](ctx, i, http.MethodPost, "/v1/servers/"+url.PathEscape(server)+"/"+verb)
	if err == nil {
		r.Instance = i.Name
	}
	return r, err
}

// SetLogLevel sets the level of the log of a process, or of the messages of one server.
func (i *Instance) SetLogLevel(ctx context.Context, l LogLevel) (*LogLevel, error) {
	ctx, cancel := context.WithTimeout(ctx, statusTime)
	defer cancel()
	body, err := json.Marshal(l)
	if err != nil {
		return nil, err
	}
	set, err := askAtMost[LogLevel](ctx, i, http.MethodPut, "/v1/log-level", body, maxAnswer)
	if err == nil {
		set.Instance = i.Name
	}
	return set, err
}
