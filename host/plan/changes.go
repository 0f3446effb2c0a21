package plan

// Changes are the differences between two views. They are read only once Diff returns.
type Changes struct {
	Servers []ServerChange `json:"servers"`
	// NotAsked are the servers whose lists one view or both do not have. Their items are
	// not compared.
	NotAsked  []NotAsked        `json:"not_asked"`
	Blocks    []BlockChange     `json:"blocks"`
	Items     []ItemChange      `json:"items"`
	Rules     []RuleChange      `json:"rules"`
	Decisions []PrincipalChange `json:"decisions"`
	Lists     []ListChange      `json:"lists"`
	// LeftOut counts the items that were not compared because of the limits of a view.
	LeftOut int `json:"left_out,omitempty"`
}

// The kinds of changes.
const (
	Added   = "added"
	Removed = "removed"
	Changed = "changed"
)

// A ServerChange is a server that was added, removed or changed.
type ServerChange struct {
	Server   string   `json:"server"`
	Change   string   `json:"change"`
	Enabled  bool     `json:"enabled"` // now; before, if it was removed
	Blocked  string   `json:"blocked,omitempty"`
	Settings []string `json:"settings,omitempty"` // names of those that differ
	// Connection is set if the transport or the auth provider differ.
	Connection bool `json:"connection_changed,omitempty"`
}

// A BlockChange is a block about the whole process that was added, removed or changed: audit,
// console, notify or telemetry.
type BlockChange struct {
	Block    string   `json:"block"`
	Change   string   `json:"change"`
	Settings []string `json:"settings,omitempty"` // names of those that differ
}

// A NotAsked is a server whose lists are not known.
type NotAsked struct {
	Server string `json:"server"`
	Before string `json:"before,omitempty"` // see Server.Lists; empty: it is not there, or not enabled
	After  string `json:"after,omitempty"`
}

// An ItemChange is an item that was added, removed or changed.
type ItemChange struct {
	Server string `json:"server"`
	Kind   string `json:"kind"`
	Item   string `json:"item"`
	Name   string `json:"name"` // for clients: now; before, if it was removed
	Change string `json:"change"`

	RenamedFrom string `json:"renamed_from,omitempty"`
	Description bool   `json:"description_changed,omitempty"`
	Schema      bool   `json:"schema_changed,omitempty"`
	Other       bool   `json:"other_changed,omitempty"` // the title, annotations and the like
	// AccessBefore and AccessAfter are read, write or ambiguous; empty: the item is not
	// there.
	AccessBefore string `json:"access_before,omitempty"`
	AccessAfter  string `json:"access_after,omitempty"`
	// NewlyWrites is set for a tool that may write now: it is new, or only read before.
	NewlyWrites  bool `json:"newly_writes,omitempty"`
	TokensBefore int  `json:"tokens_before"`
	TokensAfter  int  `json:"tokens_after"`
}

// A RuleChange is a rule of the policy that was added or removed. A changed rule is both.
type RuleChange struct {
	Rule   string `json:"rule"`
	Change string `json:"change"`
}

// A PrincipalChange holds the decisions that differ for a principal.
type PrincipalChange struct {
	Principal string `json:"principal"`
	// Change is Added or Removed for a principal that only one of the views names, and
	// else Changed.
	Change string           `json:"change"`
	Items  []DecisionChange `json:"items"`
}

// A DecisionChange is the decision about an item before and after. One is nil if that view
// does not have the item or the principal.
type DecisionChange struct {
	Server string    `json:"server"`
	Kind   string    `json:"kind"`
	Item   string    `json:"item"`
	Name   string    `json:"name"` // for clients: now; before, if it was removed
	Before *Decision `json:"before"`
	After  *Decision `json:"after"`
}

// A ListChange is the size of the list of one kind for a principal before and after.
type ListChange struct {
	Principal    string `json:"principal"`
	Kind         string `json:"kind"`
	ItemsBefore  int    `json:"items_before"`
	ItemsAfter   int    `json:"items_after"`
	TokensBefore int    `json:"tokens_before"`
	TokensAfter  int    `json:"tokens_after"`
}

// Empty reports whether the views do not differ. A server whose lists only one of the views
// has is a difference, and so are items that were left out: they could not be compared.
func (c *Changes) Empty() bool {
	if c.LeftOut > 0 {
		return false
	}
	for _, n := range c.NotAsked {
		if (n.Before == Unknown) != (n.After == Unknown) {
			return false
		}
	}
	return len(c.Servers)+len(c.Blocks)+len(c.Items)+len(c.Rules)+len(c.Decisions)+len(c.Lists) == 0
}
