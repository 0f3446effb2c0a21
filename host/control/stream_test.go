//go:build unix

package control

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/event"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/logbuffer"
)

// A recording is a process whose log and events a test writes.
type recording struct {
	fixed
	log hclog.InterceptLogger
}

func newRecording() *recording {
	log := hclog.NewInterceptLogger(&hclog.LoggerOptions{Name: "junctor", Level: hclog.Debug, Output: io.Discard})
	return &recording{fixed: fixed{records: logbuffer.Attach(log), events: event.NewStream(nil)}, log: log}
}

// serve serves a process until stop is called, with the times of a control socket.
func serve(t *testing.T, p Process, readTime time.Duration) (i *Instance, stop func()) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	s := httptest.NewUnstartedServer(handler(ctx, ctx, p))
	s.Config.ReadTimeout = readTime
	s.Start()
	t.Cleanup(s.Close)
	t.Cleanup(stop)
	return instanceAt(s), stop
}

func (r *recording) write() {
	r.log.Info("first")
	r.log.Debug("second", "server", "files")
	r.log.Warn("third", "server", "gh", "error", errors.New("it broke"))
	r.log.Named("plugin.stdio").Error("fourth")
}

// TestLogsSelectsRecords asks for records with each part of a query.
func TestLogsSelectsRecords(t *testing.T) {
	p := newRecording()
	i, _ := serve(t, p, time.Minute)
	p.write()
	for name, c := range map[string]struct {
		q    LogQuery
		want string
	}{
		"all":                      {LogQuery{}, "1first 2second 3third 4fourth "},
		"level":                    {LogQuery{Level: "warn"}, "3third 4fourth "},
		"server":                   {LogQuery{Servers: []string{"gh"}}, "3third "},
		"servers":                  {LogQuery{Servers: []string{"gh", "files"}}, "2second 3third "},
		"plugin":                   {LogQuery{Servers: []string{"stdio"}}, "4fourth "},
		"level and server":         {LogQuery{Servers: []string{"files"}, Level: "info"}, ""},
		"a server without records": {LogQuery{Servers: []string{"none"}}, ""},
		"since long ago":           {LogQuery{Since: time.Now().Add(-time.Hour), Level: "error"}, "4fourth "},
		"since later":              {LogQuery{Since: time.Now().Add(time.Hour)}, ""},
	} {
		got := ""
		err := i.Logs(t.Context(), c.q, func(l LogLine) error {
			got += fmt.Sprintf("%d%s ", l.Seq, l.Message)
			return nil
		})
		if err != nil || got != c.want {
			t.Errorf("%s: %q, %v, want %q", name, got, err, c.want)
		}
	}
}

// TestWrongRequestsAreRefused sends queries and bodies that are not valid.
func TestWrongRequestsAreRefused(t *testing.T) {
	p := newRecording()
	p.failure = &Failure{Error: fault.New(fault.UpstreamUnknown, "no").Document()}
	i, _ := serve(t, p, time.Minute)
	for _, c := range []struct {
		method, path, body string
		code               fault.Code
	}{
		{"GET", "/v1/logs?level=loud", "", fault.Usage},
		{"GET", "/v1/logs?level=off", "", fault.Usage},
		{"GET", "/v1/logs?since=yesterday", "", fault.Usage},
		{"GET", "/v1/logs?since=-5m", "", fault.Usage},
		{"GET", "/v1/logs?follow=maybe", "", fault.Usage},
		{"GET", "/v1/events?follow=2", "", fault.Usage},
		{"GET", "/v1/events?kind=calls", "", fault.Usage},
		{"GET", "/v1/events?kind=sessions&follow=true", "", fault.Usage},
		{"POST", "/v1/logs", "", fault.ProcessUnreachable},
		{"PUT", "/v1/events", "", fault.ProcessUnreachable},
		{"PUT", "/v1/log-level", "", fault.Usage},
		{"PUT", "/v1/log-level", "debug", fault.Usage},
		{"PUT", "/v1/log-level", `{"server":"a"}`, fault.Usage},
		{"PUT", "/v1/log-level", `{"level":7}`, fault.Usage},
		{"PUT", "/v1/log-level", `{"level":"` + strings.Repeat("x", maxBody) + `"}`, fault.Usage},
		{"PUT", "/v1/log-level", `{"level":"debug","server":"none"}`, fault.UpstreamUnknown},
		{"GET", "/v1/log-level", "", fault.ProcessUnreachable},
		{"POST", "/v1/servers/none/restart", "", fault.UpstreamUnknown},
		{"POST", "/v1/servers//restart", "", fault.ProcessUnreachable},
		{"POST", "/v1/servers/a/b/restart", "", fault.ProcessUnreachable},
		{"GET", "/v1/servers/a/restart", "", fault.ProcessUnreachable},
	} {
		if _, err := askAtMost[LogLevel](t.Context(), i, c.method, c.path, []byte(c.body),
			maxAnswer); fault.As(err).Code != c.code {
			t.Errorf("%s %s %.40s: %v, want %s", c.method, c.path, c.body, err, c.code)
		}
	}
}

func TestOperatorAnswers(t *testing.T) {
	i, _ := serve(t, newRecording(), time.Minute)
	i.Name = "77"
	if r, err := i.Restart(t.Context(), "a b/c"); err != nil || r.Server != "a b/c" || r.Took != 7 ||
		r.Instance != "77" {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := i.Disconnect(t.Context(), "a"); err != nil || r.Server != "a off" || r.Instance != "77" {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := i.Connect(t.Context(), "a"); err != nil || r.Server != "a on" || r.Instance != "77" {
		t.Errorf("%+v, %v", r, err)
	}
	if l, err := i.SetLogLevel(t.Context(), LogLevel{Level: "DEBUG", Server: "gh"}); err != nil || l.Level != "debug" ||
		l.Server != "gh" || l.Instance != "77" {
		t.Errorf("%+v, %v", l, err)
	}
}

// loginTime is the time that a person needs for a login.
const loginTime = 200 * time.Millisecond

// TestLoginOutlivesReadTimeout waits for a login for longer than the timeout for requests.
func TestLoginOutlivesReadTimeout(t *testing.T) {
	i, _ := serve(t, newRecording(), loginTime/4)
	i.Name = "77"
	shown := ""
	done, err := i.Login(t.Context(), "a b", func(page string) { shown = page })
	if err != nil || done.Account != "ann" || done.Server != "a b" || done.Instance != "77" ||
		shown != "http://127.0.0.1/login" {
		t.Errorf("%+v, %q, %v", done, shown, err)
	}
}

// TestFollowedStreamOutlivesReadTimeout follows events for several times the timeout for
// requests, until the process stops. The event of the end arrives.
func TestFollowedStreamOutlivesReadTimeout(t *testing.T) {
	const readTime = 50 * time.Millisecond
	p := newRecording()
	i, stop := serve(t, p, readTime)
	p.events.Add(event.Event{Type: event.ProcessStarted})
	var seen []string
	err := i.EventsOf(t.Context(), true, func(l EventLine) error {
		seen = append(seen, fmt.Sprintf("%d %s", l.Seq, l.Type))
		switch len(seen) {
		case 1:
			time.AfterFunc(4*readTime, func() { p.events.Add(event.Event{Type: event.ServerReady, Server: "a"}) })
		case 2:
			p.events.Add(event.Event{Type: event.ProcessStopping})
			stop()
		}
		return nil
	})
	if want := "[1 process.started 2 server.ready 3 process.stopping]"; err != nil || fmt.Sprint(seen) != want {
		t.Errorf("%v, %v", seen, err)
	}
}

// TestFollowersAreBounded opens as many streams as may be followed, and one more. A stream
// that ends makes room.
func TestFollowersAreBounded(t *testing.T) {
	p := newRecording()
	i, _ := serve(t, p, time.Minute)
	p.log.Info("x")
	var open []context.CancelFunc
	var work sync.WaitGroup
	defer work.Wait()
	follow := func() (context.CancelFunc, error) {
		ctx, cancel := context.WithCancel(t.Context())
		first := make(chan error, 1)
		work.Go(func() {
			err := i.Logs(ctx, LogQuery{Follow: true}, func(LogLine) error {
				first <- nil
				return nil
			})
			select {
			case first <- err:
			default:
			}
		})
		return cancel, <-first
	}
	for range maxStreams {
		cancel, err := follow()
		defer cancel()
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, cancel)
	}
	cancel, err := follow()
	cancel()
	if !fault.Is(err, fault.ProcessRefused) {
		t.Errorf("one stream too many: %v", err)
	}
	if err := i.EventsOf(t.Context(), false, func(EventLine) error { return nil }); err != nil {
		t.Errorf("a request that follows nothing: %v", err)
	}
	open[0]()
	for end := time.Now().Add(10 * time.Second); ; {
		cancel, err := follow()
		defer cancel()
		if err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}

// TestSlowFollowerLearnsWhatItMissed does not read a stream while more is logged than the
// process keeps. The log does not wait for it.
func TestSlowFollowerLearnsWhatItMissed(t *testing.T) {
	p := newRecording()
	i, _ := serve(t, p, time.Minute)
	const total = 20_000
	long := strings.Repeat("x", 4000)
	p.log.Info("begin")
	seen, missed := uint64(0), uint64(0)
	done := errors.New("done")
	err := i.Logs(t.Context(), LogQuery{Follow: true}, func(l LogLine) error {
		if seen == 0 && l.Record != nil { // the connection holds less than is logged now
			for range total - 1 {
				p.log.Info(long)
			}
		}
		missed += l.Missed
		if l.Record != nil {
			seen++
			if l.Seq != seen+missed {
				t.Fatalf("record %d after %d records and %d missed ones", l.Seq, seen, missed)
			}
		}
		if seen+missed == total {
			return done
		}
		return nil
	})
	if !errors.Is(err, done) || missed == 0 || seen < 100 {
		t.Errorf("%d seen, %d missed, %v", seen, missed, err)
	}
}

// TestStopEndsBlockedStream stops a process whose follower does not read.
func TestStopEndsBlockedStream(t *testing.T) {
	p := newRecording()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	inner := handler(ctx, ctx, p)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(ended)
		inner.ServeHTTP(w, r)
	}))
	defer s.Close()
	resp, err := http.Get(s.URL + "/v1/logs?follow=true")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	long := strings.Repeat("x", 16_000)
	for range 5000 {
		p.log.Info(long)
	}
	stop()
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Fatal("the stream has not ended")
	}
}

// TestHostileStreamsAreRefused reads streams of a process that does not keep to the protocol.
func TestHostileStreamsAreRefused(t *testing.T) {
	for name, text := range map[string]string{
		"no JSON": "hello\n", "a list": "[]\n", "a wrong type": `{"seq":"x"}` + "\n",
		"an endless line": strings.Repeat("x", maxLine+1),
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, text)
		}))
		if err := instanceAt(s).Logs(t.Context(), LogQuery{}, func(LogLine) error { return nil }); !fault.Is(err,
			fault.ProcessUnreachable) {
			t.Errorf("%s: %v", name, err)
		}
		s.Close()
	}
}

// FuzzLogQuery parses any query, and what it makes of it again.
func FuzzLogQuery(f *testing.F) {
	for _, text := range []string{"", "follow=true&level=warn&server=a&server=b&since=10m",
		"since=2026-11-25T17:00:00Z", "level=LOUD", "follow=1&since=-1s"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := http.NewRequest("GET", "http://junctor/v1/logs?"+strings.ReplaceAll(text, "#", ""), nil)
		if err != nil {
			return
		}
		q, err := parseLogQuery(r.URL.Query())
		if err != nil {
			return
		}
		again, err := parseLogQuery(q.values())
		if err != nil || again.Follow != q.Follow || again.Level != q.Level || !again.Since.Equal(q.Since) ||
			len(again.Servers) != len(q.Servers) {
			t.Errorf("%+v, %+v, %v", q, again, err)
		}
	})
}
