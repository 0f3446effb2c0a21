package config

import (
	"fmt"
	"net/url"
	"slices"

	"github.com/junctor-mcp/junctor/host/config/inbound"
	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/loopback"
)

// A Notify is the notify block: where notices about events are sent. Package host reads it
// (host/notices.go); package host/notify sends the notices.
type Notify struct {
	Webhook      string       `hcl:"webhook" secret:"true" accepts:"a URL" doc:"The URL of the receiver: 'https', or 'http' on this machine. It may come from 'env()' or 'file()'; only its origin is printed." json:"-"`
	Origin       string       // of Webhook, for messages
	Secret       string       `hcl:"secret" secret:"late" accepts:"at least 16 bytes" doc:"The key of the signatures, with 'keyring()', 'env()' or 'file()'." json:"-"`
	Late         bool         `json:",omitempty"` // Secret contains keyring(); Config.ResolveNotify completes it
	Events       notifyEvents `hcl:"events" words:"approval,approval_decided,quarantine,tools_changed,login_failed,server_down" unset:"all" doc:"The events to send."`
	AllowPrivate bool         `hcl:"allow_private" doc:"Lets the name of the host lead to an address that is not public." json:",omitempty"`
	At           source.Position
	Layer        int `json:",omitempty"` // as Server.Layer
}

// String names the origin of the webhook instead of the secret, so that no log prints it.
func (n Notify) String() string { return "notices to " + n.Origin }

// GoString is String.
func (n Notify) GoString() string { return n.String() }

const (
	leastNotifySecret = 16 // bytes; a shorter secret can be guessed
	maxNotifySecret   = 4096
	maxWebhook        = 2048 // bytes
)

// readNotify reads the notify block. It returns nil without one.
func readNotify(of *scope) *Notify {
	r, found := of.only(of.top["notify"])
	if !found {
		return nil
	}
	n := &Notify{Layer: of.layer}
	language.Decode(r.Reader, n)
	return n
}

// Validate implements [language.Validator].
func (n *Notify) Validate(r language.Reader) {
	n.At = source.StartOf(r.Head)
	n.checkWebhook(r)
	if r.IsSet("secret") {
		inbound.ReadCredential(r, "secret", "JUNCTOR_NOTIFY_SECRET", notifySecretProblem)
		n.Late = r.Host.IsLate(n.Secret)
	}
}

// checkWebhook checks the URL of the webhook.
func (n *Notify) checkWebhook(r language.Reader) {
	if !r.IsRead("webhook") {
		return
	}
	at := r.ValueAt("webhook", r.Head)
	u, err := url.Parse(n.Webhook)
	switch {
	case err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.User != nil ||
		u.Fragment != "" || len(n.Webhook) > maxWebhook:
		r.ErrorAt(at, `write the URL of the receiver, such as "https://alerts.example.com/junctor"`,
			`"webhook" must begin with https:// and have a host, without a user and a fragment, in at most %d bytes`,
			maxWebhook)
	case u.Scheme == "http" && !loopback.Is(u.Hostname()):
		r.ErrorAt(at, "use https://", `"webhook" may begin with http:// only for a receiver on this machine`)
	default:
		n.Origin = u.Scheme + "://" + u.Host
	}
}

// Public adds the origin of the webhook.
func (n *Notify) Public(settings map[string]any) { settings["webhook"] = n.Origin }

// NotifyEvents returns the events that a notify block can name.
func NotifyEvents() []string { return language.FormOf[Notify]().Entry("events").Values.Words }

// notifyEvents are the events that are sent: all, or those of a list.
type notifyEvents []string

// ReadSetting implements [language.Setting].
func (l *notifyEvents) ReadSetting(r language.Reader, name string) {
	items := r.Texts(name)
	if items == nil {
		*l = NotifyEvents()
		return
	}
	if len(items) == 0 {
		r.ErrorAt(r.ValueAt(name, r.Head), "name an event, or remove the block", "%q is empty", name)
	}
	*l = notifyEvents{}
	for _, e := range items {
		switch {
		case !slices.Contains(NotifyEvents(), e.Text):
			r.ErrorAt(e.At, language.DidYouMean(e.Text, NotifyEvents()), "there is no event %q", e.Text)
		case slices.Contains(*l, e.Text):
			r.ErrorAt(e.At, "remove one of them", "the event %q is listed twice", e.Text)
		default:
			*l = append(*l, e.Text)
		}
	}
}

// notifySecretProblem returns what is wrong with a secret for signatures, or "" for a valid
// one.
func notifySecretProblem(secret string) string {
	switch {
	case len(secret) < leastNotifySecret:
		return fmt.Sprintf("is shorter than %d bytes, so it can be guessed", leastNotifySecret)
	case len(secret) > maxNotifySecret:
		return fmt.Sprintf("is longer than %d bytes", maxNotifySecret)
	}
	return ""
}

// ResolveNotify is Resolve for the secret of the notify block. It fails if the result is not
// a valid secret.
func (c *Config) ResolveNotify(lookup func(name string) (string, error)) (string, error) {
	n := c.Notify
	secret, err := c.keyring.Substitute(n.Secret, lookup)
	if err != nil {
		return "", err
	}
	if why := notifySecretProblem(secret); why != "" {
		return "", &fault.Error{Code: fault.ConfigInvalid, At: n.At.String(),
			Message: "the secret of the notify block " + why, Hint: inbound.TokenHint}
	}
	return secret, nil
}
