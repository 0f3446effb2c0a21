package languageserver

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/junctor-mcp/junctor/host/config/source"
)

const (
	maxDocument  = source.MaxFile // bytes; a larger file is no configuration
	maxDocuments = 256            // that are open at a time
)

// A document is a text that the editor has opened. It is replaced, never modified.
type document struct {
	uri, path string
	version   int
	text      []byte
	tooLarge  bool // text is empty until the document is opened again or replaced
}

// documents are the open documents by URI. The methods may be called concurrently.
type documents struct {
	mu  sync.Mutex
	all map[string]*document // guarded by mu
}

// open adds a document. It fails for a URI that names no file, and if too many are open.
func (ds *documents) open(item documentItem) error {
	path, err := pathOf(item.URI)
	if err != nil {
		return err
	}
	d := &document{uri: item.URI, path: path, version: item.Version}
	d.setText([]byte(item.Text))
	ds.mu.Lock()
	defer ds.mu.Unlock()
	if len(ds.all) >= maxDocuments && ds.all[item.URI] == nil {
		return fmt.Errorf("%d documents are open already", maxDocuments)
	}
	ds.all[item.URI] = d
	return nil
}

// setText sets the text of a new document.
func (d *document) setText(text []byte) {
	d.text, d.tooLarge = text, false
	if len(text) > maxDocument {
		d.text, d.tooLarge = nil, true
	}
}

// change replaces parts of a document. It fails if the document is not open.
func (ds *documents) change(id documentID, changes []change) error {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	before := ds.all[id.URI]
	if before == nil {
		return errors.New("the document is not open")
	}
	d := *before
	d.version = id.Version
	for _, c := range changes {
		switch {
		case c.Range == nil:
			d.setText([]byte(c.Text))
		case !d.tooLarge:
			from, to := offsetOf(d.text, c.Range.Start), offsetOf(d.text, c.Range.End)
			to = max(from, to)
			text := make([]byte, 0, len(d.text)-(to-from)+len(c.Text))
			text = append(append(append(text, d.text[:from]...), c.Text...), d.text[to:]...)
			d.setText(text)
		}
	}
	ds.all[id.URI] = &d
	return nil
}

// shut removes a document.
func (ds *documents) shut(uri string) {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	delete(ds.all, uri)
}

// get returns an open document, or nil.
func (ds *documents) get(uri string) *document {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	return ds.all[uri]
}

// texts returns the texts of the open documents in a directory, by path.
func (ds *documents) texts(dir string) map[string][]byte {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	texts := map[string][]byte{}
	for _, d := range ds.all {
		if filepath.Dir(d.path) == dir && !d.tooLarge {
			texts[d.path] = d.text
		}
	}
	return texts
}

// textsAt returns the texts of the files of a configuration: the file at path, or the *.hcl
// files of the directory there. edited are texts that an editor has, by path. Files that cannot
// be read are left out.
func textsAt(path string, edited map[string][]byte) map[string][]byte {
	texts := maps.Clone(edited)
	names, err := source.FilesAt(path)
	if err != nil {
		return texts
	}
	total := 0
	for _, name := range names {
		if _, open := edited[name]; open {
			continue
		}
		if text, err := source.ReadFile(name, source.MaxFile); err == nil && total+len(text) <= source.MaxTotal {
			texts[name] = text
			total += len(text)
		}
	}
	return texts
}

// pathOf returns the path of a file: URI, or an error for any other.
func pathOf(uri string) (string, error) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Path == "" || u.Host != "" && u.Host != "localhost" ||
		!utf8.ValidString(u.Path) {
		return "", errors.New("the URI names no file of this machine")
	}
	path := u.Path
	if runtime.GOOS == "windows" {
		path = strings.TrimPrefix(path, "/") // before the drive
	}
	path = filepath.FromSlash(path)
	if !filepath.IsAbs(path) || strings.ContainsRune(path, 0) {
		return "", errors.New("the URI names no file of this machine")
	}
	return filepath.Clean(path), nil
}

// uriOf returns the URI of an absolute path.
func uriOf(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}
