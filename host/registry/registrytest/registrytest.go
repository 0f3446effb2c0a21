// Package registrytest serves an MCP registry on loopback for tests: the read-only part of
// the registry API, version v0.1.
package registrytest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
)

// A Registry is a registry with the entries of files.
type Registry struct {
	*httptest.Server
	Requests atomic.Int64
	Down     atomic.Bool // it answers with the status 503
	entries  []entry     // the newest version of a name last
}

type entry struct {
	name, version, status string
	text                  json.RawMessage
}

// New serves the files server.json that match a pattern, until the test ends. The member
// "status" of a file is moved to where a registry has it.
func New(t testing.TB, pattern string) *Registry {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no entries match %s: %v", pattern, err)
	}
	r := &Registry{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		var got struct{ Name, Version, Status string }
		if err == nil {
			err = json.Unmarshal(text, &got)
		}
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		r.entries = append(r.entries, entry{got.Name, got.Version, got.Status, text})
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v0.1/servers", r.list)
	mux.HandleFunc("GET /v0.1/servers/{name}/versions/{version}", r.version)
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		r.Requests.Add(1)
		if r.Down.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		mux.ServeHTTP(w, q)
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *Registry) isLatest(e entry) bool {
	newer := slices.ContainsFunc(r.entries[slices.IndexFunc(r.entries,
		func(o entry) bool { return string(o.text) == string(e.text) })+1:],
		func(o entry) bool { return o.name == e.name })
	return !newer
}

func (r *Registry) answer(e entry) map[string]any {
	status := e.status
	if status == "" {
		status = "active"
	}
	return map[string]any{"server": e.text,
		"_meta": map[string]any{"io.modelcontextprotocol.registry/official": map[string]any{
			"status": status, "isLatest": r.isLatest(e),
			"statusMessage": map[string]string{"deprecated": "use another one", "deleted": "it was malware"}[status],
		}}}
}

// list answers with a page. The cursor is opaque for clients: the number of the next entry.
func (r *Registry) list(w http.ResponseWriter, q *http.Request) {
	limit, err := strconv.Atoi(q.FormValue("limit"))
	if q.FormValue("limit") == "" {
		limit, err = 30, nil
	}
	from, wrong := 0, error(nil)
	if c := q.FormValue("cursor"); c != "" {
		from, wrong = strconv.Atoi(strings.TrimPrefix(c, "next:"))
	}
	if err != nil || wrong != nil || limit < 1 || limit > 100 {
		fail(w, http.StatusUnprocessableEntity, "validation failed")
		return
	}
	page, next := []any{}, ""
	for i := from; i < len(r.entries); i++ {
		e := r.entries[i]
		if q.FormValue("version") == "latest" && !r.isLatest(e) || e.status == "deleted" ||
			!strings.Contains(strings.ToLower(e.name), strings.ToLower(q.FormValue("search"))) {
			continue
		}
		if len(page) == limit {
			next = "next:" + strconv.Itoa(i)
			break
		}
		page = append(page, r.answer(e))
	}
	metadata := map[string]any{"count": len(page)}
	if next != "" {
		metadata["nextCursor"] = next
	}
	reply(w, http.StatusOK, map[string]any{"servers": page, "metadata": metadata})
}

func (r *Registry) version(w http.ResponseWriter, q *http.Request) {
	name, err := url.PathUnescape(q.PathValue("name"))
	for _, e := range slices.Backward(r.entries) {
		if err == nil && e.name == name && (e.version == q.PathValue("version") || q.PathValue("version") == "latest") {
			reply(w, http.StatusOK, r.answer(e))
			return
		}
	}
	fail(w, http.StatusNotFound, "Server not found")
}

func fail(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "application/problem+json")
	reply(w, status, map[string]any{"title": http.StatusText(status), "status": status, "detail": text})
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}
