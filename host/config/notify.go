package config

import (
	"fmt"
	"net/url"
	"slices"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/loopback"
)

// NotifyEvents are the events that a notify block can name.
var NotifyEvents = []string{"approval", "approval_decided", "quarantine", "tools_changed", "login_failed", "server_down"}

// A Notify is the notify block: where notices about events are sent.
type Notify struct {
	Webhook      string `json:"-"` // the URL; its path may be a secret
	Origin       string // of Webhook, for messages
	Secret       string `json:"-"`          // for signatures
	Late         bool   `json:",omitempty"` // Secret contains keyring(); Config.ResolveNotify completes it
	Events       []string
	AllowPrivate bool `json:",omitempty"` // the webhook's host may lead to an address that is not public
	At           Position
	Layer        int `json:",omitempty"` // as Server.Layer
}

// String names the origin of the webhook instead of the secret, so that no log prints it.
func (n Notify) String() string { return "notices to " + n.Origin }

// GoString is String.
func (n Notify) GoString() string { return n.String() }

var notifyForm = language.Form{Entries: []language.Entry{
	{Name: "webhook", Values: language.Texts("a URL"), Required: true, Private: true, Doc: "The URL of the receiver: `https`, or `http` on this machine. It may come from `env()` or `file()`; only its origin is printed."},
	{Name: "secret", Values: language.Texts("at least 16 bytes"), Required: true, Private: true, Doc: "The key of the signatures, with `keyring()`, `env()` or `file()`."},
	{Name: "events", Values: language.WordLists(NotifyEvents...), Unset: "all", Doc: "The events to send."},
	{Name: "allow_private", Values: language.Booleans, Unset: "`false`", Doc: "Lets the name of the host lead to an address that is not public."},
}}

const (
	leastNotifySecret = 16 // bytes; a shorter secret can be guessed
	mostNotifySecret  = 4096
	maxWebhook        = 2048 // bytes
)

// notify reads the notify block. It returns nil without one.
func (l *loader) notify(blocks []*hclsyntax.Block) *Notify {
	if len(blocks) == 0 {
		return nil
	}
	for _, b := range blocks[1:] {
		l.openBlock(b, "").Duplicate(b.TypeRange, blocks[0].TypeRange, "block %q", b.Type)
	}
	r := l.openBlock(blocks[0], "")
	r.Check(&notifyForm)
	n := &Notify{At: startOf(r.Head), Layer: l.layer, AllowPrivate: r.Boolean("allow_private", false)}
	n.Webhook, n.Origin = r.webhook()
	if r.IsSet("secret") {
		n.Secret = r.credential("secret", "JUNCTOR_NOTIFY_SECRET", notifySecretProblem)
		n.Late = r.keyring.contains(n.Secret)
	} else {
		r.ReportMissing("secret", r.Head)
	}
	n.Events = r.notifyEvents()
	return n
}

// webhook reads the URL of the webhook and returns it with its origin.
func (r blockReader) webhook() (address, origin string) {
	v, a, set := r.Value("webhook", cty.String)
	if !set {
		if !r.IsSet("webhook") {
			r.ReportMissing("webhook", r.Head)
		}
		return "", ""
	}
	v, marks := v.Unmark()
	text := v.AsString()
	if len(marks) > 0 {
		r.secrets = append(r.secrets, text)
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.User != nil || u.Fragment != "" || len(text) > maxWebhook:
		r.ErrorAt(a.Expr.Range(), `write the URL of the receiver, such as "https://alerts.example.com/junctor"`,
			`"webhook" must begin with https:// and have a host, without a user and a fragment, in at most %d bytes`, maxWebhook)
		return "", ""
	case u.Scheme == "http" && !loopback.Is(u.Hostname()):
		r.ErrorAt(a.Expr.Range(), "use https://", `"webhook" may begin with http:// only for a receiver on this machine`)
		return "", ""
	}
	return text, u.Scheme + "://" + u.Host
}

// notifyEvents reads the events. Without the attribute it returns all of them.
func (r blockReader) notifyEvents() []string {
	items := r.Texts("events")
	if items == nil {
		return slices.Clone(NotifyEvents)
	}
	if len(items) == 0 {
		r.ErrorAt(r.Body.Attributes["events"].Expr.Range(), "name an event, or remove the block", `"events" is empty`)
	}
	events := []string{}
	for _, e := range items {
		switch {
		case !slices.Contains(NotifyEvents, e.Text):
			r.ErrorAt(e.At, language.DidYouMean(e.Text, NotifyEvents), "there is no event %q", e.Text)
		case slices.Contains(events, e.Text):
			r.ErrorAt(e.At, "remove one of them", "the event %q is listed twice", e.Text)
		default:
			events = append(events, e.Text)
		}
	}
	return events
}

// notifySecretProblem returns what is wrong with a secret for signatures, or "" for a valid
// one.
func notifySecretProblem(secret string) string {
	switch {
	case len(secret) < leastNotifySecret:
		return fmt.Sprintf("is shorter than %d bytes, so it can be guessed", leastNotifySecret)
	case len(secret) > mostNotifySecret:
		return fmt.Sprintf("is longer than %d bytes", mostNotifySecret)
	}
	return ""
}

// ResolveNotify is Resolve for the secret of the notify block. It fails if the result is not
// a valid secret.
func (c *Config) ResolveNotify(lookup func(name string) (string, error)) (string, error) {
	n := c.Notify
	secret, err := c.keyring.substitute(n.Secret, lookup, func(secret string) string { return secret })
	if err != nil {
		return "", err
	}
	if why := notifySecretProblem(secret); why != "" {
		return "", &fault.Error{Code: fault.ConfigInvalid, At: n.At.String(), Message: "the secret of the notify block " + why, Hint: tokenHint}
	}
	return secret, nil
}
