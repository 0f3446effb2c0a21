package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/host/cache"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// storeVersion is the version of the file format.
const storeVersion = 4

// A stored is the header of a file. The lists are further members under their names.
// Their depth is that of a message, so that items pass the scan again.
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
	key, _ := dir.Read(publicName(public))
	return string(key)
}

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
	l := &lists{fetched: st.Fetched, modern: st.Modern, said: Said{Instructions: st.Instructions, Extensions: st.Extensions, Modern: st.Modern}}
	for i, k := range kinds {
		var from storedList
		if json.Unmarshal(mcp.Member(text, k.name), &from) != nil {
			return nil
		}
		list := k.of(l)
		l.missing[i] = from.Missing
		list.TTL, list.Degraded, list.Unfinished = time.Duration(from.TTL)*time.Millisecond, from.Degraded, from.Unfinished
		for _, item := range from.Items {
			list.Items = append(list.Items, item)
		}
	}
	return l
}

// save writes the lists of a server to disk, unless they have a secret.
func (c *Catalog) save(s *Server, l *lists) {
	text := encode(l)
	if c.secret != nil && c.secret(string(text)) {
		c.dir.Remove(storeName(s.Key, l.offer))
		c.dir.Remove(lastName(s.Key))
		c.log.Debug("the lists of a server are not kept on disk, because they have a secret", "server", s.Name)
		return
	}
	c.dir.Write(storeName(s.Key, l.offer), text)
	c.dir.Write(lastName(s.Key), text)
	if s.Public != "" && LastKey(c.dir, s.Public) != s.Key {
		c.dir.Write(publicName(s.Public), []byte(s.Key))
	}
}

// encode returns the lists of a server as a file. It does not use a JSON encoder, which
// would remove white space from the items and make them look changed later.
func encode(l *lists) []byte {
	b := fmt.Appendf(nil, `{"version":%d,"fetched":%q,"modern":%t`, storeVersion, l.fetched.Format(time.RFC3339Nano), l.modern)
	if l.said.Instructions != "" {
		b = fmt.Appendf(b, `,"instructions":%s`, mcp.AppendText(nil, l.said.Instructions))
	}
	if len(l.said.Extensions) > 0 {
		b = fmt.Appendf(b, `,"extensions":%s`, l.said.Extensions)
	}
	for i, k := range kinds {
		list := k.of(l)
		b = fmt.Appendf(b, `,%q:{"ttlMs":%d,"degraded":%s,`, k.name, list.TTL.Milliseconds(), mcp.AppendText(nil, list.Degraded))
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

// An offer is the client capabilities that legacy servers receive. Their lists may
// depend on it: for example, a tool may need answers from the user.
type offer struct {
	number       int    // sequence number in this process
	capabilities string // a JSON object, or "" for an empty one
}

// suffix distinguishes the files of a server's lists by offer.
func (o offer) suffix() string {
	if o.capabilities == "" || o.capabilities == "{}" {
		return ""
	}
	sum := sha256.Sum256([]byte(o.capabilities))
	return "-" + hex.EncodeToString(sum[:])[:hashDigits]
}

// Offer sets the client capabilities that servers receive from now on. Lists on disk for
// these capabilities are loaded. Other lists stay in use until the servers were asked again.
func (c *Catalog) Offer(capabilities []byte) {
	c.mu.Lock()
	c.offer = offer{number: c.offer.number + 1, capabilities: string(capabilities)}
	now, servers := c.offer, c.servers
	c.mu.Unlock()
	for _, s := range servers {
		if s.Offer != nil {
			continue
		}
		if l := load(c.dir, s.Key, now); l != nil && (!l.borrowed || c.unknown(s.Name)) {
			c.publish(s, l)
		}
	}
}

// unknown reports whether no lists of a server are known.
func (c *Catalog) unknown(server string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lists[server] == nil
}

// offerTo returns the current capabilities for a server. The caller holds mu.
func (c *Catalog) offerTo(s *Server) offer {
	if s.Offer != nil {
		return offer{capabilities: string(s.Offer)}
	}
	return c.offer
}
