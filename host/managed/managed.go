// Package managed decides which servers the administrator of a machine lets its users
// configure, by name, by the exact command, or by a pattern for the URL.
//
// managed.go decides, path.go and url.go compare commands and URLs. Package config reads the rules
// and asks once for each block of a server, during the load. All functions are pure. A wrong match
// lets users run what the administrator forbids: when in doubt, a server is not allowed.
package managed

import "slices"

// An Entry names servers in one way. The other fields are empty.
type Entry struct {
	Name    string   `json:",omitempty"` // label of the server block
	Command []string `json:",omitempty"` // program and arguments, in this order
	URL     string   `json:",omitempty"` // pattern, see [MatchURL]
	At      string   // file:line:column
}

// Rules are the managed rules about servers.
type Rules struct {
	Exclusive bool    // only servers of the managed configuration
	Allow     []Entry // nil: no restriction; empty: no server
	Deny      []Entry // wins
	At        string
	Own       bool `json:",omitempty"` // of a user, who answers for the programs that commands find
}

// A Server is a server of a configuration.
type Server struct {
	Name    string
	Command []string // of a program that the host starts; nil: none is known
	URL     string   // of a remote server; empty: none is known
	// Altered is set if more than the command decides which code runs: the server then
	// matches no command of Allow.
	Altered bool
}

// Blocked returns why a server may not be used, or "" if it may.
//
// If an entry of Allow is a command, servers that are programs must match a command: a
// name is not enough. The same holds for URLs and remote servers.
func (r *Rules) Blocked(s Server) string {
	if i := slices.IndexFunc(r.Deny, func(e Entry) bool { return e.denies(s) }); i >= 0 {
		return "denied at " + r.Deny[i].At
	}
	if r.Allow == nil {
		return ""
	}
	if slices.ContainsFunc(r.Allow,
		func(e Entry) bool { return e.allows(s) && r.decides(e, s) && !(e.Command != nil && s.Altered) }) {
		return ""
	}
	return "not among those that are allowed at " + r.At
}

// ByCommand reports whether a server that may be used is a program that an entry of Allow names
// by its command.
func (r *Rules) ByCommand(s Server) bool {
	return s.Command != nil &&
		slices.ContainsFunc(r.Allow, func(e Entry) bool { return e.Command != nil && e.allows(s) })
}

// decides reports whether an entry that matches is enough for this kind of server.
func (r *Rules) decides(e Entry, s Server) bool {
	needs := func(has func(Entry) bool) bool { return slices.ContainsFunc(r.Allow, has) }
	switch {
	case s.URL != "" && needs(func(e Entry) bool { return e.URL != "" }):
		return e.URL != ""
	case s.URL == "" && needs(func(e Entry) bool { return e.Command != nil }):
		return e.Command != nil
	}
	return true
}

func (e Entry) allows(s Server) bool {
	switch {
	case e.Name != "":
		return e.Name == s.Name
	case e.Command != nil:
		return s.Command != nil && slices.Equal(e.Command, s.Command)
	}
	return s.URL != "" && MatchURL(e.URL, s.URL)
}

// denies is like allows, but a URL that cannot be compared is denied.
func (e Entry) denies(s Server) bool {
	if e.URL != "" && s.URL != "" {
		_, err := canonical(s.URL)
		return err != nil || MatchURL(e.URL, s.URL)
	}
	return e.allows(s)
}
