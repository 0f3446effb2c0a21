// Package classify tells tools that read from tools that write.
//
// The words of a server about its own tool never make the tool read: neither its hints nor
// its description nor its arguments. They can only make it write. The configuration
// decides first. Without it, the words of the name do: a name is what people see when
// they allow a tool. Every word that may stand for a change keeps a tool from reading,
// so that a mistake is rather a tool that reads and is taken for one that does not.
package classify

import (
	"fmt"
	"strings"
)

// A Kind is what a tool does to what it works on. Its zero value is [Ambiguous].
type Kind uint8

// The kinds.
const (
	Ambiguous Kind = iota
	Read
	Write
)

func (k Kind) String() string { return [...]string{"ambiguous", "read", "write"}[k] }

// MarshalText implements [encoding.TextMarshaler].
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// A Source is what decided about a tool.
type Source string

// The sources.
const (
	Configuration Source = "configuration"
	Hint          Source = "hint"
	Words         Source = "words"
)

// A Class is the kind of a tool and why.
type Class struct {
	Kind       Kind
	Confidence float64 // from 0 to 1
	Source     Source
	Reasons    []string
}

// A Tool is what a server says about a tool, and what the configuration says about it.
type Tool struct {
	Name, Description string
	Arguments         []string // names of the properties of its input schema
	ReadOnly          *bool    // hints of the server
	Destructive       *bool
	// ConfiguredRead and ConfiguredWrite are the places of the first patterns of the
	// configuration that match; empty: none.
	ConfiguredRead, ConfiguredWrite string
}

// maxName bounds the bytes of a name that are looked at. A longer name is ambiguous.
const maxName = 256

// Of tells whether a tool reads or writes.
func Of(t Tool) Class {
	switch {
	case t.ConfiguredWrite != "":
		return Class{Write, 1, Configuration, []string{"write at " + t.ConfiguredWrite}}
	case t.ConfiguredRead != "":
		return Class{Read, 1, Configuration, []string{"read at " + t.ConfiguredRead}}
	case isSet(t.Destructive, true) && !isSet(t.ReadOnly, true):
		return Class{Write, 0.95, Hint, []string{"the server says that it is destructive"}}
	case isSet(t.ReadOnly, false):
		return Class{Write, 0.95, Hint, []string{"the server says that it does more than read"}}
	}
	c := byWords(t)
	if isSet(t.ReadOnly, true) && c.Kind != Read {
		c.Reasons = append(c.Reasons, "the server says that it only reads, which counts in tools { read } only")
	}
	return c
}

func isSet(hint *bool, value bool) bool { return hint != nil && *hint == value }

// byWords decides by the words of the name. The description and the arguments can only
// take away from a name that reads.
func byWords(t Tool) Class {
	words, plain := split(t.Name)
	c := Class{Source: Words}
	reads, writes, thing := 0, 0, false // a word that reads precedes: what follows is a thing
	for _, w := range words {
		switch {
		case joining[w]:
			thing = false
		case writing[w] || either[w] && !thing:
			writes++
			c.Reasons = append(c.Reasons, fmt.Sprintf("%q in the name", w))
		case reading[w]:
			reads++
			thing = true
			c.Reasons = append(c.Reasons, fmt.Sprintf("%q in the name", w))
		}
	}
	for _, verb := range within {
		if writes == 0 && strings.Contains(strings.ToLower(t.Name), verb) {
			writes++
			c.Reasons = append(c.Reasons, fmt.Sprintf("%q within the name", verb))
		}
	}
	text := strings.ToLower(t.Description)
	for _, phrase := range changes {
		if strings.Contains(text, phrase) {
			writes++
			c.Reasons = append(c.Reasons, fmt.Sprintf("%q in the description", phrase))
			break
		}
	}
	for _, a := range t.Arguments {
		if carriesCode[strings.ToLower(a)] {
			writes++
			c.Reasons = append(c.Reasons, fmt.Sprintf("the argument %q may hold a command", a))
		}
	}
	switch {
	case !plain:
		c.Kind, c.Reasons = Ambiguous, append(c.Reasons, "the name has letters that look like others, or is too long")
	case writes > 0 && reads == 0:
		c.Kind, c.Confidence = Write, 0.9
	case writes == 0 && reads > 0 && beginsReading(ownWords(t.Name, words)) && !queries(words, t.Arguments):
		c.Kind, c.Confidence = Read, min(0.5+0.2*float64(reads), 0.9)
	}
	if len(c.Reasons) == 0 {
		c.Reasons = []string{"no word of the name says what it does"}
	}
	return c
}

// beginsReading reports whether the first word reads, after those that name a product or
// a thing: git_diff, but not an unknown verb with a thing that is read, as in nuke_logs.
func beginsReading(words []string) bool {
	for _, w := range words {
		if reading[w] {
			return true
		}
		if !things[w] {
			return false
		}
	}
	return false
}

// ownWords returns the words after the prefix that a gateway puts before a name: the last two
// underscores end it, as in one__get_item. A prefix with a word that says anything about reading
// or changing is no mere name of a server and stays. So does an unknown word before anything but
// a plain verb: nuke__logs may be one name.
func ownWords(name string, words []string) []string {
	i := strings.LastIndex(name, "__")
	if i < 0 {
		return words
	}
	prefix, _ := split(name[:i])
	own, _ := split(name[i+2:])
	if len(own) == 0 || !plainReading[own[0]] {
		return words
	}
	for _, w := range prefix {
		if reading[w] || writing[w] || either[w] || joining[w] {
			return words
		}
	}
	return own
}

// queries reports whether nothing but "query" reads, and an argument holds the query: of
// a database it may write.
func queries(words, arguments []string) bool {
	for _, w := range words {
		if reading[w] && w != "query" {
			return false
		}
	}
	for _, a := range arguments {
		if strings.EqualFold(a, "query") {
			return true
		}
	}
	return false
}

// split returns the words of a name in lower case. plain is false for a name with other
// characters than letters, digits and separators of ASCII.
func split(name string) (words []string, plain bool) {
	plain = len(name) > 0 && len(name) <= maxName
	name = name[:min(len(name), maxName)]
	start := 0
	end := func(i int) {
		if i > start {
			words = append(words, strings.ToLower(name[start:i]))
		}
		start = i
	}
	for i := range len(name) {
		c := name[i]
		switch {
		case strings.IndexByte("_- ./:", c) >= 0:
			end(i)
			start = i + 1
		case isUpper(c) && i > 0 && (isLower(name[i-1]) || i+1 < len(name) && isLower(name[i+1])):
			end(i)
		case c >= '0' && c <= '9':
			if i > 0 && (isLower(name[i-1]) || isUpper(name[i-1])) {
				end(i)
			}
		case isLower(c) && i > 0 && name[i-1] >= '0' && name[i-1] <= '9':
			end(i)
		case !isLower(c) && !isUpper(c):
			plain = false
		}
	}
	end(len(name))
	return words, plain
}

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }
func isLower(c byte) bool { return c >= 'a' && c <= 'z' }
