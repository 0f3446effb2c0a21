package host

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/junctor-mcp/junctor/host/redact"
)

// A redactor masks secrets in the texts of plugins and servers: the secrets of the
// configuration, and those obtained later, such as tokens. Package redact finds secrets in a text;
// this file knows which ones the process has. read.go calls use, and reload.go drop and retire,
// once for each mask. The Process has one. Its methods may be called concurrently; hide and finds
// take no lock.
type redactor struct {
	configured atomic.Pointer[[]*configMask]

	mu        sync.Mutex
	permanent []string // guarded by mu; secrets of keyring(), which do not expire
	obtained  []string // guarded by mu; oldest first
	replacer  atomic.Pointer[redact.Scrubber]
}

// A configMask masks the secrets of one configuration.
type configMask struct {
	hide    func(string) string
	finds   func(string) bool
	retired bool // guarded by redactor.mu; no connection uses the configuration
}

const (
	maxObtainedSecrets = 2048 // tokens, two of each credential; the oldest have expired
	maxEncodedSecrets  = 128  // of the newest tokens are masked in base64 too
	minSecretLength    = 6    // bytes; shorter secrets would match ordinary words
)

// maxRetiredMasks bounds the masks of configurations that no connection uses: plugins
// may still print texts of their servers.
const maxRetiredMasks = 8

// use masks the secrets of a configuration until its mask is dropped or retired.
func (r *redactor) use(hide func(string) string, finds func(string) bool) *configMask {
	m := &configMask{hide: hide, finds: finds}
	r.change(func(all []*configMask) []*configMask { return append(all, m) })
	return m
}

// drop removes the mask of a configuration that was never in effect.
func (r *redactor) drop(m *configMask) {
	r.change(func(all []*configMask) []*configMask {
		return slices.DeleteFunc(all, func(o *configMask) bool { return o == m })
	})
}

// retire removes a mask once maxRetiredMasks others were retired after it.
func (r *redactor) retire(m *configMask) {
	r.change(func(all []*configMask) []*configMask {
		m.retired = true
		all = append(slices.DeleteFunc(all, func(o *configMask) bool { return o == m }), m) // the latest one is last
		excess := -maxRetiredMasks
		for _, o := range all {
			if o.retired {
				excess++
			}
		}
		return slices.DeleteFunc(all, func(o *configMask) bool {
			if !o.retired || excess <= 0 {
				return false
			}
			excess--
			return true
		})
	})
}

// change replaces the masks by what f makes of a copy of them.
func (r *redactor) change(f func([]*configMask) []*configMask) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []*configMask
	if before := r.configured.Load(); before != nil {
		all = slices.Clone(*before)
	}
	all = f(all)
	r.configured.Store(&all)
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
	older := max(0, len(r.obtained)-maxEncodedSecrets)
	r.replacer.Store(redact.New(slices.Concat(r.permanent, r.obtained[older:]), r.obtained[:older]...))
}

// hide masks the secrets in a text.
func (r *redactor) hide(text string) string {
	if masks := r.configured.Load(); masks != nil {
		for _, mask := range *masks {
			text = mask.hide(text)
		}
	}
	if known := r.replacer.Load(); known != nil {
		text = known.Replace(text)
	}
	return text
}

// finds reports whether a text has a secret that is no short word.
func (r *redactor) finds(text string) bool {
	if masks := r.configured.Load(); masks != nil {
		for _, mask := range *masks {
			if mask.finds(text) {
				return true
			}
		}
	}
	return r.replacer.Load().Finds(text)
}
