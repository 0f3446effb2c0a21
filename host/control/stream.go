package control

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/event"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/feed"
	"github.com/junctor-mcp/junctor/host/logbuffer"
)

const (
	maxStreams = 8           // that are followed at a time, so that other requests find a connection
	lastWrites = time.Second // for a follower to read the rest when the socket is closed
)

// A LogLine is one line of GET /v1/logs: a record, or the number of records that were
// dropped before the program read them.
type LogLine struct {
	*logbuffer.Record
	Missed uint64 `json:"missed,omitempty"`
}

// An EventLine is one line of GET /v1/events: an event, or the number of events that were
// dropped before the program read them.
type EventLine struct {
	*event.Event
	Missed uint64 `json:"missed,omitempty"`
}

// A LogQuery selects records of the log.
type LogQuery struct {
	Follow  bool
	Level   string    // the least severe level; empty: all
	Servers []string  // about one of these servers, or from a plugin of the name; empty: all
	Since   time.Time // zero: all that are kept
}

// values returns the query of the request.
func (q LogQuery) values() url.Values {
	v := url.Values{"server": q.Servers}
	if q.Follow {
		v.Set("follow", "true")
	}
	if q.Level != "" {
		v.Set("level", q.Level)
	}
	if !q.Since.IsZero() {
		v.Set("since", q.Since.UTC().Format(time.RFC3339Nano))
	}
	return v
}

// parseLogQuery reads the query of a request. since is a time in the form of RFC 3339, or
// a duration before now.
func parseLogQuery(v url.Values) (q LogQuery, err error) {
	if q.Follow, err = parseFollow(v); err != nil {
		return q, err
	}
	q.Level, q.Servers = v.Get("level"), v["server"]
	if level := hclog.LevelFromString(q.Level); q.Level != "" && (level == hclog.NoLevel || level == hclog.Off) {
		return q, fault.New(fault.Usage, "level: %q is not a level of the log", q.Level).
			WithHint("the levels are error, warn, info, debug, trace")
	}
	since := v.Get("since")
	if d, err := time.ParseDuration(since); err == nil && d >= 0 {
		q.Since = time.Now().Add(-d)
	} else if since != "" {
		if q.Since, err = time.Parse(time.RFC3339, since); err != nil {
			return q, fault.New(fault.Usage, "since: %q is neither a time nor a duration", since).
				WithHint("write a duration such as 10m, or a time such as 2026-11-25T17:00:00Z")
		}
	}
	return q, nil
}

func parseFollow(v url.Values) (bool, error) {
	text := v.Get("follow")
	if text == "" {
		return false, nil
	}
	follow, err := strconv.ParseBool(text)
	if err != nil {
		return false, fault.New(fault.Usage, "follow: %q is neither true nor false", text).WithHint("write follow=true")
	}
	return follow, nil
}

// parseKind reports whether the events of calls are asked for, which are not kept and so can
// only be followed.
func parseKind(v url.Values, follow bool) (calls bool, err error) {
	switch kind := v.Get("kind"); {
	case kind == "":
		return false, nil
	case kind != "calls":
		return false, fault.New(fault.Usage, "kind: %q is not a kind of events", kind).
			WithHint("write kind=calls, or nothing for all others")
	case !follow:
		return false, fault.New(fault.Usage, "events of calls can only be followed").
			WithHint("write follow=true; the audit log has earlier calls")
	}
	return true, nil
}

// selects reports whether the query selects a record.
func (q LogQuery) selects(r *logbuffer.Record) bool {
	switch {
	case q.Level != "" && hclog.LevelFromString(r.Level) < hclog.LevelFromString(q.Level):
		return false
	case len(q.Servers) > 0 && !slices.Contains(q.Servers, r.Server) && !slices.Contains(q.Servers, r.Plugin):
		return false
	}
	return !r.Time.Before(q.Since)
}

// streams answers the requests for logs and events. A socket has one. Its methods may be called
// concurrently; a handler blocks as long as its stream is followed.
type streams struct {
	ctx   context.Context // ends when the socket is closed
	open  chan struct{}   // has an element for each stream that is followed
	about Recorder
}

// logs answers GET /v1/logs.
func (s *streams) logs(w http.ResponseWriter, r *http.Request) {
	q, err := parseLogQuery(r.URL.Query())
	if err != nil {
		refuse(w, http.StatusBadRequest, err)
		return
	}
	stream(s, w, r, q.Follow, s.about.Records().Read(), func(item feed.Item[*logbuffer.Record]) any {
		if !q.selects(item.Value) {
			return nil
		}
		record := *item.Value
		record.Seq = item.Number
		return LogLine{Record: &record}
	})
}

// events answers GET /v1/events.
func (s *streams) events(w http.ResponseWriter, r *http.Request) {
	follow, err := parseFollow(r.URL.Query())
	calls := false
	if err == nil {
		calls, err = parseKind(r.URL.Query(), follow)
	}
	if err != nil {
		refuse(w, http.StatusBadRequest, err)
		return
	}
	from, stop := s.about.Events().Read(), func() {}
	if calls {
		from, stop = s.about.Events().FollowCalls()
	}
	defer stop()
	stream(s, w, r, follow, from, func(item feed.Item[event.Event]) any {
		e := item.Value
		e.Seq = item.Number
		return EventLine{Event: &e}
	})
}

// stream writes the entries of a reader as JSON lines: those that are there, and with
// follow those to come, until the program or the socket is gone. lineOf returns nil for an
// entry to leave out.
func stream[T any](s *streams, w http.ResponseWriter, r *http.Request, follow bool, from *feed.Reader[T],
	lineOf func(feed.Item[T]) any) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	conn := http.NewResponseController(w)
	if follow {
		select {
		case s.open <- struct{}{}:
			defer func() { <-s.open }()
		default:
			refuse(w, http.StatusServiceUnavailable, fault.New(fault.ProcessRefused,
				"%d programs follow the log or the events of this process", maxStreams).
				WithHint("end one of them"))
			return
		}
		_ = conn.SetReadDeadline(time.Time{}) // the deadline of the request would end the stream
		defer context.AfterFunc(s.ctx, func() {
			_ = conn.SetWriteDeadline(time.Now().Add(lastWrites)) // a program that does not read must not delay the end
			cancel()
		})()
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.WriteHeader(http.StatusOK)
	_ = conn.Flush()
	enc := json.NewEncoder(w)
	for {
		item, ok := from.Next()
		if !ok && follow && ctx.Err() == nil {
			if conn.Flush() != nil {
				return
			}
			var err error
			item, err = from.Wait(ctx)
			ok = err == nil
			if !ok {
				continue // entries may have come meanwhile, such as the end of the process
			}
		}
		if !ok {
			return
		}
		if item.Missed > 0 && enc.Encode(LogLine{Missed: item.Missed}) != nil {
			return
		}
		if line := lineOf(item); line != nil && enc.Encode(line) != nil {
			return
		}
	}
}
