package schema

import (
	"container/list"
	"crypto/sha256"
	"sync"
)

// A Cache keeps compiled schemas by their content, failures too. The least
// recently used goes first. It may be used concurrently; a schema that several
// ask for at once is compiled once, and nobody waits for another schema.
type Cache struct {
	size int

	mu      sync.Mutex // guards the rest
	entries map[[sha256.Size]byte]*list.Element
	recent  *list.List // of *entry, latest first
}

type entry struct {
	key    [sha256.Size]byte
	once   sync.Once
	schema *Schema
	err    error
}

// NewCache makes a cache of at most size schemas; 0 means 1024.
func NewCache(size int) *Cache {
	if size <= 0 {
		size = 1024
	}
	return &Cache{size: size, entries: map[[sha256.Size]byte]*list.Element{}, recent: list.New()}
}

// Get returns the compiled schema, or the error that [Compile] had. It does
// not keep raw.
func (c *Cache) Get(raw []byte) (*Schema, error) {
	e := c.entry(sha256.Sum256(raw))
	e.once.Do(func() { e.schema, e.err = Compile(raw) })
	return e.schema, e.err
}

func (c *Cache) entry(key [sha256.Size]byte) *entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at, ok := c.entries[key]; ok {
		c.recent.MoveToFront(at)
		return at.Value.(*entry)
	}
	e := &entry{key: key}
	c.entries[key] = c.recent.PushFront(e)
	if c.recent.Len() > c.size {
		last := c.recent.Back()
		c.recent.Remove(last)
		delete(c.entries, last.Value.(*entry).key)
	}
	return e
}
