package schema

import (
	"crypto/sha256"
	"sync"
	"sync/atomic"

	lru "github.com/hashicorp/golang-lru/v2"
)

// defaultCacheSize is the number of schemas in a cache without a size.
const defaultCacheSize = 1024

// A Cache stores compiled schemas and compile errors by the hash of the schema. It
// evicts the least recently used entry. Its methods may be called concurrently. A schema
// is compiled once, and compiling it does not block other schemas. The gateway's tool validator
// has one; there is nothing to close.
type Cache struct {
	entries      *lru.Cache[cacheKey, *entry]
	hits, misses atomic.Uint64
}

// A cacheKey tells schemas apart, and the schema of arguments from one that is equal.
type cacheKey struct {
	sum       [sha256.Size]byte
	arguments bool
}

type entry struct {
	once   sync.Once
	schema *Schema
	err    error
}

// NewCache returns a cache of at most size schemas; 0 means 1024.
func NewCache(size int) *Cache {
	if size <= 0 {
		size = defaultCacheSize
	}
	entries, err := lru.New[cacheKey, *entry](size)
	if err != nil {
		panic(err) // unreachable: lru.New rejects only sizes below 1
	}
	return &Cache{entries: entries}
}

// Get returns the compiled schema, or the error of [Compile]. It does not retain raw. It may
// wait for another caller that compiles the same schema.
func (c *Cache) Get(raw []byte) (*Schema, error) { return c.get(raw, false) }

// Arguments is Get for [CompileArguments].
func (c *Cache) Arguments(raw []byte) (*Schema, error) { return c.get(raw, true) }

func (c *Cache) get(raw []byte, arguments bool) (*Schema, error) {
	e := c.entry(cacheKey{sha256.Sum256(raw), arguments})
	e.once.Do(func() { e.schema, e.err = build(raw, arguments) })
	return e.schema, e.err
}

// Counts returns how many lookups found a schema, and how many did not.
func (c *Cache) Counts() (hits, misses uint64) { return c.hits.Load(), c.misses.Load() }

// entry returns the entry for a key and adds it if it is missing.
func (c *Cache) entry(key cacheKey) *entry {
	if e, ok := c.entries.Get(key); ok {
		c.hits.Add(1)
		return e
	}
	c.misses.Add(1)
	e := new(entry)
	if other, ok, _ := c.entries.PeekOrAdd(key, e); ok {
		return other // added concurrently
	}
	return e
}
