package upstream

import "time"

// credentials says, by another text, that the credentials have changed.
func (u *Upstream) credentials() string {
	if u.opts.Changed == nil {
		return ""
	}
	return u.opts.Changed()
}

// Retry makes the next call connect at once, however often that failed before:
// what was in the way has changed, as after a login.
func (u *Upstream) Retry() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.retry = time.Time{}
	u.starts = starts{}
	u.delays.Reset()
}
