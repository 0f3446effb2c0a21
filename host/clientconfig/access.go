package clientconfig

import "slices"

const (
	maxGlob    = 256    // bytes of a name of tools
	maxGrants  = 5000   // rules and grants of a list
	maxHolders = 2048   // roles and subjects of a list
	maxNames   = 20_000 // names in all rules of a list
)

// Rights say who may use what, in the file of any product. They have rules, and roles and
// subjects, which may also have no rules. Package clientimport makes a policy of them.
type Rights struct {
	Allow   bool // what no rule is about is allowed
	Strict  bool // no rule with an access is about tools that are neither read nor write
	First   bool // the first rule that matches decides; false: one that denies, whatever the order
	Rules   []Rule
	Holders []Holder
	Notes   []string // sentences without a full stop
}

// The effects of rules.
const (
	Allow   = "allow"
	Deny    = "deny"
	Confirm = "confirm" // the client asks the user
)

// A Rule decides about uses of items. A rule without patterns of servers is about nothing,
// and one with these only is about all their items.
type Rule struct {
	Effect                             string
	Subjects, Roles                    []string // empty: all
	Servers, Tools, Resources, Prompts []string // patterns
	Access                             string   // "read" or "write"; empty: both
	Naming                             Naming
	Names                              []string // of tools, as Naming says; in the place of the patterns
	Once                               bool     // the answer to a question holds for the server
	Note                               string   // continues "the rule at 1:2"
	Place                              Place
}

// A Naming is how the names of tools that clients see contain the name of the server.
type Naming int

const (
	ByPatterns    Naming = iota // the rule has patterns of servers and of items
	ServerTool                  // SERVER__TOOL, with patterns
	MCPServerTool               // mcp_SERVER_TOOL
)

// A Holder is a role or a subject.
type Holder struct {
	Kind, Name string   // Kind: "role" or "subject"
	Roles      []string // of a subject
	First      int      // the index of its first rule
	Place      Place
}

// rights reads the parts of a JSON file that say who may use what. They are read in full or
// not at all: a part of the rules could allow more than all of them.
func (all *Content) rights(text []byte, root *node) error {
	r := rightsReader{text: text, where: places{text: text}}
	list := root
	if auth, _ := root.find("serverAuth"); auth != nil {
		if inner, _ := auth.find("acl"); inner != nil {
			list = inner
		}
		if auth.kind == '{' && len(auth.names) > 1 || list == root {
			all.Notes = append(all.Notes, "serverAuth is not imported, except acl: write the tokens into gateway { http { auth \"static_token\" { } } }, see docs/gateway.md")
		}
	}
	if inner, _ := root.find("acl"); inner != nil && list == root {
		list = inner
	}
	if list != root || !hasServers(root) && isAccess(root) {
		all.Access = r.access(list)
	}
	if inner, _ := root.find("permissions"); inner != nil && isPermissions(inner) {
		all.Permissions = r.permissions(inner)
	}
	if r.err != nil {
		r.err.Hint = "correct the rule at this place; nothing is imported without the rules of its file"
		return r.err
	}
	return nil
}

// isAccess reports whether an object is an access control list.
func isAccess(n *node) bool {
	for _, name := range []string{"rules", "roles", "subjects"} {
		if m, _ := n.find(name); m != nil {
			return true
		}
	}
	return false
}

// A rightsReader reads rules and keeps the first mistake.
type rightsReader struct {
	text          []byte
	where         places
	err           *SyntaxError
	grants, names int // read so far
}

// count counts a rule or a grant.
func (r *rightsReader) count(n *node) {
	if r.grants++; r.grants > maxGrants {
		r.fail(n, "more than %d rules", maxGrants)
	}
}

func (r *rightsReader) fail(n *node, format string, args ...any) {
	if r.err == nil {
		r.err = syntax(r.text, n.start, format, args...)
	}
}

// member returns a member of an object that has the kind, or nil.
func (r *rightsReader) member(in *node, name string, kind byte) *node {
	n, twice := in.find(name)
	switch {
	case n == nil:
	case twice:
		r.fail(n, "%q occurs twice", name)
	case n.kind != kind && n.plain(r.text) != nil:
		r.fail(n, "%q is not %s", name,
			map[byte]string{'{': "an object", '[': "an array", 'v': "a text or a boolean"}[kind])
	case n.kind == kind:
		return n
	}
	return nil
}

// texts reads a member that is a list of texts.
func (r *rightsReader) texts(in *node, name string) (all []string) {
	list := r.member(in, name, '[')
	if list == nil {
		return nil
	}
	for _, item := range list.items {
		text, ok := item.plain(r.text).(string)
		if !ok {
			r.fail(item, "%q is not a list of texts", name)
		}
		if r.names++; r.names > maxNames {
			r.fail(item, "more than %d names", maxNames)
			break
		}
		all = append(all, text)
	}
	return all
}

// word reads a member that is one of several words.
func (r *rightsReader) word(in *node, name, unset string, words ...string) string {
	n := r.member(in, name, 'v')
	if n == nil {
		if unset == "" {
			r.fail(in, "%q is missing", name)
		}
		return unset
	}
	text, _ := n.plain(r.text).(string)
	for _, w := range words {
		if text == w {
			return w
		}
	}
	r.fail(n, "%q is none of %q", name, words)
	return unset
}

func (r *rightsReader) boolean(in *node, name string) bool {
	n := r.member(in, name, 'v')
	if n == nil {
		return false
	}
	v, ok := n.plain(r.text).(bool)
	if !ok {
		r.fail(n, "%q is neither true nor false", name)
	}
	return v
}

// access reads the access control list of avelino's mcp. It has either rules, of which the
// first that matches decides, or roles and subjects, whose grants are united.
func (r *rightsReader) access(n *node) *Rights {
	if n.kind != '{' {
		r.fail(n, "the access control list is not an object")
		return nil
	}
	a := &Rights{Allow: r.word(n, "default", Allow, Allow, Deny) == Allow, Strict: r.boolean(n, "strictClassification")}
	rules, roles, subjects := r.member(n, "rules", '['), r.member(n, "roles", '{'), r.member(n, "subjects", '{')
	if rules != nil && (roles != nil || subjects != nil) {
		r.fail(n, "the access control list has rules as well as roles or subjects, and only one kind can be meant")
	}
	if rules != nil && len(rules.items) > 0 {
		a.First, a.Strict = true, false
		r.each(rules, func(item *node) { a.Rules = append(a.Rules, r.ordered(item)) })
	}
	r.holders(a, roles, "role")
	known := map[string]bool{}
	for _, role := range a.Holders {
		known[role.Name] = true
	}
	r.holders(a, subjects, "subject")
	for _, s := range a.Holders {
		for _, name := range s.Roles {
			if !known[name] && r.err == nil {
				r.err = &SyntaxError{Line: s.Place.Line, Column: s.Place.Column,
					What: "a subject has a role that is not in roles"}
			}
		}
	}
	return a
}

// each reads the rules or grants of a list, up to the first mistake.
func (r *rightsReader) each(list *node, read func(item *node)) {
	for _, item := range list.items {
		if r.count(item); r.err != nil {
			return
		}
		read(item)
	}
}

// ordered reads a rule of a list.
func (r *rightsReader) ordered(n *node) Rule {
	if n.kind != '{' {
		r.fail(n, "a rule is not an object")
		return Rule{}
	}
	if tools, _ := n.find("tools"); tools == nil {
		r.fail(n, "%q is missing", "tools")
	}
	return Rule{
		Subjects: r.about(n, "subjects"),
		Roles:    r.about(n, "roles"),
		Naming:   ServerTool,
		Names:    r.texts(n, "tools"),
		Effect:   r.word(n, "policy", "", Allow, Deny),
		Place:    r.where.at(n.start),
	}
}

// about reads names of subjects or roles, of which * means all.
func (r *rightsReader) about(n *node, name string) []string {
	all := r.texts(n, name)
	if slices.Contains(all, "*") {
		return nil
	}
	return all
}

// holders reads roles, whose values are lists of grants, or subjects.
func (r *rightsReader) holders(into *Rights, in *node, kind string) {
	if in == nil {
		return
	}
	if len(in.names) > maxHolders {
		r.fail(in, "more than %d roles or subjects", maxHolders)
		return
	}
	known := map[string]bool{}
	for i, name := range in.names {
		h, n := Holder{Kind: kind, Name: name, First: len(into.Rules), Place: r.where.at(in.starts[i])}, in.items[i]
		if known[name] {
			r.fail(n, "%q occurs twice", name)
		}
		known[name] = true
		list := n
		switch {
		case kind == "role" && n.kind != '[':
			r.fail(n, "a role is not an array of grants")
			continue
		case kind == "subject" && n.kind != '{':
			r.fail(n, "a subject is not an object")
			continue
		case kind == "subject":
			h.Roles, list = r.texts(n, "roles"), r.member(n, "extra", '[')
		}
		into.Holders = append(into.Holders, h)
		if list != nil {
			r.each(list, func(item *node) {
				for _, one := range r.grant(item, into.Strict) {
					if kind == "role" {
						one.Roles = []string{name}
					} else {
						one.Subjects = []string{name}
					}
					into.Rules = append(into.Rules, one)
				}
			})
		}
	}
}

// grant reads a grant. In the file, a list that is missing is about all items of its kind;
// a rule that names only tools is about tools only.
func (r *rightsReader) grant(n *node, strict bool) []Rule {
	g := Rule{Effect: Allow, Place: r.where.at(n.start)}
	if n.kind != '{' {
		r.fail(n, "a grant is not an object")
		return nil
	}
	server, _ := n.find("server")
	switch {
	case server == nil:
		r.fail(n, "%q is missing", "server")
	case server.kind == '[':
		g.Servers = r.texts(n, "server")
	default:
		text, ok := server.plain(r.text).(string)
		if !ok {
			r.fail(server, "%q is neither a text nor a list of texts", "server")
		}
		g.Servers = []string{text}
	}
	access := r.word(n, "access", "", "read", "write", "*")
	g.Tools, g.Resources, g.Prompts = r.texts(n, "tools"), r.texts(n, "resources"), r.texts(n, "prompts")
	if r.boolean(n, "deny") {
		return []Rule{g.denial(access)}
	}
	return g.permissions(access, strict)
}

// denial returns the rule for a grant that denies. It is about all items of the kinds that
// the grant does not name.
func (g Rule) denial(access string) Rule {
	g.Effect = Deny
	if access == "write" { // neither resources nor prompts are written
		g.Tools, g.Resources, g.Prompts, g.Access = orAll(g.Tools), nil, nil, access
		return g
	}
	if g.named() > 0 {
		g.Tools, g.Resources, g.Prompts = orAll(g.Tools), orAll(g.Resources), orAll(g.Prompts)
	}
	if access == "read" {
		g.Note = " denies reading, and here it denies writing too: a tool may read there and not here"
	}
	return g
}

// permissions returns the rules for a grant that allows. A grant of a strict list is not
// about ambiguous tools, also if it is about everything.
func (g Rule) permissions(access string, strict bool) []Rule {
	named := g.named()
	if access == "write" {
		g.Tools, g.Access = orAll(g.Tools), access
		return []Rule{g}
	}
	if named > 0 && named < 3 {
		g.Note = " allows only what it names; in the file it also opens everything else of the servers, " +
			"of the kinds that it does not name"
	}
	if access == "read" {
		g.Access = access
		return []Rule{g}
	}
	if !strict {
		return []Rule{g}
	}
	write := g
	write.Access, write.Note = "write", ""
	if g.Access = "read"; named > 0 && g.Tools == nil {
		return []Rule{g}
	}
	return []Rule{g, write}
}

// named returns for how many kinds of items a rule has patterns.
func (g Rule) named() int {
	return min(len(g.Tools), 1) + min(len(g.Resources), 1) + min(len(g.Prompts), 1)
}

// orAll returns patterns, or one that matches everything if there are none.
func orAll(globs []string) []string {
	if globs == nil {
		return []string{"*"}
	}
	return globs
}
