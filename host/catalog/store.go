package catalog

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"github.com/junctor-mcp/junctor/host/cache"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// storeVersion changes with the form of the files.
const storeVersion = 3

// A stored is what stands in a file beside the lists, which are members under
// their names: no deeper than in a message, so that what passed the scan once
// passes it again.
type stored struct {
	Version int       `json:"version"`
	Fetched time.Time `json:"fetched"`
	Modern  bool      `json:"modern"`
}

type storedList struct {
	Items    []json.RawMessage `json:"items"`
	TTL      int64             `json:"ttlMs"`
	Degraded string            `json:"degraded"`

	Unfinished *upstream.Unfinished `json:"unfinished"`
}

// storeName is the file of a server's lists as they were for an offer.
func storeName(key string, o offer) string { return filepath.Join("catalogs", key+o.suffix()+".json") }

// load reads the lists of a server from disk; nil when there are none that can
// be read.
func load(dir cache.Dir, key string, o offer) *lists {
	text, ok := dir.Read(storeName(key, o))
	if !ok {
		return nil
	}
	var st stored
	// The same strict scan as for a message: the bytes are passed on as they
	// are, to clients as well.
	if mcp.Scan(text) != nil || json.Unmarshal(text, &st) != nil || st.Version != storeVersion {
		return nil
	}
	l := &lists{fetched: st.Fetched, modern: st.Modern, offer: o}
	for _, k := range kinds {
		var from storedList
		if json.Unmarshal(mcp.Member(text, k.name), &from) != nil {
			return nil
		}
		list := k.of(l)
		list.TTL, list.Degraded, list.Unfinished = time.Duration(from.TTL)*time.Millisecond, from.Degraded, from.Unfinished
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
	b := fmt.Appendf(nil, `{"version":%d,"fetched":%q,"modern":%t`, storeVersion, l.fetched.Format(time.RFC3339Nano), l.modern)
	for _, k := range kinds {
		list := k.of(l)
		b = fmt.Appendf(b, `,%q:{"ttlMs":%d,"degraded":%s,`, k.name, list.TTL.Milliseconds(), mcp.AppendText(nil, list.Degraded))
		if u := list.Unfinished; u != nil {
			b = fmt.Appendf(b, `"unfinished":{"known":%d,"total":%d,"ended":%t},`, u.Known, u.Total, u.Ended)
		}
		b = append(b, `"items":[`...)
		for i, item := range list.Items {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(b, item...)
		}
		b = append(b, "]}"...)
	}
	dir.Write(storeName(key, l.offer), append(b, '}'))
}
