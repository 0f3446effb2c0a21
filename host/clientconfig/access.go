package clientconfig

const (
	maxGlob     = 256    // bytes of a name of tools
	mostGrants  = 5000   // rules and grants of a list
	mostHolders = 2048   // roles and subjects of a list
	mostNames   = 20_000 // names in all rules of a list
)

// Access says who may use what, as the access control list of avelino's mcp. It has either
// Ordered rules, of which the first that matches decides, or Roles and Subjects, whose
// grants are united.
type Access struct {
	Allow    bool // what no rule is about is allowed
	Strict   bool // no grant is about tools that are neither read nor write
	Ordered  []OrderedRule
	Roles    []Holder
	Subjects []Holder
}

// An OrderedRule decides about the tools that it matches. Its tools are the names that
// clients see: SERVER__TOOL.
type OrderedRule struct {
	Subjects, Roles, Tools []string // empty subjects and roles: all
	Allow                  bool
	Place                  Place
}

// A Holder is a role or a subject with its grants.
type Holder struct {
	Name   string
	Roles  []string // of a subject
	Grants []Grant
	Place  Place
}

// A Grant allows or denies the use of items of servers. An empty list is about all items of
// its kind.
type Grant struct {
	Servers                   []string
	Read, Write               bool
	Tools, Resources, Prompts []string
	Deny                      bool
	Place                     Place
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
	if r.grants++; r.grants > mostGrants {
		r.fail(n, "more than %d rules", mostGrants)
	}
}

func (r *rightsReader) fail(n *node, format string, args ...any) {
	if r.err == nil {
		r.err = syntax(r.text, n.start, format, args...)
	}
}

func (r *rightsReader) place(n *node) Place { return r.where.at(n.start) }

// member returns a member of an object that has the kind, or nil.
func (r *rightsReader) member(in *node, name string, kind byte) *node {
	n, twice := in.find(name)
	switch {
	case n == nil:
	case twice:
		r.fail(n, "%q occurs twice", name)
	case n.kind != kind && n.plain(r.text) != nil:
		r.fail(n, "%q is not %s", name, map[byte]string{'{': "an object", '[': "an array", 'v': "a text or a boolean"}[kind])
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
		if r.names++; r.names > mostNames {
			r.fail(item, "more than %d names", mostNames)
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

// access reads an access control list.
func (r *rightsReader) access(n *node) *Access {
	if n.kind != '{' {
		r.fail(n, "the access control list is not an object")
		return nil
	}
	a := &Access{Allow: r.word(n, "default", "allow", "allow", "deny") == "allow", Strict: r.boolean(n, "strictClassification")}
	rules, roles, subjects := r.member(n, "rules", '['), r.member(n, "roles", '{'), r.member(n, "subjects", '{')
	if rules != nil && (roles != nil || subjects != nil) {
		r.fail(n, "the access control list has rules as well as roles or subjects, and only one kind can be meant")
	}
	if rules != nil {
		for _, item := range rules.items {
			if r.count(item); r.err != nil {
				break
			}
			a.Ordered = append(a.Ordered, r.ordered(item))
		}
	}
	a.Roles = r.holders(roles, false)
	a.Subjects = r.holders(subjects, true)
	known := map[string]bool{}
	for _, role := range a.Roles {
		known[role.Name] = true
	}
	for _, s := range a.Subjects {
		for _, name := range s.Roles {
			if !known[name] && r.err == nil {
				r.err = &SyntaxError{Line: s.Place.Line, Column: s.Place.Column, What: "a subject has a role that is not in roles"}
			}
		}
	}
	return a
}

// ordered reads a rule of a list.
func (r *rightsReader) ordered(n *node) OrderedRule {
	if n.kind != '{' {
		r.fail(n, "a rule is not an object")
		return OrderedRule{}
	}
	if tools, _ := n.find("tools"); tools == nil {
		r.fail(n, "%q is missing", "tools")
	}
	return OrderedRule{
		Subjects: r.texts(n, "subjects"), Roles: r.texts(n, "roles"), Tools: r.texts(n, "tools"),
		Allow: r.word(n, "policy", "", "allow", "deny") == "allow", Place: r.place(n),
	}
}

// holders reads roles, whose values are lists of grants, or subjects.
func (r *rightsReader) holders(in *node, subjects bool) (all []Holder) {
	if in == nil {
		return nil
	}
	if len(in.names) > mostHolders {
		r.fail(in, "more than %d roles or subjects", mostHolders)
		return nil
	}
	known := map[string]bool{}
	for i, name := range in.names {
		h, n := Holder{Name: name, Place: r.where.at(in.starts[i])}, in.items[i]
		if known[name] {
			r.fail(n, "%q occurs twice", name)
		}
		known[name] = true
		list := n
		if subjects {
			if n.kind != '{' {
				r.fail(n, "a subject is not an object")
				continue
			}
			h.Roles, list = r.texts(n, "roles"), r.member(n, "extra", '[')
		} else if n.kind != '[' {
			r.fail(n, "a role is not an array of grants")
			continue
		}
		if list != nil {
			for _, item := range list.items {
				if r.count(item); r.err != nil {
					break
				}
				h.Grants = append(h.Grants, r.grant(item))
			}
		}
		all = append(all, h)
	}
	return all
}

// grant reads a grant.
func (r *rightsReader) grant(n *node) Grant {
	g := Grant{Place: r.place(n)}
	if n.kind != '{' {
		r.fail(n, "a grant is not an object")
		return g
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
	g.Read, g.Write = access != "write", access != "read"
	g.Tools, g.Resources, g.Prompts = r.texts(n, "tools"), r.texts(n, "resources"), r.texts(n, "prompts")
	g.Deny = r.boolean(n, "deny")
	return g
}
