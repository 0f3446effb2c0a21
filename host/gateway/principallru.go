package gateway

import (
	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/junctor-mcp/junctor/host/authn"
)

// A principalLRU remembers values of each principal by name. Each principal forgets its own least recently used
// value. Above the number of principals, the tenant with most of them forgets its least recently used one, so
// that no tenant makes others forget. It holds tasks and links to resources.
//
// It is not safe for concurrent use: its owner has a lock (task.go and resourcelinks.go). find
// changes the order of use, too.
type principalLRU[V any] struct {
	principals    *simplelru.LRU[string, *principalValues[V]] // by key of the principal
	maxPrincipals int
	maxValues     int            // of one principal
	tenants       map[string]int // number of principals
}

type principalValues[V any] struct {
	*simplelru.LRU[string, V]
	tenant string
}

// newPrincipalLRU returns one without values. Both numbers are positive.
func newPrincipalLRU[V any](maxPrincipals, maxValues int) *principalLRU[V] {
	l := &principalLRU[V]{maxPrincipals: maxPrincipals, maxValues: maxValues, tenants: map[string]int{}}
	l.principals = newLRU[*principalValues[V]](maxPrincipals)
	return l
}

func newLRU[V any](most int) *simplelru.LRU[string, V] {
	l, err := simplelru.NewLRU[string, V](most, nil)
	if err != nil {
		panic(err) // the size is positive
	}
	return l
}

// find returns a value of the principal with a key.
func (l *principalLRU[V]) find(key, name string) (v V, ok bool) {
	if mine, found := l.principals.Get(key); found {
		return mine.Get(name)
	}
	return v, false
}

// values returns the values of the principal with a key, to which the caller may add before it
// calls values again. A principal is forgotten before principals is full, so that tenants stays right.
func (l *principalLRU[V]) values(key string) *principalValues[V] {
	if mine, ok := l.principals.Get(key); ok {
		return mine
	}
	if l.principals.Len() >= l.maxPrincipals {
		l.forgetOne()
	}
	mine := &principalValues[V]{newLRU[V](l.maxValues), authn.OwnerOf(key).Tenant}
	l.principals.Add(key, mine)
	l.tenants[mine.tenant]++
	return mine
}

// forgetOne forgets the least recently used principal of the tenant with most of them; of several
// such tenants, the one whose principal is the oldest. It looks at all principals.
func (l *principalLRU[V]) forgetOne() {
	largest := 0
	for _, n := range l.tenants {
		largest = max(largest, n)
	}
	for _, principal := range l.principals.Keys() { // the least recently used one first
		mine, _ := l.principals.Peek(principal)
		if l.tenants[mine.tenant] < largest {
			continue
		}
		l.principals.Remove(principal)
		if l.tenants[mine.tenant]--; l.tenants[mine.tenant] == 0 {
			delete(l.tenants, mine.tenant)
		}
		return
	}
}
