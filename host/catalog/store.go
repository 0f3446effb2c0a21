package catalog

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/cache"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// storeVersion is the version of the file format.
const storeVersion = 4

// A stored is the header of a file. The lists are further members under their names.
// Their depth is that of a message, so that items pass the scan again. It and storedList are
// the format of files that other processes and later releases read: a change of their meaning
// needs another storeVersion.
type stored struct {
	Version int       `json:"version"`
	Fetched time.Time `json:"fetched"`
	Modern  bool      `json:"modern"`

	Instructions string          `json:"instructions"`
	Extensions   json.RawMessage `json:"extensions"`
}

type storedList struct {
	Items    []json.RawMessage `json:"items"`
	TTL      int64             `json:"ttlMs"`
	Degraded string            `json:"degraded"`

	Unfinished *upstream.Unfinished `json:"unfinished"`
	Missing    bool                 `json:"missing"` // the server had not answered when the file was written
}

// storeName returns the file name of a server's lists for an offer.
func storeName(key string, o offer) string { return filepath.Join("catalogs", key+o.suffix()+".json") }

// lastName returns the file name of a server's last lists, whatever the offer was.
func lastName(key string) string { return filepath.Join("catalogs", key+"-last.json") }

// publicName returns the name of the file that has the key of a server's lists, by what may be
// known of its settings without secrets.
func publicName(public string) string { return filepath.Join("catalogs", "public-"+public) }

// LastKey returns the key of the lists that a server with these public settings sent last;
// empty: there are none. See [Server].Public.
func LastKey(dir cache.Dir, public string) string {
	text, _ := dir.Read(publicName(public))
	if key := string(text); len(key) <= maxKey && strings.Trim(key, "0123456789abcdef-") == "" {
		return key
	}
	return "" // another program wrote it: a path, for example
}

// maxKey bounds a key in a file, in bytes.
const maxKey = 128

// Drop removes the lists on disk of the server with a key, for all offers.
func Drop(dir cache.Dir, key string) {
	for _, name := range dir.Names("catalogs") {
		if strings.HasPrefix(name, key) {
			dir.Remove(filepath.Join("catalogs", name))
		}
	}
}

// load reads the lists of a server from disk: those for an offer, or else the last ones for
// another offer, which are borrowed. It returns nil if there is no valid file.
func load(dir cache.Dir, key string, o offer) *lists {
	if l := read(dir, storeName(key, o)); l != nil {
		l.offer = o
		return l
	}
	l := read(dir, lastName(key))
	if l != nil {
		l.offer, l.borrowed = o, true
	}
	return l
}

// read reads the lists of a server from a file.
func read(dir cache.Dir, name string) *lists {
	text, ok := dir.Read(name)
	if !ok {
		return nil
	}
	var st stored
	// Scan the file like a message, because its items are passed to clients verbatim.
	if mcp.Scan(text) != nil || json.Unmarshal(text, &st) != nil || st.Version != storeVersion {
		return nil
	}
	l := &lists{fetched: st.Fetched, modern: st.Modern,
		said: Said{Instructions: st.Instructions, Extensions: st.Extensions, Modern: st.Modern}}
	for i, k := range kinds {
		var from storedList
		if json.Unmarshal(mcp.Member(text, k.name), &from) != nil {
			return nil
		}
		list := k.of(l)
		l.missing[i] = from.Missing
		list.TTL, list.Degraded, list.Unfinished = time.Duration(from.TTL)*time.Millisecond, from.Degraded,
			from.Unfinished
		for _, item := range from.Items {
			list.Items = append(list.Items, item)
		}
	}
	return l
}

// A disk keeps the lists of servers in files, and which servers did not get ready. A Catalog
// has one. It is set up before the first use, and may be used concurrently: files are replaced
// as a whole.
type disk struct {
	dir cache.Dir
	log hclog.Logger
	// secret may be nil; see Catalog.LeaveOut.
	secret func(text string) bool
}

// save writes the lists of a server to disk, unless they have a secret.
func (d *disk) save(s *Server, l *lists) {
	text := encode(l)
	if d.secret != nil && d.secret(string(text)) {
		d.dir.Remove(storeName(s.Key, l.offer))
		d.dir.Remove(lastName(s.Key))
		d.log.Debug("the lists of a server are not kept on disk, because they have a secret", "server", s.Name)
		return
	}
	d.dir.Write(storeName(s.Key, l.offer), text)
	d.dir.Write(lastName(s.Key), text)
	if s.Public != "" && LastKey(d.dir, s.Public) != s.Key {
		d.dir.Write(publicName(s.Public), []byte(s.Key))
	}
}

// encode returns the lists of a server as a file. It does not use a JSON encoder, which
// would remove white space from the items and make them look changed later.
func encode(l *lists) []byte {
	b := fmt.Appendf(nil, `{"version":%d,"fetched":%q,"modern":%t`, storeVersion,
		l.fetched.Format(time.RFC3339Nano), l.modern)
	if l.said.Instructions != "" {
		b = fmt.Appendf(b, `,"instructions":%s`, mcp.AppendText(nil, l.said.Instructions))
	}
	if len(l.said.Extensions) > 0 {
		b = fmt.Appendf(b, `,"extensions":%s`, l.said.Extensions)
	}
	for i, k := range kinds {
		list := k.of(l)
		b = fmt.Appendf(b, `,%q:{"ttlMs":%d,"degraded":%s,`, k.name, list.TTL.Milliseconds(),
			mcp.AppendText(nil, list.Degraded))
		if u := list.Unfinished; u != nil {
			b = fmt.Appendf(b, `"unfinished":{"known":%d,"total":%d,"ended":%t},`, u.Known, u.Total, u.Ended)
		}
		if l.missing[i] {
			b = append(b, `"missing":true,`...)
		}
		b = append(b, `"items":[`...)
		for n, item := range list.Items {
			if n > 0 {
				b = append(b, ',')
			}
			b = append(b, item...)
		}
		b = append(b, "]}"...)
	}
	return append(b, '}')
}

// loadNew reads the lists of the servers with another upstream than now.
func (d *disk) loadNew(now *contents, servers []*Server) map[*Server]*lists {
	loaded := map[*Server]*lists{}
	for _, s := range servers {
		if old := now.server(s.Name); old == nil || old.Upstream != s.Upstream {
			loaded[s] = load(d.dir, s.Key, now.offerTo(s))
		}
	}
	return loaded
}
