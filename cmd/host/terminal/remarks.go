package terminal

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

const (
	maxRemarks    = 500       // remembered at most
	maxRemarkFile = 128 << 10 // bytes
	remarkTime    = 30 * 24 * time.Hour
)

// Remarks decides which notes and warnings are printed. A remark about a configuration or a
// list is the same each time, so a person at a terminal sees it once in 30 days; validate,
// doctor and status repeat it.
type Remarks struct {
	Quiet bool                 // print none
	Path  string               // of the file with those that were printed; empty: none is remembered
	Of    string               // path of the configuration that they are about
	shown map[string]time.Time // by digest; nil: not read yet
}

// Repeats reports whether to print a remark that would be the same the next time.
func (r *Remarks) Repeats(text string) bool {
	if r.Quiet || r.Path == "" {
		return !r.Quiet
	}
	if r.shown == nil {
		r.shown = readRemarks(r.Path)
	}
	sum := sha256.Sum256([]byte(r.Of + "\x00" + text))
	key := hex.EncodeToString(sum[:12])
	if at, ok := r.shown[key]; ok && time.Since(at) < remarkTime && time.Since(at) >= 0 {
		return false
	}
	r.shown[key] = time.Now().Truncate(time.Second)
	r.keep()
	return true
}

// readRemarks reads the file. A file that is missing or damaged has none.
func readRemarks(path string) map[string]time.Time {
	all := map[string]time.Time{}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxRemarkFile {
		return all
	}
	text, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(text, &all) != nil || all == nil || len(all) > maxRemarks {
		return map[string]time.Time{}
	}
	return all
}

// keep writes the file, without the oldest remarks. If that fails, remarks are repeated.
func (r *Remarks) keep() {
	keys := make([]string, 0, len(r.shown))
	for key := range r.shown {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b string) int { return r.shown[a].Compare(r.shown[b]) })
	for _, key := range keys[:max(0, len(keys)-maxRemarks)] {
		delete(r.shown, key)
	}
	text, err := json.Marshal(r.shown)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(r.Path), 0o700)
	}
	if err == nil {
		_ = ReplaceFile(r.Path, text)
	}
}

// ReplaceFile replaces a file of the user at once.
func ReplaceFile(path string, text []byte) error {
	temp := path + ".new"
	if err := os.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.WriteFile(temp, text, 0o600); err != nil {
		return err
	}
	return os.Rename(temp, path)
}
