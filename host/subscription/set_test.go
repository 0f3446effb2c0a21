package subscription

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/junctor-mcp/junctor/host/upstream"
)

// to returns a function that makes a subscription to a resource of an upstream.
func to(u *upstream.Upstream, uri string) func() (Subscription, error) {
	return func() (Subscription, error) {
		return Subscription{Server: u.Name(), Upstream: u, Version: u, URI: uri, Requested: uri}, nil
	}
}

func subscribe(t *testing.T, s *Set, u *upstream.Upstream, uris ...string) {
	t.Helper()
	for _, uri := range uris {
		if changed, err := s.Subscribe(uri, to(u, uri)); !changed || err != nil {
			t.Fatalf("%s: %v, %v", uri, changed, err)
		}
	}
}

func wantURIs(t *testing.T, s *Set, want ...string) {
	t.Helper()
	if got := s.URIs(); !slices.Equal(got, want) {
		t.Errorf("the URIs are %q, want %q", got, want)
	}
}

func is(u *upstream.Upstream) Versions { return func(string) *upstream.Upstream { return u } }

func TestSubscriptionIsKeptOnce(t *testing.T) {
	s, u := NewSet(&recorder{}), named("a")
	subscribe(t, s, u, "r:1", "junctor://a/r%3A2")
	for _, uri := range []string{"r:1", "junctor://a/r:2"} {
		if changed, err := s.Subscribe(uri, func() (Subscription, error) { panic("it exists") }); changed ||
			err != nil {
			t.Errorf("%s: %v, %v", uri, changed, err)
		}
	}
	if s.count != 2 {
		t.Errorf("%d are counted", s.count)
	}
	if !s.Unsubscribe("junctor://a/r:2") || s.Unsubscribe("junctor://a/r:2") || s.count != 1 {
		t.Errorf("%d are counted", s.count)
	}
	wantURIs(t, s, "r:1")
}

func TestConcurrentSubscriptionsAreKeptOnce(t *testing.T) {
	s, u := NewSet(&recorder{}), named("a")
	changed, err := s.Subscribe("r:1", func() (Subscription, error) {
		subscribe(t, s, u, "r:1")
		return to(u, "r:1")()
	})
	if changed || err != nil || s.count != 1 {
		t.Errorf("%v, %v, %d are counted", changed, err, s.count)
	}
}

func TestSubscriptionsAreBounded(t *testing.T) {
	s, u := NewSet(&recorder{}), named("a")
	for i := range Max - 2 {
		subscribe(t, s, u, fmt.Sprint("r:", i))
	}
	if _, err := s.Listen([]byte("1"), &recorder{}, nil, 3); err != ErrTooMany {
		t.Error(err)
	}
	l, err := s.Listen([]byte("1"), &recorder{}, nil, 2)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Subscribe("r:x", to(u, "r:x")); err != ErrTooMany {
		t.Error(err)
	}
	l.Close()
	if _, err := s.Subscribe("r:x",
		func() (Subscription, error) { return Subscription{}, errors.New("no") }); err == nil {
		t.Error("the error of the server was lost")
	}
	subscribe(t, s, u, "r:x", "r:y")
}

func TestResourceUpdatedNamesTheURIOfTheClient(t *testing.T) {
	out, heard := &recorder{}, &recorder{}
	s, u := NewSet(out), named("a")
	if _, err := s.Subscribe("junctor://a/r%3A1", func() (Subscription, error) {
		return Subscription{Server: "a", Upstream: u, Version: u, URI: "r:1", Requested: "junctor://a/r%3A1"}, nil
	}); err != nil {
		t.Fatal(err)
	}
	l, _ := s.Listen([]byte(`"l"`), heard, nil, 2)
	defer l.Close()
	agreed := l.Subscribe([]string{"r:1", "r:2"}, func(uri string) (Subscription, error) {
		if uri == "r:2" {
			return Subscription{}, errors.New("denied")
		}
		return to(u, uri)()
	})
	if !slices.Equal(agreed, []string{"r:1"}) {
		t.Errorf("agreed to %q", agreed)
	}
	l.Acknowledge([]byte("{}"), is(u))
	heard.messages = nil
	if !s.ResourceUpdated(u, "r:1", []byte(`{"uri":"r:1"}`)) || s.ResourceUpdated(u, "r:3", []byte(`{"uri":"r:3"}`)) ||
		s.ResourceUpdated(named("b"), "r:1", []byte(`{"uri":"r:1"}`)) {
		t.Error("only r:1 of a is subscribed to")
	}
	if got := strings.Join(out.messages, ""); !strings.Contains(got, `{"uri":"junctor://a/r%3A1"}`) {
		t.Error(got)
	}
	if got := strings.Join(heard.messages, ""); strings.Count(got, "uri") != 1 ||
		!strings.Contains(got, `"uri":"r:1"`) ||
		!strings.Contains(got, `"io.modelcontextprotocol/subscriptionId":"l"`) {
		t.Error(got)
	}
}

func TestListChangedReachesRequestsThatWantIt(t *testing.T) {
	s, tools, none := NewSet(&recorder{}), &recorder{}, &recorder{}
	for i, out := range []*recorder{tools, none} {
		l, _ := s.Listen(fmt.Append(nil, i), out, []string{"x/tools", "x/prompts"}[i:i+1], 0)
		l.Acknowledge([]byte("{}"), is(nil))
		out.messages = nil
	}
	s.ListChanged("x/tools")
	if len(tools.messages) != 1 || len(none.messages) != 0 {
		t.Errorf("%v, %v", tools.messages, none.messages)
	}
}

func TestEndListensEndsLaterRequests(t *testing.T) {
	s := NewSet(&recorder{})
	var all []*Listen
	for i := range 2 {
		l, _ := s.Listen(fmt.Append(nil, i), &recorder{}, nil, 0)
		all = append(all, l)
	}
	all[0].Acknowledge([]byte("{}"), is(nil))
	s.EndListens()
	if !all[0].isEnded() || all[1].isEnded() {
		t.Error("only the acknowledged request ends at once")
	}
	if all[1].Acknowledge([]byte("{}"), is(nil)); !all[1].isEnded() {
		t.Error("the later request goes on")
	}
}

func TestReplaceMovesOnlySubscriptionsToTheReplacedServer(t *testing.T) {
	s, before, after, other := NewSet(&recorder{}), named("a"), named("a"), named("b")
	subscribe(t, s, before, "r:1")
	subscribe(t, s, after, "r:2")
	subscribe(t, s, other, "r:3")
	now := func(server string) *upstream.Upstream {
		return map[string]*upstream.Upstream{"a": after, "b": other}[server]
	}
	if uris := s.Replace("a", now); !slices.Equal(uris, []string{"r:1"}) || s.count != 2 {
		t.Errorf("%q are replaced, %d are counted", uris, s.count)
	}
	wantURIs(t, s, "r:1", "r:2", "r:3")
	if uris := s.Replace("a", now); len(uris) > 0 {
		t.Errorf("%q are replaced again", uris)
	}
}

func TestReplaceEndsListenRequests(t *testing.T) {
	before, after := named("a"), named("a")
	for _, early := range []bool{true, false} { // before and after the acknowledgement
		s := NewSet(&recorder{})
		l, _ := s.Listen([]byte("1"), &recorder{}, nil, 1)
		l.Subscribe([]string{"r:1"}, func(uri string) (Subscription, error) { return to(before, uri)() })
		now := before
		if early {
			now = after
			s.Replace("a", is(after))
		}
		if l.Acknowledge([]byte("{}"), is(now)); l.isEnded() != early {
			t.Errorf("replaced before: %v, ended: %v", early, l.isEnded())
		}
		if s.Replace("a", is(after)); !l.isEnded() {
			t.Error("the request goes on at the replaced server")
		}
	}
}

func TestRenewRepeatsUntilTheServerIsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, u := NewSet(&recorder{}), named("a")
		s.Restore([]string{"r:1", "r:2"})
		begun, asked := time.Now(), 0
		gaveUp := s.Renew(t.Context(), []string{"r:1", "r:2"}, func(_ context.Context, uri string) error {
			if uri == "r:2" && time.Since(begun) < 3*time.Second {
				asked++
				return errors.New("away")
			}
			_, err := s.Resubscribe(uri, to(u, uri))
			return err
		})
		if len(gaveUp) > 0 || asked != 2 || time.Since(begun) != 3*time.Second || s.count != 2 {
			t.Errorf("gave up %v, asked %d times in vain for %s, %d are counted",
				gaveUp, asked, time.Since(begun), s.count)
		}
		wantURIs(t, s, "r:1", "r:2")
	})
}

func TestRenewGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewSet(&recorder{})
		s.Restore([]string{"r:1"})
		asked, last := 0, time.Time{}
		gaveUp := s.Renew(t.Context(), []string{"r:1"}, func(context.Context, string) error {
			asked, last = asked+1, time.Now()
			return errors.New("away")
		})
		if !slices.Equal(gaveUp, []string{"r:1"}) || asked != renewals || !time.Now().Equal(last) {
			t.Errorf("gave up on %q after %d attempts, %s after the last one", gaveUp, asked, time.Since(last))
		}
		wantURIs(t, s)
	})
}

func TestUnsubscribeEndsRenewal(t *testing.T) {
	s, u := NewSet(&recorder{}), named("a")
	s.Restore([]string{"r:1", "junctor://a/r:2"})
	s.Renew(t.Context(), []string{"r:1", "junctor://a/r:2"}, func(_ context.Context, uri string) error {
		_, err := s.Resubscribe(uri, func() (Subscription, error) {
			if !s.Unsubscribe(uri) {
				t.Errorf("%s was not to be renewed", uri)
			}
			return to(u, uri)()
		})
		return err
	})
	wantURIs(t, s)
	if s.count != 0 {
		t.Errorf("%d are counted", s.count)
	}
}

func TestRemoveAllEndsCount(t *testing.T) {
	s, u := NewSet(&recorder{}), named("a")
	for _, uri := range []string{"r:1", "r:2"} {
		if _, err := s.Subscribe(uri, to(u, uri)); err != nil {
			t.Fatal(err)
		}
	}
	if removed := s.RemoveAll(); len(removed) != 2 || s.Count() != 0 {
		t.Errorf("%d subscriptions were removed, %d are counted", len(removed), s.Count())
	}
}
