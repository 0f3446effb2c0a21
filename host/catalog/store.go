package catalog

import (
	"encoding/json"
	"fmt"
	"iter"
	"path/filepath"
	"time"

	"github.com/junctor-mcp/junctor/host/cache"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/upstream"
)

const (
	storeVersion = 1
	// believed is how long a list on disk counts when its server did not say.
	believed = 24 * time.Hour
)

// lists are all lists of one server.
type lists struct {
	Tools, Resources, Templates, Prompts upstream.Listing

	fetched time.Time
	fresh   bool // asked for by this process
}

// all yields the lists with their names.
func (l *lists) all() iter.Seq2[string, *upstream.Listing] {
	return func(yield func(string, *upstream.Listing) bool) {
		_ = yield("tools", &l.Tools) && yield("resources", &l.Resources) &&
			yield("templates", &l.Templates) && yield("prompts", &l.Prompts)
	}
}

// stale reports whether the lists should be asked for again.
func (l *lists) stale(now time.Time) bool {
	for _, list := range l.all() {
		if list.TTL > 0 && now.Sub(l.fetched) > list.TTL {
			return true
		}
	}
	return now.Sub(l.fetched) > believed
}

// stored is the form of lists on disk.
type stored struct {
	Version int                `json:"version"`
	Fetched time.Time          `json:"fetched"`
	Lists   map[string]listing `json:"lists"`
}

type listing struct {
	Items    []json.RawMessage `json:"items"`
	TTL      int64             `json:"ttlMs,omitempty"`
	Degraded string            `json:"degraded,omitempty"`
}

func storeName(key string) string { return filepath.Join("catalogs", key+".json") }

// load reads the lists of a server from disk; nil when there are none that can
// be read.
func load(dir cache.Dir, key string) *lists {
	text, ok := dir.Read(storeName(key))
	if !ok {
		return nil
	}
	var st stored
	// The same strict scan as for a message: the bytes are passed on as they
	// are, to clients as well.
	if mcp.Scan(text) != nil || json.Unmarshal(text, &st) != nil || st.Version != storeVersion || st.Lists == nil {
		return nil
	}
	l := &lists{fetched: st.Fetched}
	for name, list := range l.all() {
		from := st.Lists[name]
		list.TTL, list.Degraded = time.Duration(from.TTL)*time.Millisecond, from.Degraded
		for _, item := range from.Items {
			list.Items = append(list.Items, item)
		}
	}
	return l
}

// save writes the lists of a server to disk. It composes the JSON itself: an
// encoder would take the white space out of the items, which would then look
// changed when the server sends them again.
func save(dir cache.Dir, key string, l *lists) {
	b := fmt.Appendf(nil, `{"version":%d,"fetched":%q,"lists":{`, storeVersion, l.fetched.Format(time.RFC3339Nano))
	sep := ""
	for name, list := range l.all() {
		b = fmt.Appendf(b, `%s%q:{"ttlMs":%d,"degraded":%s,"items":[`, sep, name, list.TTL.Milliseconds(), mcp.AppendText(nil, list.Degraded))
		for i, item := range list.Items {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(b, item...)
		}
		b, sep = append(b, "]}"...), ","
	}
	dir.Write(storeName(key), append(b, "}}"...))
}
