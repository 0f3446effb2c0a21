package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/config/review"
	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/fault"
)

const (
	maxPrograms = 64      // plugins that are not bundled
	maxHashed   = 1 << 30 // bytes of all their programs
)

// A Review is a configuration that was read and not evaluated.
type Review struct {
	Path     string // canonical
	Content  *review.Content
	Digest   string
	Programs []Program
}

// A Program is the program of a plugin that is not bundled.
type Program struct {
	Plugin string
	Path   string
	SHA256 string // empty if there is a Problem
	// Problem is the reason why the program could not be read. Such a plugin cannot
	// be used.
	Problem string
}

// Read reviews the configuration at a location. find returns the path of a plugin's
// program. The Review is nil if a diagnostic is an error, or if Read returns an error:
// for a location without configuration, or with too many third-party plugins.
func Read(at config.Location, lookup func(string) (string, bool),
	find func(config.Plugin) (string, error)) (*Review, source.Diagnostics, error) {
	path, err := at.Canonical()
	if err != nil {
		return nil, nil, err
	}
	content, diags := config.ReadContent(at.Path, lookup)
	if content == nil {
		return nil, diags, nil
	}
	if n := len(content.Plugins); n > maxPrograms {
		return nil, nil, fault.New(fault.ConfigInvalid,
			"%s requires %d plugins that are not bundled; at most %d can be reviewed", path, n, maxPrograms).
			WithHint("remove those that no server uses, or name the configuration with --config")
	}
	r, left := &Review{Path: path, Content: content}, int64(maxHashed)
	for _, p := range content.Plugins {
		program := Program{Plugin: p.Name, Path: p.Source}
		found, err := find(config.Plugin{Name: p.Name, Use: p.Name, Source: p.Source, At: p.At})
		if err == nil {
			program.Path = found
			program.SHA256, err = hashFile(found, &left)
		}
		if err != nil {
			program.Problem = err.Error()
		} else {
			content.Pin(p.Name, program.SHA256)
		}
		r.Programs = append(r.Programs, program)
	}
	r.Digest = content.Digest()
	return r, diags, nil
}

// hashFile returns the sha256 of a regular file. It fails for any other file without
// opening it: reading a FIFO may not end, and opening a device can have effects. left
// is the number of bytes that may still be read.
func hashFile(path string, left *int64) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is not a regular file", path)
	}
	if *left -= info.Size(); *left < 0 {
		return "", fmt.Errorf("with %s the programs of plugins are larger than %d MiB together", path, maxHashed>>20)
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, io.LimitReader(f, info.Size())); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Items returns the programs and the outline as lines, each once and without its
// place in the file.
func (r *Review) Items() []string {
	var all []string
	for _, p := range r.Programs {
		digest := "sha256 " + p.SHA256
		if p.Problem != "" {
			digest = "not readable"
		}
		all = append(all, string(review.Loads)+" "+p.Path+", "+digest)
	}
	seen := map[string]bool{}
	for _, item := range r.Content.Outline {
		if text := itemText(item); !seen[text] {
			seen[text] = true
			all = append(all, text)
		}
	}
	return all
}

// itemText returns an item of an outline as a line.
func itemText(item review.Item) string {
	text := string(item.Kind) + " " + item.Text
	if item.In != "" {
		text += "  [" + item.In + "]"
	}
	return text
}

// Record returns the record to store once a person trusts the configuration.
func (r *Review) Record(now time.Time) Record {
	return Record{Path: r.Path, Digest: r.Digest, At: now.UTC(), Items: r.Items(), Files: r.Content.Files(),
		Settings: r.Content.Settings()}
}

// Trusted reports whether the digest is that of a record, or of the PATH:SHA256 pairs
// of environment, which are separated by commas. known may be nil.
func (r *Review) Trusted(known *Record, environment string) bool {
	if known != nil && known.Digest == r.Digest {
		return true
	}
	for _, pair := range strings.Split(environment, ",") {
		path, digest, ok := cutLast(strings.TrimSpace(pair), ":")
		if !ok || !strings.EqualFold(digest, r.Digest) {
			continue
		}
		if canonical, err := (config.Location{Path: path}).Canonical(); err == nil && canonical == r.Path {
			return true
		}
	}
	return false
}

// SameSettings reports whether nothing differs from a record but comments, layout and how long
// servers may take. A person who trusted the one need not be asked about the other: a file that
// another user could have changed is not read at all.
func (r *Review) SameSettings(known *Record) bool {
	return known != nil && known.Settings != "" && known.Settings == r.Content.Settings()
}

// cutLast is strings.Cut at the last separator.
func cutLast(text, separator string) (before, after string, found bool) {
	i := strings.LastIndex(text, separator)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(separator):], true
}

// A Change is the difference between a review and a record.
type Change struct {
	Added, Removed []string // items
	Files          []string // names of added, removed and changed files
}

// Since compares a review with a record.
func (r *Review) Since(before *Record) Change {
	now := r.Items()
	c := Change{Added: missing(now, before.Items), Removed: missing(before.Items, now)}
	files := r.Content.Files()
	for _, f := range slices.Concat(files, before.Files) {
		if (!slices.Contains(files, f) || !slices.Contains(before.Files, f)) && !slices.Contains(c.Files, f.Name) {
			c.Files = append(c.Files, f.Name)
		}
	}
	return c
}

// missing returns the items of a list that are not in another.
func missing(list, other []string) []string {
	has := map[string]bool{}
	for _, text := range other {
		has[text] = true
	}
	var all []string
	for _, text := range list {
		if !has[text] {
			all = append(all, text)
		}
	}
	return all
}
