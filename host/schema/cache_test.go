package schema

import (
	"fmt"
	"sync"
	"testing"
)

func TestCache(t *testing.T) {
	c := NewCache(2)
	get := func(raw string) *Schema {
		t.Helper()
		s, err := c.Get([]byte(raw))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	a := get(`{"type":"string"}`)
	if get(`{"type":"string"}`) != a {
		t.Error("compiled twice")
	}
	if get(`{"type":"string" }`) == a {
		t.Error("other bytes, same schema")
	}
	get(`{"type":"string"}`)  // now the most recently used
	get(`{"type":"integer"}`) // evicts the other one
	if get(`{"type":"string"}`) != a {
		t.Error("the most recently used entry was evicted")
	}
	if c.entries.Len() != 2 {
		t.Errorf("%d entries in a cache of 2", c.entries.Len())
	}
}

func TestCacheKeepsFailures(t *testing.T) {
	c := NewCache(0)
	_, first := c.Get([]byte(`{"$ref":"#"}`))
	_, second := c.Get([]byte(`{"$ref":"#"}`))
	if first == nil || first != second {
		t.Errorf("%v, then %v", first, second)
	}
}

func TestCacheDoesNotKeepTheBytes(t *testing.T) {
	c := NewCache(0)
	raw := []byte(`{"type":"object","properties":{"abc":{"enum":["defg"]}},"required":["abc"]}`)
	s, err := c.Get(raw)
	if err != nil {
		t.Fatal(err)
	}
	clear(raw)
	if got := lines(s.Check([]byte(`{}`))); got != "abc: is required (/required)" {
		t.Error(got)
	}
	if s.Check([]byte(`{"abc":"defg"}`)) != nil {
		t.Error("the valid instance was rejected")
	}
}

func TestCacheTogether(t *testing.T) {
	c := NewCache(4)
	var wg sync.WaitGroup
	found := make([]*Schema, 32)
	for i := range found {
		wg.Go(func() {
			s, err := c.Get([]byte(`{"type":"object","properties":{"a":{"type":"string"}}}`))
			if err != nil {
				t.Error(err)
			}
			found[i] = s
			s.Check([]byte(`{"a":1}`))
			s.Check([]byte(`{"a":"b"}`))
			_, _ = c.Get(fmt.Appendf(nil, `{"maxLength":%d}`, i%3))
		})
	}
	wg.Wait()
	for _, s := range found {
		if s != found[0] {
			t.Fatal("compiled more than once")
		}
	}
}
