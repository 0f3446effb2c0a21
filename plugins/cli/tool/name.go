package tool

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

const (
	longestTool     = 64
	longestProperty = 64
	hashDigits      = 6
)

// clean replaces what a name may not contain.
func clean(s, also string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-', strings.ContainsRune(also, r):
			return r
		}
		return '_'
	}, s)
}

// hashed shortens a name and adds what tells it from others.
func hashed(name, whole string, longest int) string {
	sum := sha256.Sum256([]byte(whole))
	return name[:min(len(name), longest-hashDigits-1)] + "_" + hex.EncodeToString(sum[:])[:hashDigits]
}

// nameTools names the tools of a program. A name depends on the others only in
// that a hash is added where two would have the same.
func nameTools(program string, tools []*Tool) {
	count := map[string]int{}
	for _, t := range tools {
		words := t.Command.Path
		if len(words) == 0 {
			words = []string{program}
		}
		whole := strings.Join(words, " ")
		t.Name = clean(strings.Join(words, "_"), "")
		if len(t.Name) > longestTool {
			t.Name = hashed(t.Name, whole, longestTool)
		}
		count[t.Name]++
	}
	for _, t := range tools {
		if count[t.Name] > 1 {
			t.Name = hashed(t.Name, strings.Join(t.Command.Path, " "), longestTool)
		}
	}
}

// properties hands out names to parameters.
type properties map[string]bool

// option names the property of an option: the first long spelling, else the
// letter.
func (taken properties) option(names []string) string {
	for _, spelled := range names {
		if name := strings.TrimLeft(spelled, "-+"); len(name) > 1 {
			return taken.take(clean(name, "."), "opt_")
		}
	}
	return taken.take("opt_"+clean(strings.TrimLeft(names[0], "-+"), "."), "opt_")
}

func (taken properties) positional(p *model.Positional) string {
	name := clean(p.Name, ".")
	if strings.Trim(name, "_") == "" {
		name = "arg"
	}
	return taken.take(name, "arg_")
}

// take takes a name, or the next that is free.
func (taken properties) take(name, prefix string) string {
	if c := name[0]; c != '_' && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
		name = prefix + name // a tool block takes no other first character
	}
	if len(name) > longestProperty {
		name = hashed(name, name, longestProperty)
	}
	if taken[name] && !strings.HasPrefix(name, prefix) {
		name = (prefix + name)[:min(len(prefix+name), longestProperty)]
	}
	for free, n := name, 2; ; n++ {
		if !taken[free] {
			taken[free] = true
			return free
		}
		suffix := fmt.Sprintf("_%d", n)
		free = name[:min(len(name), longestProperty-len(suffix))] + suffix
	}
}
