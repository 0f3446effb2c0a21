package host

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/junctor-mcp/junctor/host/config"
)

// A redactor takes secrets out of texts of others: those of the configuration, and
// those that came later, such as tokens that an auth provider obtained.
type redactor struct {
	first func(string) string // the configuration's; nil: there is none

	mu    sync.Mutex
	kept  []string // guarded by mu; by people, for keyring(): they stay good
	later []string // guarded by mu; oldest first
	now   atomic.Pointer[strings.Replacer]
}

const (
	veilMost  = 2048 // secrets that came later, two of each credential; the oldest have expired
	veilLeast = 6    // bytes: what is shorter would be found in ordinary words
)

// add hides a secret from now on, as long as it is not one of the oldest.
func (v *redactor) add(secret string) { v.put(&v.later, secret) }

// keep hides a secret for good.
func (v *redactor) keep(secret string) { v.put(&v.kept, secret) }

func (v *redactor) put(among *[]string, secret string) {
	if len(secret) < veilLeast {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if slices.Contains(*among, secret) {
		return
	}
	*among = append(*among, secret)
	v.later = slices.Delete(v.later, 0, max(0, len(v.later)-veilMost))
	v.now.Store(config.Scrubber(slices.Concat(v.kept, v.later)))
}

// hide takes the secrets out of a text.
func (v *redactor) hide(text string) string {
	if v.first != nil {
		text = v.first(text)
	}
	if r := v.now.Load(); r != nil {
		text = r.Replace(text)
	}
	return text
}
