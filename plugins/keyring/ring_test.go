package main

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/99designs/keyring"

	"github.com/junctor-mcp/junctor/sdk"
)

const key = "junctor/v1/0123/4567"

func newRing() *ring { return &ring{keyring.NewArrayKeyring(nil)} }

func value(n int) []byte {
	v := make([]byte, n)
	for i := range v {
		v[i] = byte(i * 7 >> 3)
	}
	return v
}

func wantReason(t *testing.T, err error, reason string) {
	t.Helper()
	e, ok := errors.AsType[*sdk.Error](err)
	if !ok || e.Reason != reason {
		t.Fatalf("%#v, want the reason %s", err, reason)
	}
}

// items returns the number of items without the canary. It checks that none is
// larger than itemSize.
func (r *ring) items(t *testing.T) int {
	t.Helper()
	names, err := r.Keys()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if i, _ := r.Get(name); len(i.Data) > itemSize {
			t.Errorf("%s has %d bytes", name, len(i.Data))
		}
	}
	return len(names) - 1
}

func TestRing(t *testing.T) {
	r := newRing()
	for _, c := range []struct{ size, items int }{
		{0, 1}, {1, 1}, {itemSize - headMost, 1}, {itemSize - headMost + 1, 2}, {itemSize, 2}, {itemSize + 1, 3},
		{sdk.MaxSecret, 9}, {5, 1},
	} {
		if err := r.set(key, value(c.size)); err != nil {
			t.Fatal(err)
		}
		got, found, err := r.get(key)
		if err != nil || !found || !bytes.Equal(got, value(c.size)) {
			t.Fatalf("%d bytes: %d, %v, %v", c.size, len(got), found, err)
		}
		if n := r.items(t); n != c.items {
			t.Errorf("%d bytes are in %d items, want %d", c.size, n, c.items)
		}
	}
	if err := r.set(key, value(sdk.MaxSecret+1)); err == nil {
		t.Error("a secret that is too large was stored")
	}
	if keys, err := r.keys(); err != nil || !slices.Equal(keys, []string{key}) {
		t.Error(keys, err)
	}
	for range 2 {
		if err := r.delete(key); err != nil {
			t.Fatal(err)
		}
	}
	if _, found, err := r.get(key); found || err != nil || r.items(t) != 0 {
		t.Error(found, err, r.items(t))
	}
}

// An ending is a key ring that fails after a number of writes.
type ending struct {
	keyring.Keyring
	left int
}

func (e *ending) Set(i keyring.Item) error {
	if e.left--; e.left < 0 {
		return errors.New("the end")
	}
	return e.Keyring.Set(i)
}

// TestRingTorn interrupts a write after each step, and checks that the previous
// value is kept and that deletion leaves no items.
func TestRingTorn(t *testing.T) {
	for _, before := range [][]byte{nil, value(10), value(5000)} {
		for left := range 9 {
			r := newRing()
			if err := r.try(); err != nil {
				t.Fatal(err)
			}
			if before != nil {
				if err := r.set(key, before); err != nil {
					t.Fatal(err)
				}
			}
			if err := (&ring{&ending{r.Keyring, left}}).set(key, value(sdk.MaxSecret)); err == nil {
				t.Fatal("the write did not fail")
			}
			got, found, err := r.get(key)
			if err != nil || found != (before != nil) || !bytes.Equal(got, before) {
				t.Fatalf("after %d writes: %d bytes, %v, %v; want %d", left, len(got), found, err, len(before))
			}
			if err := errors.Join(r.set(key, value(1)), r.delete(key)); err != nil || r.items(t) != 0 {
				t.Fatalf("%v, %d items are left", err, r.items(t))
			}
		}
	}
}

func TestRingDamaged(t *testing.T) {
	piece := func(r *ring) string {
		names, _ := r.Keys()
		return names[slices.IndexFunc(names, func(n string) bool { return strings.HasPrefix(n, pieceItem) })]
	}
	small, large := value(10), value(5000)
	for name, c := range map[string]struct {
		value []byte
		harm  func(r *ring) error
	}{
		"of another program": {small, func(r *ring) error { return r.put(headItems+key, []byte("hunter2")) }},
		"empty":              {small, func(r *ring) error { return r.put(headItems+key, nil) }},
		"another format":     {small, func(r *ring) error { return r.put(headItems+key, []byte("2 x 3 -\nabc")) }},
		"a size of letters":  {small, func(r *ring) error { return r.put(headItems+key, []byte("1 x y -\nabc")) }},
		"a size below zero":  {small, func(r *ring) error { return r.put(headItems+key, []byte("1 x -1 -\nabc")) }},
		"a size without end": {small, func(r *ring) error { return r.put(headItems+key, []byte("1 x 99999999 G\n")) }},
		"too short": {small,
			func(r *ring) error { i, _ := r.item(headItems + key); return r.put(headItems+key, i[:len(i)-1]) }},
		"changed": {small,
			func(r *ring) error { i, _ := r.item(headItems + key); i[len(i)-1]++; return r.put(headItems+key, i) }},
		"a piece less":    {large, func(r *ring) error { return r.drop(piece(r)) }},
		"a piece changed": {large, func(r *ring) error { return r.put(piece(r), value(itemSize)[1:]) }},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRing()
			if err := errors.Join(r.set(key, c.value), c.harm(r)); err != nil {
				t.Fatal(err)
			}
			_, _, err := r.get(key)
			wantReason(t, err, "damaged")
			if err := r.set(key, small); err != nil { // a new value repairs it
				t.Fatal(err)
			}
			if got, _, err := r.get(key); err != nil || !bytes.Equal(got, small) {
				t.Error(got, err)
			}
		})
	}
}

// A forgetful key ring accepts writes and stores nothing.
type forgetful struct{ keyring.Keyring }

func (forgetful) Set(keyring.Item) error { return nil }

// A latched key ring returns the library's error for a locked collection.
type latched struct{ keyring.Keyring }

//lint:ignore ST1005 the library's text
var errLatched = errors.New("Cannot create an item in a locked collection")

func (latched) Set(keyring.Item) error           { return errLatched }
func (latched) Get(string) (keyring.Item, error) { return keyring.Item{}, errLatched }
func (latched) Remove(string) error              { return errLatched }
func (latched) Keys() ([]string, error)          { return nil, errLatched }

func TestRingRefuses(t *testing.T) {
	wantReason(t, (&ring{forgetful{keyring.NewArrayKeyring(nil)}}).set(key, value(1)), "damaged")
	r := &ring{latched{}}
	_, _, get := r.get(key)
	_, list := r.keys()
	for _, err := range []error{get, list, r.set(key, nil), r.delete(key)} {
		wantReason(t, err, "locked")
	}
}
