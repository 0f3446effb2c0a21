package secret

import (
	"path/filepath"
	"testing"

	"github.com/junctor-mcp/junctor/sdk"
)

// TestWarningIsGivenOncePerReason: several processes in a row warn once that there is no
// key ring, and again when the reason changes or the key ring worked meanwhile. They warn
// each time while no store works.
func TestWarningIsGivenOncePerReason(t *testing.T) {
	stamps := filepath.Join(t.TempDir(), "stamps")
	run := func(once bool, ring, file error) (told int, store, why string) {
		h := new(warnings)
		k := New(Options{Stamps: stamps, Warn: h.warn, Once: once,
			Stores: []Named{{"the key ring", newMemoryStore(ring)}, {"the encrypted file", newMemoryStore(file)}}})
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
		{true, gone, reason("locked"), 1}, // each time, because the second store fails as well
		{true, gone, nil, 1},
		{true, gone, nil, 0},
		{true, gone, reason("locked"), 0},
		{true, collection, nil, 1},
		{true, collection, nil, 0},
		{false, collection, nil, 1}, // Once is not set, as for a server
		{true, nil, nil, 0},
		{true, collection, nil, 1}, // the key ring worked before
		{true, collection, nil, 0},
		{true, reason("locked"), nil, 0}, // an error instead of a warning
	} {
		told, store, why := run(c.once, c.ring, c.file)
		passed := c.told > 0 || why != ""
		if told != c.told || passed && (store != "the encrypted file" || why == "") ||
			!passed && store != "the key ring" {
			t.Errorf("%d: told %d times, in %q because %q", i, told, store, why)
		}
	}
}
