package gateway

import (
	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/junctor-mcp/junctor/host/authn"
)

// A principalLRU remembers values of each principal by name. Each principal forgets its
// own least recently used value. Above the number of principals, the tenant with most of
// them forgets its least recently used one, so that no tenant makes others forget.
type principalLRU[V any] struct {
	of      *simplelru.LRU[string, *principalValues[V]] // by key of the principal
	most    int                                         // principals
	each    int                                         // values of one of them
	tenants map[string]int                              // number of principals
}

type principalValues[V any] struct {
	*simplelru.LRU[string, V]
	tenant string
}

func newPrincipalLRU[V any](most, each int) *principalLRU[V] {
	l := &principalLRU[V]{most: most, each: each, tenants: map[string]int{}}
	l.of = newLRU[*principalValues[V]](most)
	return l
}

func newLRU[V any](most int) *simplelru.LRU[string, V] {
	l, err := simplelru.NewLRU[string, V](most, nil)
	if err != nil {
		panic(err) // the size is positive
	}
	return l
}

// find returns a value of a principal.
func (l *principalLRU[V]) find(principal, name string) (v V, ok bool) {
	if mine, found := l.of.Get(principal); found {
		return mine.Get(name)
	}
	return v, false
}

// values returns the values of a principal, to which the caller may add.
func (l *principalLRU[V]) values(principal string) *principalValues[V] {
	if mine, ok := l.of.Get(principal); ok {
		return mine
	}
	if l.of.Len() >= l.most {
		l.forgetOne()
	}
	mine := &principalValues[V]{newLRU[V](l.each), authn.OwnerOf(principal).Tenant}
	l.of.Add(principal, mine)
	l.tenants[mine.tenant]++
	return mine
}

// forgetOne forgets the least recently used principal of the tenant with most of them.
func (l *principalLRU[V]) forgetOne() {
	largest := 0
	for _, n := range l.tenants {
		largest = max(largest, n)
	}
	for _, principal := range l.of.Keys() { // the least recently used one first
		mine, _ := l.of.Peek(principal)
		if l.tenants[mine.tenant] < largest {
			continue
		}
		l.of.Remove(principal)
		if l.tenants[mine.tenant]--; l.tenants[mine.tenant] == 0 {
			delete(l.tenants, mine.tenant)
		}
		return
	}
}
