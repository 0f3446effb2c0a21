//go:build unix

package control

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/plan"
)

// largeView returns a view with as many items as fit.
func largeView() *plan.View {
	v := plan.New([]plan.Server{{Name: "code", Enabled: true, Lists: plan.Known}}, []string{"everyone", "local"}, nil)
	digest := plan.DigestOf(nil)
	for n := range plan.MaxItems + 1 {
		if !v.Fits() {
			v.LeftOut++
			continue
		}
		name := fmt.Sprintf("tool%06d", n)
		v.Add(plan.Item{Server: "code", Kind: "tool", Name: name, Exposed: "code__" + name, Access: "ambiguous",
			Description: digest, Schema: digest, Entry: digest},
			plan.Decisions{"everyone": {Decision: plan.Denied, Rule: "the default"},
				"local": {Decision: "allowed", Rule: "allow at junctor.hcl:1:1"}})
	}
	return v
}

// TestLargestViewIsTransferred: a view of 100 000 items arrives as it was sent, and says that
// an item is left out.
func TestLargestViewIsTransferred(t *testing.T) {
	if testing.Short() {
		t.Skip("slow with the race detector, and uses one goroutine only")
	}
	sent := largeView()
	server := httptest.NewServer(handler(t.Context(), t.Context(), &fixed{view: sent}))
	defer server.Close()
	got, err := instanceAt(server).View(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Items) != plan.MaxItems || got.LeftOut != 1 || !bytes.Equal(got.Encode(), sent.Encode()) {
		t.Errorf("%d items, %d left out", len(got.Items), got.LeftOut)
	}
}

func TestViewRefusesWrongAnswers(t *testing.T) {
	for text, want := range map[string]string{
		`null`:                             "junctor_view",
		`{}`:                               "junctor_view",
		`[]`:                               "cannot unmarshal",
		``:                                 "unexpected end",
		`{"junctor_view":2}`:               "format 2",
		`{"junctor_view":1,"left_out":-1}`: "left_out",
		`{"junctor_view":1,"items":[{"server":"none"}]}`:                            "server",
		`{"junctor_view":1,"rules":["` + strings.Repeat("x", plan.MaxBytes) + `"]}`: "larger than 64 MiB",
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(text))
		}))
		v, err := instanceAt(server).View(t.Context())
		if !fault.Is(err, fault.ProcessUnreachable) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %+v, %v; want %q", text, v, err, want)
		}
		server.Close()
	}
}

// TestViewOfAnOlderVersion: a process that does not know the request is another version, and
// the error says so.
func TestViewOfAnOlderVersion(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	if _, err := instanceAt(server).View(t.Context()); !fault.Is(err, fault.ProcessUnreachable) ||
		!strings.Contains(err.Error(), "another version of Junctor") {
		t.Error(err)
	}
}

// A viewing process makes a view until it may end.
type viewing struct {
	fixed
	begun chan struct{}
	end   chan struct{}
}

func (p *viewing) View(ctx context.Context) *plan.View {
	p.begun <- struct{}{}
	select {
	case <-p.end:
		return p.view
	case <-ctx.Done():
		return nil
	}
}

// TestOneViewIsMadeAtATime: a second request waits, and one whose client leaves makes room.
func TestOneViewIsMadeAtATime(t *testing.T) {
	p := &viewing{fixed: fixed{view: plan.New(nil, nil, nil)}, begun: make(chan struct{}), end: make(chan struct{})}
	server := httptest.NewServer(handler(t.Context(), t.Context(), p))
	defer server.Close()
	i := instanceAt(server)
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan error, 1)
	go func() { _, err := i.View(ctx); left <- err }()
	<-p.begun
	answered := make(chan error, 1)
	go func() { _, err := i.View(t.Context()); answered <- err }()
	select {
	case <-p.begun:
		t.Fatal("two views are made at the same time")
	case <-time.After(50 * time.Millisecond):
	}
	leave()
	if err := <-left; err == nil {
		t.Error("a client that left has a view")
	}
	<-p.begun
	close(p.end)
	if err := <-answered; err != nil {
		t.Error(err)
	}
}

// TestValidByRefusesNamesThatSayNothing: a name in a record must be seen.
func TestValidByRefusesNamesThatSayNothing(t *testing.T) {
	for by, want := range map[string]bool{
		"": true, "carol": true, "王": true, "7": true, strings.Repeat("x", MostBy): true,
		" ": false, "\u3164": false, "\u2800": false, "\u0301": false, "…": false, "a\nb": false, "a\u200bb": false,
		strings.Repeat("x", MostBy+1): false,
	} {
		if got := ValidBy(by); got != want {
			t.Errorf("%q: %v", by, got)
		}
	}
}
