package console

import (
	"crypto/rand"
	"crypto/sha256"
	"strings"
	"sync"
	"time"
)

const (
	linkLife = 5 * time.Minute
	maxLinks = 16 // not used yet
)

// links holds the one-time links that were not used. Its methods may be called
// concurrently. It keeps digests only. The Server has one.
type links struct {
	mu  sync.Mutex
	all map[[sha256.Size]byte]time.Time // guarded by mu; the end of each link
}

// add returns the secret of a new link and its end. The link that ends first gives way if
// there are too many.
func (l *links) add() (secret string, end time.Time) {
	secret, end = rand.Text(), time.Now().Add(linkLife)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forget()
	if len(l.all) >= maxLinks {
		var first [sha256.Size]byte
		earliest := end
		for sum, at := range l.all {
			if !at.After(earliest) {
				first, earliest = sum, at
			}
		}
		delete(l.all, first)
	}
	if l.all == nil {
		l.all = map[[sha256.Size]byte]time.Time{}
	}
	l.all[sha256.Sum256([]byte(secret))] = end
	return secret, end
}

// use reports whether a secret is that of a link, and forgets the link.
func (l *links) use(secret string) bool {
	sum := sha256.Sum256([]byte(secret))
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forget()
	_, known := l.all[sum]
	delete(l.all, sum)
	return known
}

// forget removes the links that have ended. The caller holds mu.
func (l *links) forget() {
	now := time.Now()
	for sum, end := range l.all {
		if !now.Before(end) {
			delete(l.all, sum)
		}
	}
}

// clear removes all links.
func (l *links) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.all)
}

// linkPath is the path of one-time links, up to their secret.
const linkPath = "/open?key="

// hideLinks masks the secrets of one-time links in a text of the log: a viewer who opens one
// becomes an admin.
func hideLinks(text string) string {
	parts := strings.Split(text, linkPath)
	for i, part := range parts[1:] {
		parts[i+1] = "***" + strings.TrimLeft(part, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
	}
	return strings.Join(parts, linkPath)
}
