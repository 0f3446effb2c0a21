package wire

import (
	"context"
	"fmt"

	"github.com/junctor-mcp/junctor/sdk"
)

// A listener belongs to the capability that opened it.
type listener struct {
	sdk.Callback
	capability string
}

// CallbackOpen opens a loopback listener.
func (h *HostControl) CallbackOpen(a CallbackArgs, r *CallbackReply) error {
	r.Status = h.person(a.Call, a.Capability, func(ctx context.Context, p sdk.Person) error {
		h.sweep()
		c, err := p.Callback(ctx, a.Path)
		if err != nil {
			return err
		}
		if r.Handle, err = h.keep(ctx, listener{c, a.Capability}); err != nil {
			_ = c.Close()
			return err
		}
		r.URL = c.URL()
		return nil
	})
	return nil
}

// keep takes note of a listener, unless nobody would ever close it.
func (h *HostControl) keep(ctx context.Context, l listener) (handle string, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case len(h.callbacks) >= callbacksMost:
		return "", sdk.Errorf(sdk.Unavailable, "%d listeners are open already", callbacksMost)
	}
	h.next++
	handle = fmt.Sprint(h.next)
	h.callbacks[handle] = l
	return handle, nil
}

// sweep closes listeners that a login left behind: there are few ports for them,
// and whoever had the capability is gone.
func (h *HostControl) sweep() {
	var left []listener
	h.mu.Lock()
	for handle, l := range h.callbacks {
		if _, granted := h.granter.Grant(l.capability); !granted {
			left = append(left, l)
			delete(h.callbacks, handle)
		}
	}
	h.mu.Unlock()
	for _, l := range left {
		_ = l.Close()
	}
}

// callback returns a listener to whoever opened it.
func (h *HostControl) callback(a CallbackArgs) (sdk.Callback, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if l, ok := h.callbacks[a.Handle]; ok && l.capability == a.Capability {
		return l.Callback, nil
	}
	return nil, sdk.Errorf(sdk.Unavailable, "the listener is not open")
}

// CallbackWait waits for a redirect.
func (h *HostControl) CallbackWait(a CallbackArgs, r *CallbackReply) error {
	r.Status = h.person(a.Call, a.Capability, func(ctx context.Context, _ sdk.Person) error {
		c, err := h.callback(a)
		if err != nil {
			return err
		}
		r.Query, err = c.Wait(ctx)
		return err
	})
	return nil
}

// CallbackClose closes a listener. Nothing more has to be granted for that: a
// login that was given up closes its listener when the capability is no more.
func (h *HostControl) CallbackClose(a CallbackArgs, r *Reply) error {
	r.Status = h.calls.do(a.Call, func(context.Context) error {
		c, err := h.callback(a)
		if err != nil {
			return nil
		}
		h.mu.Lock()
		delete(h.callbacks, a.Handle)
		h.mu.Unlock()
		return c.Close()
	})
	return nil
}
