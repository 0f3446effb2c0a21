package tool

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

const (
	maxToolName     = 64
	maxPropertyName = 64
	hashDigits      = 6
)

// clean replaces characters that a name must not contain by "_".
func clean(s, also string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-',
			strings.ContainsRune(also, r):
			return r
		}
		return '_'
	}, s)
}

// hashed shortens a name and appends a hash of whole.
func hashed(name, whole string, longest int) string {
	sum := sha256.Sum256([]byte(whole))
	return name[:min(len(name), longest-hashDigits-1)] + "_" + hex.EncodeToString(sum[:])[:hashDigits]
}

// nameTools sets the names of the tools of a program. Tools with equal names
// get a hash.
func nameTools(program string, tools []*Tool) {
	count := map[string]int{}
	for _, t := range tools {
		words := t.Command.Path
		if len(words) == 0 {
			words = []string{program}
		}
		whole := strings.Join(words, " ")
		t.Name = clean(strings.Join(words, "_"), "")
		if len(t.Name) > maxToolName {
			t.Name = hashed(t.Name, whole, maxToolName)
		}
		count[t.Name]++
	}
	for _, t := range tools {
		if count[t.Name] > 1 {
			t.Name = hashed(t.Name, strings.Join(t.Command.Path, " "), maxToolName)
		}
	}
}

// properties are the property names of a tool that are taken.
type properties map[string]bool

// option returns the property name for an option: the first long spelling, else
// opt_ and the letter.
func (taken properties) option(names []string) string {
	for _, spelled := range names {
		if name := strings.TrimLeft(spelled, "-+"); len(name) > 1 {
			return taken.take(clean(name, "."), "opt_")
		}
	}
	return taken.take("opt_"+clean(strings.TrimLeft(names[0], "-+"), "."), "opt_")
}

// positional returns the property name for a positional.
func (taken properties) positional(p *model.Positional) string {
	name := clean(p.Name, ".")
	if strings.Trim(name, "_") == "" {
		name = "arg"
	}
	return taken.take(name, "arg_")
}

// take reserves a name. If the name is taken, it adds the prefix or a number.
func (taken properties) take(name, prefix string) string {
	if c := name[0]; c != '_' && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
		name = prefix + name // a tool block requires a letter or "_" as the first character
	}
	if len(name) > maxPropertyName {
		name = hashed(name, name, maxPropertyName)
	}
	if taken[name] && !strings.HasPrefix(name, prefix) {
		name = (prefix + name)[:min(len(prefix+name), maxPropertyName)]
	}
	for free, n := name, 2; ; n++ {
		if !taken[free] {
			taken[free] = true
			return free
		}
		suffix := fmt.Sprintf("_%d", n)
		free = name[:min(len(name), maxPropertyName-len(suffix))] + suffix
	}
}
