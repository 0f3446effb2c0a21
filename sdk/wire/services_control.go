package wire

import (
	"context"
	"sync"

	"github.com/junctor-mcp/junctor/sdk"
)

// A Granter returns the services that a capability grants, and false for an
// unknown capability. A service that is nil is not granted.
type Granter interface {
	Grant(capability string) (sdk.Host, bool)
}

// HostControl holds the methods that a plugin calls. serveHost makes one for each plugin process. net/rpc
// calls the methods concurrently. Their names and arguments are the protocol.
type HostControl struct {
	granter Granter
	calls   calls

	mu        sync.Mutex
	callbacks map[string]listener // guarded by mu
	next      int                 // guarded by mu
}

// Limits for one plugin.
const (
	maxCallbacks    = 16 // open callback listeners
	maxPromptFields = 32 // fields of a prompt
)

// granted calls f with the services that the capability grants.
func (h *HostControl) granted(call Call, capability string, f func(context.Context, sdk.Host) error) Status {
	return h.calls.do(call, func(ctx context.Context) error {
		host, ok := h.granter.Grant(capability)
		if !ok {
			return sdk.Errorf(sdk.Denied, "unknown capability")
		}
		return f(ctx, host)
	})
}

// notOffered returns the error for a service that the capability does not grant.
func notOffered(service string) error {
	return sdk.Errorf(sdk.Unimplemented, "the host does not offer %s here", service)
}

func (h *HostControl) secrets(call Call, capability string, f func(context.Context, sdk.Secrets) error) Status {
	return h.granted(call, capability, func(ctx context.Context, host sdk.Host) error {
		if host.Secrets == nil {
			return notOffered("secrets")
		}
		return f(ctx, host.Secrets)
	})
}

// SecretGet returns a secret.
func (h *HostControl) SecretGet(a SecretArgs, r *SecretReply) error {
	r.Status = h.secrets(a.Call, a.Capability, func(ctx context.Context, s sdk.Secrets) (err error) {
		r.Value, r.Found, err = s.Secret(ctx, a.Key)
		return err
	})
	return nil
}

// SecretSet stores a secret.
func (h *HostControl) SecretSet(a SecretArgs, r *Reply) error {
	r.Status = h.secrets(a.Call, a.Capability, func(ctx context.Context, s sdk.Secrets) error {
		if err := checkValue(a.Value); err != nil {
			return err
		}
		return s.SetSecret(ctx, a.Key, a.Value, a.Label)
	})
	return nil
}

// SecretDelete removes a secret.
func (h *HostControl) SecretDelete(a SecretArgs, r *Reply) error {
	r.Status = h.secrets(a.Call, a.Capability, func(ctx context.Context, s sdk.Secrets) error {
		return s.DeleteSecret(ctx, a.Key)
	})
	return nil
}

func (h *HostControl) person(call Call, capability string, f func(context.Context, sdk.Person) error) Status {
	return h.granted(call, capability, func(ctx context.Context, host sdk.Host) error {
		if host.Person == nil {
			return notOffered("a person")
		}
		return f(ctx, host.Person)
	})
}

// OpenURL shows a page to the user.
func (h *HostControl) OpenURL(a OpenURLArgs, r *Reply) error {
	r.Status = h.person(a.Call, a.Capability, func(ctx context.Context, p sdk.Person) error {
		return p.OpenURL(ctx, a.URL, a.Why)
	})
	return nil
}

// Prompt shows a form to the user.
func (h *HostControl) Prompt(a PromptArgs, r *PromptReply) error {
	r.Status = h.person(a.Call, a.Capability, func(ctx context.Context, p sdk.Person) (err error) {
		if len(a.Labels) != len(a.Names) || len(a.Hidden) != len(a.Names) || len(a.Names) > maxPromptFields {
			return sdk.Errorf(sdk.Internal,
				"invalid prompt: names, labels and hidden differ in number, or there are more than %d fields",
				maxPromptFields)
		}
		prompt := sdk.Prompt{Title: a.Title}
		for i, name := range a.Names {
			prompt.Fields = append(prompt.Fields, sdk.PromptField{Name: name, Label: a.Labels[i], Secret: a.Hidden[i]})
		}
		r.Answers, err = p.Prompt(ctx, prompt)
		return err
	})
	return nil
}

// Authorize returns a credential for a transport.
func (h *HostControl) Authorize(a AuthorizeArgs, r *AuthorizeReply) error {
	r.Status = h.granted(a.Call, a.Capability, func(ctx context.Context, host sdk.Host) error {
		if host.Credentials == nil {
			return notOffered("credentials")
		}
		c, err := host.Credentials.Authorize(ctx, a.request())
		r.set(c)
		return err
	})
	return nil
}

// Challenge reports a rejected credential.
func (h *HostControl) Challenge(a ChallengeArgs, r *ChallengeReply) error {
	r.Status = h.granted(a.Call, a.Capability, func(ctx context.Context, host sdk.Host) error {
		if host.Credentials == nil {
			return notOffered("credentials")
		}
		res, err := host.Credentials.Challenge(ctx, a.challenge())
		r.set(res)
		return err
	})
	return nil
}

// Event reports an event to the host.
func (h *HostControl) Event(a EventArgs, r *Reply) error {
	r.Status = h.granted(a.Call, a.Capability, func(ctx context.Context, host sdk.Host) error {
		if host.Events == nil {
			return nil
		}
		return host.Events.Event(ctx, a.Name, a.Detail)
	})
	return nil
}

// Cancel cancels another call.
func (h *HostControl) Cancel(a CancelArgs, _ *Reply) error {
	h.calls.cancel(a.ID)
	return nil
}
