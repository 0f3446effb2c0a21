package languageserver

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/config/source"
)

// debounce is how long a text must not change before it is checked.
const debounce = 200 * time.Millisecond

// checkSoon lets the worker check a document after a delay. A later call replaces an earlier
// one.
func (s *server) checkSoon(uri string, delay time.Duration) {
	s.mu.Lock()
	s.due[uri] = time.Now().Add(delay)
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default: // the worker wakes already
	}
}

// work checks documents that are due, until ctx ends.
func (s *server) work(ctx context.Context) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		uris, next := s.takeDue(time.Now())
		for _, uri := range uris {
			if ctx.Err() != nil {
				return
			}
			s.check(ctx, uri)
		}
		if len(uris) > 0 {
			continue // others may have become due meanwhile
		}
		timer.Reset(next)
		select {
		case <-ctx.Done():
			return
		case <-s.wake:
		case <-timer.C:
		}
	}
}

// takeDue removes the documents that are due, and returns them and the time until the next.
func (s *server) takeDue(now time.Time) (uris []string, next time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	next = time.Hour
	for uri, at := range s.due {
		if wait := at.Sub(now); wait > 0 {
			next = min(next, wait)
			continue
		}
		uris = append(uris, uri)
		delete(s.due, uri)
	}
	slices.Sort(uris)
	return uris, next
}

// check publishes the diagnostics of a document. If it is part of a directory that is one
// configuration, it publishes those of all open documents there.
func (s *server) check(ctx context.Context, uri string) {
	d := s.documents.get(uri)
	switch {
	case d == nil:
		return
	case d.tooLarge:
		message := fmt.Sprintf("the file is larger than %d KiB", maxDocument>>10)
		s.publish(ctx, d, []diagnostic{{Severity: severityError, Source: producer, Message: message}})
		return
	case d.path == s.options.Managed, !isConfiguration(d.path):
		return // they have other languages
	}
	o := s.load(d)
	ds := s.diagnose(ctx, o)
	if len(o.Under) > 0 && onlyElsewhere(ds, o.Texts) {
		o.Under = nil // a mistake in the user's own configuration hides those of this one
		ds = s.diagnose(ctx, o)
	}
	for _, path := range slices.Sorted(maps.Keys(o.Texts)) {
		if other := s.documents.get(s.uris(path, d)); other != nil && slices.Equal(other.text, o.Texts[path]) {
			s.publish(ctx, other, diagnosticsOf(ds, path, other.text))
		}
	}
}

// isConfiguration reports whether a file may be a configuration. A lock file is HCL too.
func isConfiguration(path string) bool {
	return strings.HasSuffix(path, ".hcl") && !strings.HasSuffix(path, ".lock.hcl")
}

func (s *server) diagnose(ctx context.Context, o config.Options) source.Diagnostics {
	_, ds := config.Load(ctx, o)
	return ds
}

// uris returns the URI of an open document. d is the document that is checked.
func (s *server) uris(path string, d *document) string {
	if path == d.path {
		return d.uri
	}
	return uriOf(path)
}

// load returns how the configuration of a document is loaded.
func (s *server) load(d *document) config.Options {
	o := config.Options{
		Path: d.path, Texts: map[string][]byte{d.path: d.text}, Static: true, Describe: s.options.Describe,
		Managed: s.options.Managed, NoListener: true,
	}
	dir := filepath.Dir(d.path)
	switch {
	case s.options.Directory != "" && dir == s.options.Directory:
		o.Path, o.Texts = dir, s.documents.texts(dir)
	case filepath.Base(d.path) == config.FoundName && s.options.Own != "" && s.options.Own != d.path:
		o.Under = []string{s.options.Own}
	}
	return o
}

// onlyElsewhere reports whether there are errors, and none of them is in the texts.
func onlyElsewhere(ds source.Diagnostics, texts map[string][]byte) bool {
	return ds.HasErrors() && !slices.ContainsFunc(ds, func(d source.Diagnostic) bool { return texts[d.At.File] != nil })
}

// diagnosticsOf converts the diagnostics of one file, and those of no file.
func diagnosticsOf(ds source.Diagnostics, path string, text []byte) []diagnostic {
	all := []diagnostic{}
	for _, d := range ds {
		if d.At.File != path && d.At.File != "" {
			continue
		}
		one := diagnostic{Severity: severityError, Code: string(d.Code), Source: producer, Message: messageOf(d)}
		if d.Severity == source.Warning {
			one.Severity = severityWarning
		}
		if d.At.Line > 0 {
			one.Range = spanOf(text, d.Start, d.Stop)
		}
		all = append(all, one)
	}
	return all
}

// messageOf returns the text of a diagnostic with its explanation and its hint.
func messageOf(d source.Diagnostic) string {
	parts := []string{d.Summary}
	if d.Detail != "" {
		parts = append(parts, d.Detail)
	}
	if d.Hint != "" {
		parts = append(parts, "hint: "+d.Hint)
	}
	return strings.Join(parts, "\n")
}

// producer names the origin of a diagnostic.
const producer = "junctor"

// publish sends the diagnostics of a document.
func (s *server) publish(ctx context.Context, d *document, all []diagnostic) {
	s.notify(ctx, "textDocument/publishDiagnostics", publishParams{URI: d.uri, Version: &d.version, Diagnostics: all})
}
