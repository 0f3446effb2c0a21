package registry

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// SameAs reports whether two options are the same package, or the same kind of remote on the same
// host, in whatever versions. Stored secrets of a block go to the new version.
func (o Option) SameAs(other Option) bool {
	if o.pack != nil && other.pack != nil {
		return o.pack.Type == other.pack.Type && o.pack.unversioned() == other.pack.unversioned()
	}
	return o.remote != nil && other.remote != nil && o.remote.Type == other.remote.Type &&
		origin(o.remote.URL) == origin(other.remote.URL)
}

// unversioned returns the name of a package; of an image that without tag and digest.
func (p *Package) unversioned() string {
	if p.Type != "oci" {
		return p.Identifier
	}
	name, _, _ := strings.Cut(p.Identifier, "@")
	if i := strings.LastIndexByte(name, ':'); i > strings.LastIndexByte(name, '/') {
		name = name[:i]
	}
	return name
}

// origin returns the scheme, host and port of a URL, which may have variables in it.
func origin(address string) string {
	scheme, rest, _ := strings.Cut(strings.ToLower(address), "://")
	host, _, _ := strings.Cut(rest, "/")
	host, _, _ = strings.Cut(host, "?")
	return scheme + "://" + host
}

// Renamed returns what a block has of the option was, with what it has of is instead. The verb
// update calls it; it is pure.
func Renamed(was, is Option) map[string]string {
	if was.pack != nil {
		return map[string]string{was.pack.pinned(): is.pack.pinned()}
	}
	return map[string]string{was.remote.URL: is.remote.URL}
}

// InputChanges says which inputs a new version has and the old one has not, and the reverse.
func InputChanges(was, is Option) (notes []string) {
	before, now := was.inputs(), is.inputs()
	for _, id := range slices.Sorted(maps.Keys(now)) {
		if _, known := before[id]; known {
			continue
		}
		kind := "optional"
		if now[id].Required {
			kind = "required"
		}
		notes = append(notes, fmt.Sprintf("the new version has the %s input %s%s; the block does not have it yet",
			kind, id, about(now[id].Description)))
	}
	for _, id := range slices.Sorted(maps.Keys(before)) {
		if _, known := now[id]; !known {
			notes = append(notes, fmt.Sprintf("the new version has no input %s any more; the block keeps it", id))
		}
	}
	return notes
}

// inputs returns the variables, headers and arguments with a name.
func (o Option) inputs() map[string]Input {
	all := map[string]Input{}
	if o.remote != nil {
		for _, h := range o.remote.Headers {
			all[h.Name] = h.Input
		}
		maps.Copy(all, o.remote.Variables)
		return all
	}
	for _, v := range o.pack.Environment {
		all[v.Name] = v.Input
	}
	for _, a := range slices.Concat(o.pack.RuntimeArguments, o.pack.PackageArguments) {
		if id := a.id(); id != "" {
			all[id] = a.Input
		}
	}
	return all
}
