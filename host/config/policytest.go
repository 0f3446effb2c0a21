package config

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/policy"
)

// A PolicyTest is a test block: what a principal may do. testblock.go reads it from the file, and
// package host/policy/check runs it for "junctor test".
type PolicyTest struct {
	Name      string
	Principal authn.Principal
	Request   TestedRequest `json:",omitzero"`
	Uses      []TestedUse
	At        source.Position
}

// A TestedRequest is where and when the uses of a test come from.
type TestedRequest struct {
	From  string    `json:",omitempty"` // address; "local" without the attribute
	Named string    `json:",omitempty"` // name of the client
	Time  time.Time `json:",omitzero"`  // zero: now
}

// Address implements [condition.Request].
func (t TestedRequest) Address() string { return cmp.Or(t.From, "local") }

// Client implements [condition.Request].
func (t TestedRequest) Client() string { return t.Named }

// RequestTimes are the layouts of a time of a request.
var RequestTimes = []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04"}

// ParseRequestTime reads a time. A zone of nil is that of the machine.
func ParseRequestTime(text string, zone *time.Location) (at time.Time, err error) {
	if zone == nil {
		zone = time.Local
	}
	for _, layout := range RequestTimes {
		if at, err = time.ParseInLocation(layout, text, zone); err == nil {
			return at, nil
		}
	}
	return at, fmt.Errorf("%q is no time such as 2026-03-01T22:30", text)
}

// A TestedUse is a call, read or prompt block of a test.
type TestedUse struct {
	Item      policy.Item
	Arguments json.RawMessage `json:",omitempty"` // of a call; nil: it is about the list
	Expect    string          // a word of policy.Verdict: allowed, denied, confirm, or depends without arguments
	At        source.Position
}
