package config

import (
	"fmt"
	"net/url"
	"slices"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

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

var notifyForm = form{entries: []entry{
	{name: "webhook", values: texts("a URL"), required: true, private: true, doc: "The URL of the receiver: `https`, or `http` on this machine. It may come from `env()` or `file()`; only its origin is printed."},
	{name: "secret", values: texts("at least 16 bytes"), required: true, private: true, doc: "The key of the signatures, with `keyring()`, `env()` or `file()`."},
	{name: "events", values: wordLists(NotifyEvents...), unset: "all", doc: "The events to send."},
	{name: "allow_private", values: booleans, unset: "`false`", doc: "Lets the name of the host lead to an address that is not public."},
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
		l.openBlock(b, "").duplicate(b.TypeRange, blocks[0].TypeRange, "block %q", b.Type)
	}
	r := l.openBlock(blocks[0], "")
	r.check(notifyForm)
	n := &Notify{At: startOf(r.head), Layer: l.layer, AllowPrivate: r.boolean("allow_private", false)}
	n.Webhook, n.Origin = r.webhook()
	if r.isSet("secret") {
		n.Secret = r.credential("secret", "JUNCTOR_NOTIFY_SECRET", notifySecretProblem)
		n.Late = r.keyring.contains(n.Secret)
	} else {
		r.reportMissing("secret", r.head)
	}
	n.Events = r.notifyEvents()
	return n
}

// webhook reads the URL of the webhook and returns it with its origin.
func (r blockReader) webhook() (address, origin string) {
	v, a, set := r.value("webhook", cty.String)
	if !set {
		if !r.isSet("webhook") {
			r.reportMissing("webhook", r.head)
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
		r.errorAt(a.Expr.Range(), `write the URL of the receiver, such as "https://alerts.example.com/junctor"`,
			`"webhook" must begin with https:// and have a host, without a user and a fragment, in at most %d bytes`, maxWebhook)
		return "", ""
	case u.Scheme == "http" && !loopback.Is(u.Hostname()):
		r.errorAt(a.Expr.Range(), "use https://", `"webhook" may begin with http:// only for a receiver on this machine`)
		return "", ""
	}
	return text, u.Scheme + "://" + u.Host
}

// notifyEvents reads the events. Without the attribute it returns all of them.
func (r blockReader) notifyEvents() []string {
	items := r.publicStrings("events")
	if items == nil {
		return slices.Clone(NotifyEvents)
	}
	if len(items) == 0 {
		r.errorAt(r.body.Attributes["events"].Expr.Range(), "name an event, or remove the block", `"events" is empty`)
	}
	events := []string{}
	for _, e := range items {
		switch {
		case !slices.Contains(NotifyEvents, e.text):
			r.errorAt(e.at, didYouMean(e.text, NotifyEvents), "there is no event %q", e.text)
		case slices.Contains(events, e.text):
			r.errorAt(e.at, "remove one of them", "the event %q is listed twice", e.text)
		default:
			events = append(events, e.text)
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
