package catalog

import (
	"crypto/sha256"
	"encoding/hex"
)

// An offer is what servers of the old era are told that they may ask of the
// client. What such a server lists may depend on it: a tool that needs an answer
// from the user, say.
type offer struct {
	number       int    // counts the offers of this process
	capabilities string // a JSON object; empty stands for one without members
}

// suffix tells the files of one server's lists apart.
func (o offer) suffix() string {
	if o.capabilities == "" || o.capabilities == "{}" {
		return ""
	}
	sum := sha256.Sum256([]byte(o.capabilities))
	return "-" + hex.EncodeToString(sum[:])[:hashDigits]
}

// Offer takes note of what servers are offered from now on. Lists that they gave
// for another offer are not believed, but for those from disk that they gave for
// this one.
func (c *Catalog) Offer(capabilities []byte) {
	c.mu.Lock()
	c.offer = offer{number: c.offer.number + 1, capabilities: string(capabilities)}
	now := c.offer
	c.mu.Unlock()
	for _, s := range c.servers {
		if s.Offer != nil {
			continue
		}
		if l := load(c.dir, s.Key, now); l != nil {
			c.publish(s, l)
		}
	}
}

// offerTo is what a server is offered now. The caller holds mu.
func (c *Catalog) offerTo(s *Server) offer {
	if s.Offer != nil {
		return offer{capabilities: string(s.Offer)}
	}
	return c.offer
}
