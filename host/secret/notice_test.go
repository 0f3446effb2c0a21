package secret

import (
	"path/filepath"
	"testing"

	"github.com/junctor-mcp/junctor/sdk"
)

// TestNotice: one command after the other, in processes of their own, tells a
// person once that there is no key ring, and again when the reason is another or
// there was one meanwhile. Where nothing works it is told each time.
func TestNotice(t *testing.T) {
	stamps := filepath.Join(t.TempDir(), "stamps")
	run := func(once bool, ring, file error) (told int, store, why string) {
		h := new(heard)
		k := New(Options{Stamps: stamps, Warn: h.warn, Once: once, Stores: []Named{{"the key ring", newShelf(ring)}, {"the encrypted file", newShelf(file)}}})
		if store, why = k.Found(); store != "" || why != "" {
			t.Errorf("before anything is asked it is in %q, %q", store, why)
		}
		for range 2 {
			_, _, _ = k.Scope(Owner{}).Secret(t.Context(), "x")
		}
		store, why = k.Found()
		return len(*h), store, why
	}
	gone := reason("absent")
	collection := &sdk.Error{Code: sdk.Unavailable, Reason: "absent", Message: "there is no such collection"}
	for i, c := range []struct {
		once       bool
		ring, file error
		told       int
	}{
		{true, gone, reason("locked"), 1},
		{true, gone, reason("locked"), 1}, // it is why the other is asked
		{true, gone, nil, 1},
		{true, gone, nil, 0},
		{true, gone, reason("locked"), 0},
		{true, collection, nil, 1},
		{true, collection, nil, 0},
		{false, collection, nil, 1}, // the log of a service
		{true, nil, nil, 0},
		{true, collection, nil, 1}, // there was one
		{true, collection, nil, 0},
		{true, reason("locked"), nil, 0}, // an error, and no warning
	} {
		told, store, why := run(c.once, c.ring, c.file)
		passed := c.told > 0 || why != ""
		if told != c.told || passed && (store != "the encrypted file" || why == "") || !passed && store != "the key ring" {
			t.Errorf("%d: told %d times, in %q because %q", i, told, store, why)
		}
	}
}
