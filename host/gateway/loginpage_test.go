package gateway

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/junctor-mcp/junctor/host/authn"
)

// A login is one that a scripted server needs.
type login struct {
	url  string        // of its page; empty: there is none
	done chan struct{} // closed when it has ended
	good atomic.Bool
}

func (d *fixture) login(_ context.Context, server string, _ authn.Principal) (Page, bool) {
	l := d.fakes[server].login
	return Page{ID: "p1", URL: l.url, Wait: l.wait}, l.url != ""
}

func (l *login) wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-l.done:
	}
	if !l.good.Load() {
		return errors.New("the login was declined")
	}
	return nil
}

func (d *fixture) endLogin(f *fake, how string) {
	f.login.good.Store(how == "good")
	d.Retry(f.name)
	close(f.login.done)
}
