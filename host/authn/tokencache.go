package authn

import (
	"crypto/sha256"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/junctor-mcp/junctor/host/authn/jwks"
)

const (
	maxCached      = 10_000   // tokens
	maxCachedBytes = 16 << 20 // claims of all of them
)

// verified is the result of checking a token. It is a value.
type verified struct {
	owner Principal
	key   jwks.Key   // that verified it; zero for a secret
	keys  jwks.State // in which the key was found to be valid
}

// A tokenCache remembers verified tokens by their digests. The least recently used ones
// are forgotten first. A JWT has one. It may be used concurrently.
type tokenCache struct {
	mu    sync.Mutex
	known *simplelru.LRU[[sha256.Size]byte, verified] // guarded by mu
	bytes int                                         // guarded by mu
}

func newTokenCache() *tokenCache {
	c := &tokenCache{}
	known, err := simplelru.NewLRU(maxCached, func(_ [sha256.Size]byte, v verified) { c.bytes -= len(v.owner.Claims) })
	if err != nil {
		panic(err) // the size is positive
	}
	c.known = known
	return c
}

// get returns a token that has not expired.
func (c *tokenCache) get(digest [sha256.Size]byte) (verified, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok := c.known.Get(digest)
	if ok && !time.Now().Before(v.owner.Expires) {
		c.known.Remove(digest)
		return verified{}, false
	}
	return v, ok
}

func (c *tokenCache) add(digest [sha256.Size]byte, v verified) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known.Remove(digest)
	c.bytes += len(v.owner.Claims)
	c.known.Add(digest, v)
	for c.bytes > maxCachedBytes {
		c.known.RemoveOldest()
	}
}
