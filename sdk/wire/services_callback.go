package wire

import (
	"context"
	"fmt"

	"github.com/junctor-mcp/junctor/sdk"
)

// A listener is a callback listener and the capability that opened it. Other
// capabilities cannot use it.
type listener struct {
	sdk.Callback
	capability string
}

// CallbackOpen opens a loopback listener.
func (h *HostControl) CallbackOpen(a CallbackArgs, r *CallbackReply) error {
	r.Status = h.person(a.Call, a.Capability, func(ctx context.Context, p sdk.Person) error {
		h.closeRevoked()
		c, err := p.Callback(ctx, a.Path)
		if err != nil {
			return err
		}
		if r.Handle, err = h.addListener(ctx, listener{c, a.Capability}); err != nil {
			_ = c.Close()
			return err
		}
		r.URL = c.URL()
		return nil
	})
	return nil
}

// addListener stores a new listener and returns its handle. It fails if the call was
// cancelled, because the plugin would never close the listener.
func (h *HostControl) addListener(ctx context.Context, l listener) (handle string, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case len(h.callbacks) >= maxCallbacks:
		return "", sdk.Errorf(sdk.Unavailable, "limit reached: %d callback listeners are open", maxCallbacks)
	}
	h.next++
	handle = fmt.Sprint(h.next)
	h.callbacks[handle] = l
	return handle, nil
}

// closeRevoked closes listeners whose capability was revoked. Few ports are available
// for listeners.
func (h *HostControl) closeRevoked() {
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

// callback returns the listener of a.Handle if a.Capability opened it.
func (h *HostControl) callback(a CallbackArgs) (sdk.Callback, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if l, ok := h.callbacks[a.Handle]; ok && l.capability == a.Capability {
		return l.Callback, nil
	}
	return nil, sdk.Errorf(sdk.Unavailable, "the callback listener is not open")
}

// CallbackWait waits for the redirect.
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

// CallbackClose closes a loopback listener. It works after the capability was
// revoked, so that a plugin can clean up after a login that was given up.
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
