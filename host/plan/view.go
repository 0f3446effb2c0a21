// Package plan compares two views of a configuration.
//
// A [View] says what clients see of a configuration: its servers, the items that they list,
// and the decision of the policy about each item for each principal that the configuration
// names. It holds digests in place of texts and settings, and nothing of a secret. [Diff]
// returns the changes from one view to another. Package host builds views; this package
// contacts nothing.
//
// view.go is the view, file.go its JSON, diff.go and decisions.go compare, and changes.go is the
// result.
//
// The verb plan and package changes compare views, also one that a running process sends over its
// control socket. Diff is pure. A View is built by one goroutine and then only read. Users keep
// views in files and scripts read the JSON of changes: a renamed member breaks them.
package plan

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/lazyregexp"
)

// Format is the version of the JSON form of a view.
const Format = 1

// The limits of a view. A view says in LeftOut how many items exceed them.
const (
	MaxItems = 100_000
	// MaxCells bounds the items times the principals: each needs a decision.
	MaxCells = 4_000_000
	// MaxBytes bounds the JSON form, and MaxFile the one with spaces of Encode.
	MaxBytes = 64 << 20
	MaxFile  = 4 * MaxBytes
)

// itemBytes is the part of MaxBytes for items and decisions. The rest is for servers,
// principals and rules, which the configuration bounds.
const itemBytes = MaxBytes / 4 * 3

// A View is what clients see of a configuration. Its lists are sorted, so that equal
// configurations have equal JSON forms.
type View struct {
	Format  int      `json:"junctor_view"`
	Servers []Server `json:"servers"`
	// Blocks has the settings of blocks about the whole process: the digest by block and
	// name. It is nil in a file of an earlier version, and is not compared then.
	Blocks map[string]map[string]string `json:"blocks"`
	// Unread names blocks that could not be read as a whole, and are not compared.
	Unread     []string `json:"unread,omitempty"`
	Principals []string `json:"principals"`
	Rules      []string `json:"rules"` // of the policy, in words and without places
	// Decisions holds the decisions about items by Item.Decided: many items share them.
	Decisions map[string]Decisions `json:"decisions"`
	Items     []Item               `json:"items"`
	// LeftOut counts the items that exceed a limit. They are the last ones in the order
	// of items.
	LeftOut int `json:"left_out,omitempty"`

	bytes int               // of the JSON form of items and decisions
	keys  map[string]string // of Decisions, by the digest of their JSON form
	taken map[string]int    // how many keys begin with a digest
}

// The states of the lists of a server.
const (
	Known   = "known"
	Partial = "partial" // the server is still discovering its tools
	Unknown = "unknown" // the server was not asked yet
)

// A Server is a server block.
type Server struct {
	Name    string `json:"server"`
	Enabled bool   `json:"enabled"`
	Blocked string `json:"blocked,omitempty"` // why the managed configuration does not allow it
	Lists   string `json:"lists,omitempty"`   // of an enabled server: Known, Partial or Unknown
	// Fingerprint is the digest of the settings of the transport and the auth provider,
	// without secrets.
	Fingerprint string            `json:"fingerprint,omitempty"`
	Settings    map[string]string `json:"settings,omitempty"` // digest by name
}

// An Item is a tool, resource, template or prompt. Server, Kind and Name identify it.
type Item struct {
	Server  string `json:"server"`
	Kind    string `json:"kind"`    // tool, resource, template or prompt
	Name    string `json:"item"`    // the server's name
	Exposed string `json:"name"`    // the name for clients
	Access  string `json:"access"`  // read, write or ambiguous
	Tokens  int    `json:"tokens"`  // estimated, of its entry in a list
	Decided string `json:"decided"` // see View.Decisions

	Description string `json:"description"` // digest
	Schema      string `json:"schema"`      // digest of the input schema or the arguments
	Entry       string `json:"entry"`       // digest of the entry in a list, without its name
}

// Decisions are the decisions about an item by principal.
type Decisions map[string]Decision

// A Decision is that of the policy about an item in a list.
type Decision struct {
	Decision string `json:"decision"` // allowed, denied, confirm or depends, as in junctor why
	Rule     string `json:"rule"`     // with its place in the configuration if it has one
	Approval string `json:"approval,omitempty"`
}

// Denied is the decision about an item that a client does not see.
const Denied = "denied"

// Lists reports whether lists show the item.
func (d Decision) Lists() bool { return d.Decision != Denied && d.Decision != "" }

// same reports whether two decisions mean the same to a client. The place of the rule does
// not matter.
func (d Decision) same(other Decision) bool {
	return d.Decision == other.Decision && d.Approval == other.Approval
}

// New returns a view without items. It sorts the lists.
func New(servers []Server, principals, rules []string) *View {
	servers, principals, rules = slices.Clone(servers), slices.Clone(principals), slices.Clone(rules)
	slices.SortFunc(servers, compareServers)
	slices.Sort(principals)
	slices.Sort(rules)
	return &View{
		Format: Format, Servers: append([]Server{}, servers...),
		Principals: append([]string{}, principals...), Rules: append([]string{}, rules...),
		Decisions: map[string]Decisions{}, Items: []Item{}, keys: map[string]string{}, taken: map[string]int{},
	}
}

// Fits reports whether the limits leave room for a further item.
func (v *View) Fits() bool {
	return v.LeftOut == 0 && len(v.Items) < MaxItems && (len(v.Items)+1)*max(1, len(v.Principals)) <= MaxCells &&
		v.bytes < itemBytes
}

// Add adds an item, which must be in the order of [CompareItems]. The caller asks Fits
// first, and counts the other items in LeftOut.
func (v *View) Add(it Item, decided Decisions) {
	text := jsonOf(decided) // with sorted names
	exact := DigestOf(text)
	key, known := v.keys[exact]
	if !known {
		key = v.newKey(text)
		v.keys[exact], v.Decisions[key] = key, decided
		v.bytes += len(text) + len(key)
	}
	it.Decided = key
	v.bytes += len(jsonOf(it))
	v.Items = append(v.Items, it)
}

// lineAndColumn matches the end of a place in the configuration.
var lineAndColumn = lazyregexp.New(`:[0-9]+:[0-9]+`)

// newKey returns a key for decisions with a JSON form. It does not depend on the lines of
// rules, so that a rule that moves changes few lines of a file.
func (v *View) newKey(text []byte) string {
	key := DigestOf([]byte(lineAndColumn.ReplaceAllString(string(text), "")))
	v.taken[key]++
	if n := v.taken[key]; n > 1 {
		return fmt.Sprintf("%s-%d", key, n)
	}
	return key
}

// CompareItems orders items by server, kind and name.
func CompareItems(a, b Item) int {
	return cmp.Or(strings.Compare(a.Server, b.Server), strings.Compare(a.Kind, b.Kind), strings.Compare(a.Name, b.Name))
}

// digestBytes is the length of digests. It leaves a server no hope to find two texts with
// one digest.
const digestBytes = 16

// DigestOf returns the digest of texts.
func DigestOf(texts ...[]byte) string {
	h := sha256.New()
	for _, t := range texts {
		size := [8]byte{}
		for i := range size {
			size[i] = byte(len(t) >> (8 * i))
		}
		_, _ = h.Write(size[:])
		_, _ = h.Write(t)
	}
	return hex.EncodeToString(h.Sum(nil)[:digestBytes])
}

func jsonOf(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // impossible: texts and numbers
	}
	return b
}
