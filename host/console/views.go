package console

import (
	"bytes"
	"embed"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

//go:embed pages/*.html
var pageFiles embed.FS

// views writes pages. The Server has one. It is immutable after newViews and may be used
// concurrently.
type views struct {
	all   map[string]*template.Template // by name
	texts texts
	names *references
}

// newViews parses the pages. hide masks secrets in texts of servers.
func newViews(hide func(string) string) *views {
	v := &views{all: map[string]*template.Template{}, texts: texts{hide}, names: newReferences(texts{hide})}
	layout := template.Must(template.New("layout.html").Funcs(v.functions()).ParseFS(pageFiles, "pages/layout.html"))
	names, err := fs.Glob(pageFiles, "pages/*.html")
	if err != nil {
		panic(err) // the pattern is constant
	}
	for _, path := range names {
		name := strings.TrimSuffix(strings.TrimPrefix(path, "pages/"), ".html")
		if name != "layout" {
			v.all[name] = template.Must(template.Must(layout.Clone()).ParseFS(pageFiles, path))
		}
	}
	return v
}

// functions are those of the pages.
func (v *views) functions() template.FuncMap {
	return template.FuncMap{
		"line": v.texts.line, "long": v.texts.block, "whole": v.texts.whole, "plain": v.texts.plain,
		"duration": shortDuration, "number": numberOf, "bytes": sizeOf,
		"ago": ago, "in": in, "clock": clock, "machine": machineTime,
		"stylePath":  func() string { return stylePath },
		"scriptPath": func() string { return scriptPath }, "iconPath": func() string { return iconPath },
		"query": v.query, "reference": v.names.of, "secret": func(s string) bool { return v.texts.hide(s) != s },
		"short": short, "percent": percent, "plural": plural, "covers": coversText,
	}
}

// write sends a page. The page is complete before its first byte is sent.
func (v *views) write(w http.ResponseWriter, status int, name string, data any) {
	var b bytes.Buffer
	root := "session"
	if _, ok := data.(front); ok {
		root = "front"
	}
	if err := v.all[name].ExecuteTemplate(&b, root, data); err != nil {
		http.Error(w, "The page could not be made: "+err.Error(), http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(b.Len()))
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // the browser may have left
}

// query returns a query with names and values in turn. It leaves empty values out.
func query(pairs ...string) string {
	q := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	return "?" + q.Encode()
}

// query is the query of a link, without secrets.
func (v *views) query(pairs ...string) string {
	shown := make([]string, len(pairs))
	for i, one := range pairs {
		shown[i] = v.texts.hide(one)
	}
	return query(shown...)
}

func numberOf(n any) string {
	switch n := n.(type) {
	case int:
		return number(int64(n))
	case int64:
		return number(n)
	case uint32:
		return number(int64(n))
	case uint64:
		return number(int64(n))
	}
	return ""
}

func sizeOf(n any) string {
	switch n := n.(type) {
	case int:
		return size(n)
	case int64:
		return size(n)
	case uint64:
		return size(n)
	}
	return ""
}

// short returns the beginning of a digest.
func short(digest string) string { return digest[:min(len(digest), 12)] }

// percent returns a share as a number from 0 to 100.
func percent(share float64) string { return strconv.Itoa(int(min(max(share, 0), 1)*100 + 0.5)) }

// plural returns a number with a noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return number(int64(n)) + " " + noun + "s"
}

// timeOf returns a time, or zero for none.
func timeOf(t any) time.Time {
	switch t := t.(type) {
	case time.Time:
		return t
	case *time.Time:
		if t != nil {
			return *t
		}
	}
	return time.Time{}
}

func ago(t any) string {
	at := timeOf(t)
	if at.IsZero() {
		return ""
	}
	if d := time.Since(at); d >= time.Second {
		return shortDuration(d.Truncate(time.Second)) + " ago"
	}
	return "now"
}

func in(t any) string {
	if d := time.Until(timeOf(t)); d > 0 {
		return "in " + shortDuration(d.Truncate(time.Second)+time.Second)
	}
	return "now"
}

func clock(t any) string {
	if at := timeOf(t); !at.IsZero() {
		return at.Local().Format("2006-01-02 15:04:05")
	}
	return ""
}

func machineTime(t any) string {
	if at := timeOf(t); !at.IsZero() {
		return at.Format(time.RFC3339)
	}
	return ""
}
