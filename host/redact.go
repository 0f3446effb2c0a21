package host

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/junctor-mcp/junctor/host/config"
)

// A redactor masks secrets in the texts of plugins and servers: the secrets of the
// configuration, and those obtained later, such as tokens.
type redactor struct {
	configured atomic.Pointer[[]func(string) string] // mask the secrets of the generation in effect and of the one before

	mu        sync.Mutex
	permanent []string // guarded by mu; stored by people for keyring(): they do not expire
	obtained  []string // guarded by mu; oldest first
	replacer  atomic.Pointer[strings.Replacer]
}

const (
	maxObtainedSecrets = 2048 // tokens, two of each credential; the oldest have expired
	minSecretLength    = 6    // bytes; shorter secrets would match ordinary words
)

// use masks the secrets of a configuration, and still those of the one before.
func (v *redactor) use(mask func(string) string) {
	masks := []func(string) string{mask}
	if before := v.configured.Load(); before != nil {
		masks = append(masks, (*before)[0])
	}
	v.configured.Store(&masks)
}

// add masks a secret from now on, until newer ones replace it.
func (v *redactor) add(secret string) { v.put(&v.obtained, secret) }

// keep masks a secret for the life of the process.
func (v *redactor) keep(secret string) { v.put(&v.permanent, secret) }

func (v *redactor) put(among *[]string, secret string) {
	if len(secret) < minSecretLength {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if slices.Contains(*among, secret) {
		return
	}
	*among = append(*among, secret)
	v.obtained = slices.Delete(v.obtained, 0, max(0, len(v.obtained)-maxObtainedSecrets))
	v.replacer.Store(config.Scrubber(slices.Concat(v.permanent, v.obtained)))
}

// hide masks the secrets in a text.
func (v *redactor) hide(text string) string {
	if masks := v.configured.Load(); masks != nil {
		for _, mask := range *masks {
			text = mask(text)
		}
	}
	if r := v.replacer.Load(); r != nil {
		text = r.Replace(text)
	}
	return text
}
