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
	configured atomic.Pointer[[]func(string) string] // mask the secrets of the latest maxConfigurations

	mu        sync.Mutex
	permanent []string // guarded by mu; secrets of keyring(), which do not expire
	obtained  []string // guarded by mu; oldest first
	replacer  atomic.Pointer[strings.Replacer]
}

const (
	maxObtainedSecrets = 2048 // tokens, two of each credential; the oldest have expired
	minSecretLength    = 6    // bytes; shorter secrets would match ordinary words
)

// maxConfigurations bounds the configurations whose secrets are masked: connections
// of earlier ones may still print them.
const maxConfigurations = 8

// use masks the secrets of a configuration, and still those of the ones before.
func (r *redactor) use(mask func(string) string) {
	masks := []func(string) string{mask}
	if before := r.configured.Load(); before != nil {
		masks = append(masks, (*before)[:min(len(*before), maxConfigurations-1)]...)
	}
	r.configured.Store(&masks)
}

// add masks a secret until maxObtainedSecrets newer ones are added.
func (r *redactor) add(secret string) { r.put(&r.obtained, secret) }

// keep masks a secret for the life of the process.
func (r *redactor) keep(secret string) { r.put(&r.permanent, secret) }

func (r *redactor) put(among *[]string, secret string) {
	if len(secret) < minSecretLength {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if slices.Contains(*among, secret) {
		return
	}
	*among = append(*among, secret)
	r.obtained = slices.Delete(r.obtained, 0, max(0, len(r.obtained)-maxObtainedSecrets))
	r.replacer.Store(config.Scrubber(slices.Concat(r.permanent, r.obtained)))
}

// hide masks the secrets in a text.
func (r *redactor) hide(text string) string {
	if masks := r.configured.Load(); masks != nil {
		for _, mask := range *masks {
			text = mask(text)
		}
	}
	if known := r.replacer.Load(); known != nil {
		text = known.Replace(text)
	}
	return text
}
