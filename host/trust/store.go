package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/renameio/v2/maybe"

	"github.com/junctor-mcp/junctor/host/config/review"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/ownership"
)

const (
	maxRecord  = 8 << 20 // bytes of one record
	maxRecords = 10_000  // files that List reads
)

// A Record is a configuration that a person trusted.
type Record struct {
	Path   string               `json:"path"`   // canonical
	Digest string               `json:"digest"` // of config.Content
	At     time.Time            `json:"at"`
	Items  []string             `json:"items"` // of Review.Items
	Files  []review.ContentFile `json:"files"`
	// Settings is that of config.Content; empty in a record of an older version.
	Settings string `json:"settings,omitempty"`
}

// A Store keeps one record for each configuration, in files of a directory that only
// the user can read. It is safe for concurrent use, also by several processes. With an
// empty Dir it contains no record, and Put fails.
type Store struct{ Dir string }

// file returns the name of the file with the record of a path.
func (s Store) file(path string) string {
	sum := sha256.Sum256([]byte(path))
	return filepath.Join(s.Dir, hex.EncodeToString(sum[:16])+".json")
}

// Get returns the record of the configuration at a canonical path, or nil if it has no
// record. It fails for a damaged record, and for one that another user could have
// written.
func (s Store) Get(path string) (*Record, error) {
	if s.Dir == "" {
		return nil, nil
	}
	r, err := readRecord(s.file(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && r.Path != path {
		err = errors.New("it is about another configuration")
	}
	if err != nil {
		return nil, fault.New(fault.ConfigUntrusted, "reading what is trusted, in %s: %s", s.file(path), err).
			WithHint("remove that file, then run `junctor trust`")
	}
	if err := s.private(path); err != nil {
		return nil, err
	}
	return r, nil
}

// private returns an error if another user could have written the record of a path.
func (s Store) private(path string) error {
	for _, p := range []string{s.file(path), s.Dir, filepath.Dir(s.Dir)} {
		if why, command := ownership.Exposed(p); why != "" {
			return fault.New(fault.ConfigUntrusted, "what is trusted is not used: %s %s", p, why).
				WithHint("run `%s %s`, and look at what `junctor trust --list` shows", command, p)
		}
	}
	return nil
}

// readRecord reads a record of at most maxRecord bytes from a regular file.
func readRecord(file string) (*Record, error) {
	if info, err := os.Lstat(file); err == nil && !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxRecord+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxRecord {
		return nil, fmt.Errorf("the file is larger than %d MiB", maxRecord>>20)
	}
	var r Record
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, errors.New("the file is damaged")
	}
	return &r, nil
}

// Put stores a record and replaces an earlier one of the same path.
func (s Store) Put(r Record) error {
	if s.Dir == "" {
		return fault.New(fault.ConfigUntrusted, "there is no directory to remember trust in").
			WithHint("set HOME or JUNCTOR_HOME; without one, JUNCTOR_TRUST=%s:%s trusts this configuration",
				r.Path, r.Digest)
	}
	text, err := json.Marshal(r)
	if err == nil && len(text) > maxRecord {
		r.Items, r.Files = nil, nil // Digest still detects a change; only its details are lost
		text, err = json.Marshal(r)
	}
	if err == nil {
		err = os.MkdirAll(s.Dir, 0o700)
	}
	if err == nil {
		err = maybe.WriteFile(s.file(r.Path), text, 0o600)
	}
	if err != nil {
		return fault.Because(fault.ConfigUntrusted, err, "remembering that the configuration is trusted")
	}
	return nil
}

// Remove deletes the record of a canonical path. It reports whether there was one.
func (s Store) Remove(path string) (bool, error) {
	err := os.Remove(s.file(path))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, fault.Because(fault.ConfigUntrusted, err, "forgetting that the configuration was trusted")
	}
	return true, nil
}

// List returns all records, sorted by path. It skips files that are not valid records.
func (s Store) List() ([]Record, error) {
	entries, err := os.ReadDir(s.Dir)
	if errors.Is(err, fs.ErrNotExist) || s.Dir == "" {
		return nil, nil
	}
	if err != nil {
		return nil, fault.Because(fault.ConfigUntrusted, err, "reading what is trusted")
	}
	var all []Record
	for _, e := range entries[:min(len(entries), maxRecords)] {
		if filepath.Ext(e.Name()) != ".json" {
			continue
		}
		if r, err := readRecord(filepath.Join(s.Dir, e.Name())); err == nil {
			all = append(all, *r)
		}
	}
	slices.SortFunc(all, func(a, b Record) int { return strings.Compare(a.Path, b.Path) })
	return all, nil
}
