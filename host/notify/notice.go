// Package notify sends notices about events to a webhook.
//
// A notice is a POST request with a JSON body, a [Notice]. Its headers have the id of the
// notice, the time of the attempt in Unix seconds, and a signature:
//
//	Junctor-Notice: 0r4k…
//	Junctor-Timestamp: 1764089776
//	Junctor-Signature: v1=HEX
//
// HEX is the HMAC-SHA-256 of the timestamp, a dot and the body, under the shared secret. A
// receiver refuses a timestamp that is more than [Window] from its own clock. A notice that
// is sent again keeps its id and has a new timestamp. The signature covers the id in the body
// and not the one in the header, so receivers tell repeated notices by that in the body.
//
// A notice has names and ids only: never arguments, results or secrets.
//
// Package host makes one Notifier for a process, sets the webhook at each reload, and closes
// it. Its methods may be called concurrently and do not wait, but for Close. One goroutine
// sends. notifier.go has the queue, receiver.go one webhook, and outages.go what was told
// already. The JSON of a Notice and the headers are what receivers read: they must stay, and
// members are added only.
package notify

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/host/truncate"
)

// Window is the greatest difference between the timestamp of a notice and the clock of its
// receiver.
const Window = 5 * time.Minute

// The headers of a notice.
const (
	HeaderID        = "Junctor-Notice"
	HeaderTimestamp = "Junctor-Timestamp"
	HeaderSignature = "Junctor-Signature"
)

// An Event is a kind of event.
type Event string

// The events.
const (
	Approval Event = "approval" // a call waits for an approval
	// ApprovalDecided: it was approved or denied, or that was revoked, or it was not answered
	// in time.
	ApprovalDecided Event = "approval_decided"
	Quarantine      Event = "quarantine"    // a plugin crashed too often and is not started for a time
	ToolsChanged    Event = "tools_changed" // a server offers other tools than before
	LoginFailed     Event = "login_failed"  // a server needs a login, or refuses its credential
	ServerDown      Event = "server_down"   // a connection ended, or an attempt to connect failed
)

// A Notice is the body of a request. Fields without a meaning for an event are absent. It does
// not change once it was sent.
type Notice struct {
	Version int       `json:"version"` // 1
	ID      string    `json:"id"`
	Time    time.Time `json:"time"`
	Event   Event     `json:"event"`
	Host    string    `json:"host"` // of Junctor
	PID     int       `json:"pid"`

	Server   string     `json:"server,omitempty"`
	Plugin   string     `json:"plugin,omitempty"`
	Code     string     `json:"code,omitempty"` // of the error; see docs/errors.md
	Tenant   string     `json:"tenant,omitempty"`
	Subject  string     `json:"subject,omitempty"`
	Kind     string     `json:"kind,omitempty"` // of the item
	Item     string     `json:"item,omitempty"`
	Rule     string     `json:"rule,omitempty"`     // with its place
	Approval string     `json:"approval,omitempty"` // id for `junctor approvals`
	State    string     `json:"state,omitempty"`    // of the approval: approved, denied, revoked or expired
	By       string     `json:"by,omitempty"`       // who decided
	Expires  *time.Time `json:"expires,omitempty"`  // of the approval

	Added   []string `json:"added,omitempty"` // tools, at most MaxNames of each list
	Removed []string `json:"removed,omitempty"`
	Changed []string `json:"changed,omitempty"`
	Held    []string `json:"held,omitempty"` // tools that are held back

	// Repeats counts the equal notices that were not sent, because this one was due.
	Repeats int `json:"repeats,omitempty"`
	// Lost counts the notices that were lost since the last one that arrived.
	Lost int `json:"lost,omitempty"`
}

// MaxNames is the largest number of names in a list of a notice.
const MaxNames = 50

// maxName is the longest name in a notice, in bytes.
const maxName = 256

// Sign returns the value of [HeaderSignature] for a body that is sent at a time.
func Sign(secret []byte, timestamp string, body []byte) string {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(timestamp))
	mac.Write([]byte{'.'})
	mac.Write(body)
	return "v1=" + hex.EncodeToString(mac.Sum(nil))
}

// bound shortens the texts that clients and servers choose.
func (n *Notice) bound() {
	for _, text := range []*string{&n.Server, &n.Plugin, &n.Tenant, &n.Subject, &n.Item, &n.Rule} {
		*text = shorten(*text)
	}
	for _, list := range []*[]string{&n.Added, &n.Removed, &n.Changed, &n.Held} {
		short := make([]string, 0, min(len(*list), MaxNames))
		for _, name := range (*list)[:min(len(*list), MaxNames)] {
			short = append(short, shorten(name))
		}
		*list = short
	}
}

func shorten(text string) string { return truncate.Bytes(strings.ToValidUTF8(text, "\uFFFD"), maxName) }
