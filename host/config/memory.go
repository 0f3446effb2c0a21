package config

import "github.com/hashicorp/hcl/v2"

const (
	defaultMemory = 512 << 20 // bytes
	leastMemory   = 128 << 20
	mostMemory    = 999_999 << 20

	// messagePart is the part of max_memory that one message may take: half of it
	// is for messages, and half of that for one client.
	messagePart = 4
)

// memory reads max_memory. set is where it stands; it is empty for the default.
func (s blockReader) memory() (bytes int, set hcl.Range) {
	return s.size("max_memory", defaultMemory, leastMemory, mostMemory), s.valueAt("max_memory", hcl.Range{})
}

// fitMemory makes sure that the largest message of every server fits: it raises
// the default of max_memory, and reports a value that is too small.
func (l *loader) fitMemory(g *Gateway, drafts []*draft) {
	for _, d := range drafts {
		needed := messagePart * d.MaxMessage
		switch {
		case needed <= g.MaxMemory:
		case g.memoryAt.Filename == "":
			g.MaxMemory = needed
		default:
			l.absent("gateway").wrong(g.memoryAt, "a message may take a quarter of max_memory; raise it, or lower max_message in the server block",
				`"max_memory" must be at least %s for the "max_message" of server %q, which is %s`, sizeText(needed), d.Name, sizeText(d.MaxMessage))
			return
		}
	}
}
