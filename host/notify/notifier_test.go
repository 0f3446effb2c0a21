package notify

import (
	"context"
	"crypto/hmac"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"
	"go.uber.org/goleak"

	"github.com/junctor-mcp/junctor/testdata/bubble"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const sharedSecret = "0123456789abcdef-canary"

var everything = []Event{Approval, Quarantine, ToolsChanged, LoginFailed, ServerDown}

// A got is a request that a webhook received.
type got struct {
	header http.Header
	body   []byte
	notice Notice
}

// receive starts a webhook on loopback. answer says what it answers to the nth request.
func receive(t *testing.T,
	answer func(n int, w http.ResponseWriter, r *http.Request)) (address string, requests <-chan got) {
	t.Helper()
	all := make(chan got, 2*maxQueued)
	var mu sync.Mutex
	n := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		n++
		mine := n
		mu.Unlock()
		one := got{header: r.Header}
		one.body, _ = io.ReadAll(r.Body)
		_ = json.Unmarshal(one.body, &one.notice)
		all <- one
		if answer != nil {
			answer(mine, w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL, all
}

func settings(address string) *Settings {
	return &Settings{Webhook: address + "/hook/t0p-path", Events: everything, Version: "test",
		Secret: func(context.Context) (string, error) { return sharedSecret, nil }}
}

// notifier returns a notifier for a webhook, and what it logged.
func notifier(t *testing.T, s *Settings) (*Notifier, *logged) {
	t.Helper()
	text := &logged{}
	n := New(hclog.New(&hclog.LoggerOptions{Output: text, Level: hclog.Debug}))
	n.first = time.Millisecond
	n.Set(s, "1")
	t.Cleanup(n.Close)
	return n, text
}

type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func next(t *testing.T, requests <-chan got) got {
	t.Helper()
	select {
	case one := <-requests:
		return one
	case <-time.After(20 * time.Second):
		t.Fatal("the webhook got nothing")
		return got{}
	}
}

// busyTime is what a busy machine may add to a time.
const busyTime = 2 * time.Second

// await waits until the counters fulfil a condition.
func await(t *testing.T, n *Notifier, what string, ok func(Status) bool) Status {
	t.Helper()
	var s Status
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); {
		if s, _ = n.Status(); ok(s) {
			return s
		}
		select {
		case <-t.Context().Done():
		case <-time.After(time.Millisecond):
		}
	}
	t.Fatalf("%s: %+v", what, s)
	return s
}

func TestNoticesAreSigned(t *testing.T) {
	address, requests := receive(t, nil)
	n, _ := notifier(t, settings(address))
	before := time.Now().Unix()
	n.Send(Notice{Event: Approval, Server: "github", Item: "delete_repo", Approval: "abcdef", Subject: "ann",
		Rule: "r at junctor.hcl:3:1"})
	one := next(t, requests)
	stamp := one.header.Get(HeaderTimestamp)
	if at, err := strconv.ParseInt(stamp, 10, 64); err != nil || at < before || at > time.Now().Unix() {
		t.Errorf("timestamp %q", stamp)
	}
	want := Sign([]byte(sharedSecret), stamp, one.body)
	if got := one.header.Get(HeaderSignature); !hmac.Equal([]byte(got), []byte(want)) ||
		!strings.HasPrefix(got, "v1=") || len(got) != 67 {
		t.Errorf("signature %q, want %q", got, want)
	}
	if other := Sign([]byte(sharedSecret), stamp+"0", one.body); other == want {
		t.Error("the signature does not cover the timestamp")
	}
	v := one.notice
	if v.Version != 1 || v.ID == "" || v.ID != one.header.Get(HeaderID) || v.Event != Approval ||
		v.Server != "github" || v.Approval != "abcdef" || v.PID == 0 || v.Time.IsZero() {
		t.Errorf("%s", one.body)
	}
	if strings.Contains(string(one.body), sharedSecret) || strings.Contains(fmt.Sprint(one.header), sharedSecret) {
		t.Error("the secret was sent")
	}
}

// TestSignature compares a signature with one that another program made.
func TestSignature(t *testing.T) {
	const want = "v1=170793f8e8e239c9b65ec2ee63a49a624ef8b28ff06d90b9d1e0e90f6b80fd57"
	if got := Sign([]byte("0123456789abcdef"), "1764089776", []byte(`{"version":1}`)); got != want {
		t.Errorf("got %s", got)
	}
}

func TestNoticesAreSentAgain(t *testing.T) {
	address, requests := receive(t, func(n int, w http.ResponseWriter, _ *http.Request) {
		switch n {
		case 1:
			w.WriteHeader(http.StatusInternalServerError)
		case 2:
			panic(http.ErrAbortHandler) // the connection ends
		case 3:
			w.WriteHeader(http.StatusTooManyRequests)
		}
	})
	n, text := notifier(t, settings(address))
	n.Send(Notice{Event: ServerDown, Server: "a"})
	ids := map[string]bool{}
	for range 4 {
		ids[next(t, requests).notice.ID] = true
	}
	s := await(t, n, "sent", func(s Status) bool { return s.Sent == 1 })
	if len(ids) != 1 || s.Lost != 0 || s.Queued != 0 || s.Error != "" {
		t.Errorf("%v, %+v\n%s", ids, s, text)
	}
}

func TestRefusedNoticesAreNotSentAgain(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer func(w http.ResponseWriter, r *http.Request)
		says   string
	}{
		{"redirect", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		}, "a redirect, which is not followed"},
		{"redirect with 308", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://example.com/", http.StatusPermanentRedirect)
		}, "a redirect"},
		{"unauthorized",
			func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }, "HTTP status 401"},
		{"gone", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) }, "HTTP status 410"},
	} {
		t.Run(c.name, func(t *testing.T) {
			address, requests := receive(t, func(_ int, w http.ResponseWriter, r *http.Request) { c.answer(w, r) })
			n, text := notifier(t, settings(address))
			n.Send(Notice{Event: ToolsChanged, Server: "a"})
			s := await(t, n, "lost", func(s Status) bool { return s.Lost == 1 })
			if len(requests) != 1 || !strings.Contains(s.Error, c.says) || !strings.Contains(text.String(), c.says) {
				t.Errorf("%d requests, %+v\n%s", len(requests), s, text)
			}
			if all := s.Error + text.String(); strings.Contains(all, "t0p-path") ||
				strings.Contains(all, sharedSecret) {
				t.Errorf("the path of the webhook or the secret was printed: %s", all)
			}
		})
	}
}

// TestUnreachableWebhookSaysNoPath checks the texts of errors of the network.
func TestUnreachableWebhookSaysNoPath(t *testing.T) {
	s := httptest.NewServer(nil)
	address := s.URL
	s.Close()
	n, text := notifier(t, settings(address))
	n.Send(Notice{Event: ServerDown, Server: "a"})
	await(t, n, "an error", func(s Status) bool { return strings.Contains(s.Error, "nothing listens at") })
	n.Close()
	status, _ := n.Status()
	if status.Lost != 1 || strings.Contains(status.Error+text.String(), "t0p-path") {
		t.Errorf("%+v\n%s", status, text)
	}
}

func TestPrivateAddressesAreRefused(t *testing.T) {
	address, requests := receive(t, nil)
	port := address[strings.LastIndexByte(address, ':'):]
	for name, want := range map[string]bool{"sub.localhost": false, "localhost": true, "127.0.0.1": true} {
		s := settings("http://" + name + port)
		r := newReceiver(*s, "1")
		err := r.send(t.Context(), "id", []byte("{}"))
		r.close()
		if (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(requests) != 2 {
		t.Errorf("%d requests", len(requests))
	}
}

func TestFullQueueLosesNotices(t *testing.T) {
	release := make(chan struct{})
	address, requests := receive(t, func(int, http.ResponseWriter, *http.Request) { <-release })
	n, text := notifier(t, settings(address))
	n.Send(Notice{Event: ToolsChanged, Server: "a"})
	next(t, requests) // its answer is slow
	begun := time.Now()
	for range maxQueued + 25 {
		n.Send(Notice{Event: ToolsChanged, Server: "a"})
	}
	if took := time.Since(begun); took > time.Second {
		t.Errorf("a slow receiver delayed the senders: %s", took)
	}
	s, _ := n.Status()
	// A line is logged after 1, 2, 4, 8 and 16 lost ones.
	if s.Lost != 25 || s.Queued != maxQueued+1 || strings.Count(text.String(), "notices are lost") != 5 {
		t.Errorf("%+v\n%s", s, text)
	}
	close(release)
	if told := next(t, requests).notice.Lost; told != 25 {
		t.Errorf("the next notice tells of %d lost ones", told)
	}
	await(t, n, "all sent", func(s Status) bool { return s.Sent == maxQueued+1 && s.Queued == 0 })
}

func TestCloseEndsSoon(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	address, requests := receive(t, func(int, http.ResponseWriter, *http.Request) { <-release })
	n, text := notifier(t, settings(address))
	for range 3 {
		n.Send(Notice{Event: ToolsChanged, Server: "a"})
	}
	next(t, requests)
	begun := time.Now()
	n.Close()
	if took := time.Since(begun); took > endTime+busyTime {
		t.Errorf("Close took %s", took)
	}
	if s, _ := n.Status(); s.Lost != 3 || s.Queued != 0 ||
		!strings.Contains(text.String(), "were not sent before the process ended") {
		t.Errorf("%+v\n%s", s, text)
	}
	n.Send(Notice{Event: ToolsChanged}) // has no effect
}

func TestCloseSendsWhatWaits(t *testing.T) {
	address, requests := receive(t, nil)
	n, _ := notifier(t, settings(address))
	for range 3 {
		n.Send(Notice{Event: ToolsChanged, Server: "a"})
	}
	n.Close()
	if s, _ := n.Status(); s.Sent != 3 || len(requests) != 3 {
		t.Errorf("%+v", s)
	}
}

func TestSetChangesTheWebhook(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	first, atFirst := receive(t, func(int, http.ResponseWriter, *http.Request) { <-release })
	second, atSecond := receive(t, nil)
	n, _ := notifier(t, settings(first))
	n.Send(Notice{Event: Approval, Server: "a"})
	id := next(t, atFirst).notice.ID
	n.Set(settings(first), "1") // the same: the attempt goes on
	other := settings(second)
	other.Events = []Event{ServerDown}
	n.Set(other, "2")
	if next(t, atSecond).notice.ID != id {
		t.Error("the notice that waited was not sent to the new webhook")
	}
	n.Send(Notice{Event: Approval, Server: "a"}) // not asked for any more
	n.Send(Notice{Event: ServerDown, Server: "a"})
	if one := next(t, atSecond).notice; one.Event != ServerDown {
		t.Errorf("%+v", one)
	}
	n.Set(nil, "")
	n.Send(Notice{Event: ServerDown, Server: "b"})
	if _, ok := n.Status(); ok || len(atSecond) != 0 {
		t.Error("a notice was sent without a notify block")
	}
}

func TestSecretIsReadAgainUntilItIsThere(t *testing.T) {
	address, requests := receive(t, nil)
	s := settings(address)
	calls := 0
	s.Secret = func(context.Context) (string, error) {
		if calls++; calls < 3 {
			return "", errors.New("the key ring is locked")
		}
		return sharedSecret, nil
	}
	n, _ := notifier(t, s)
	n.Send(Notice{Event: ToolsChanged})
	n.Send(Notice{Event: ToolsChanged})
	next(t, requests)
	next(t, requests)
	n.Close()
	if calls != 3 {
		t.Errorf("the secret was read %d times", calls)
	}
}

func TestNoticesAreBounded(t *testing.T) {
	address, requests := receive(t, nil)
	n, _ := notifier(t, settings(address))
	long := strings.Repeat("x", 100_000)
	var names []string
	for i := range 5000 {
		names = append(names, long[:900]+strconv.Itoa(i))
	}
	n.Send(Notice{Event: ToolsChanged, Server: long, Item: "\xff" + long, Rule: long, Subject: long, Tenant: long,
		Added: names, Removed: names, Changed: names})
	one := next(t, requests)
	if len(one.body) > 64<<10 || len(one.notice.Added) != MaxNames || !json.Valid(one.body) {
		t.Errorf("%d bytes, %d names", len(one.body), len(one.notice.Added))
	}
}

func TestOutageIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers := roundTripper(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 204, Body: http.NoBody}, nil
		})
		n := New(hclog.NewNullLogger())
		n.using = answers
		n.Set(settings("http://127.0.0.1:1"), "1")
		defer n.Close()
		sent := func() int { synctest.Wait(); s, _ := n.Status(); return s.Sent }
		down := Notice{Event: ServerDown, Server: "a"}
		for range 10 {
			n.Send(down)
		}
		n.Send(Notice{Event: ServerDown, Server: "b"})
		n.Send(Notice{Event: LoginFailed, Server: "a"})
		if got := sent(); got != 3 {
			t.Errorf("%d notices about three outages", got)
		}
		n.Recovered(ServerDown, "a", "")
		n.Send(down) // too soon
		if got := sent(); got != 3 {
			t.Errorf("%d: a server that goes up and down is told at once", got)
		}
		bubble.Sleep(repeatAfter)
		n.Send(down)
		if got := sent(); got != 4 {
			t.Errorf("%d: an outage after the first one is not told", got)
		}
	})
}

// TestNoticeIsGivenUpAfterTenMinutes also checks that a notice which waited that long for
// others is tried once.
func TestNoticeIsGivenUpAfterTenMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		n := New(hclog.NewNullLogger())
		n.using = roundTripper(func(r *http.Request) (*http.Response, error) {
			tries++
			return nil, errors.New("no route")
		})
		n.Set(settings("http://127.0.0.1:1"), "1")
		begun := time.Now()
		n.Send(Notice{Event: ToolsChanged, Server: "a"})
		n.Send(Notice{Event: ToolsChanged, Server: "b"})
		for {
			if s, _ := n.Status(); s.Lost == 2 {
				break
			}
			bubble.Sleep(time.Second)
		}
		if took := time.Since(begun); took < 9*time.Minute || took > maxAge+time.Minute || tries < 12 || tries > 30 {
			t.Errorf("%d attempts in %s", tries, took)
		}
		n.Close()
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestNilNotifier(t *testing.T) {
	var n *Notifier
	n.Set(settings("http://127.0.0.1:1"), "1")
	n.Send(Notice{Event: ServerDown})
	n.Recovered(ServerDown, "a", "")
	n.Close()
	if _, ok := n.Status(); ok {
		t.Error("nil has a webhook")
	}
}
