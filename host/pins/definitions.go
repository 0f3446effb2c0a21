package pins

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"

	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/mcp"
)

// The lock file has digests only. The definitions that they belong to are kept in the cache, so
// that people see what changed. Without them only the new definition is shown.

// definitionsFile returns the name of the cache file with the pinned definitions of a server.
func definitionsFile(of *config.Server) string {
	return filepath.Join("definitions", digestOf(absolute(of.Lock), of.Name)+".json")
}

// keepDefinitions keeps the definitions that have the accepted digest, and those that were kept
// before and are still accepted.
func (s *Store) keepDefinitions(of *config.Server, seen map[string][]byte) {
	pinned := s.digests(of)
	kept := s.keptDefinitions(of)
	next := map[string][]byte{}
	for name, digest := range pinned {
		switch {
		case kept[name] != nil && catalog.DefinitionDigest(kept[name]) == digest: // its bytes may differ
			next[name] = kept[name]
		case seen[name] != nil && catalog.DefinitionDigest(seen[name]) == digest:
			next[name] = seen[name]
		}
	}
	s.deleteSecret(next)
	if maps.EqualFunc(next, kept, func(a, b []byte) bool { return string(a) == string(b) }) {
		return
	}
	s.o.Cache.Write(definitionsFile(of), encode(next))
}

// deleteSecret deletes the definitions that have a secret. The others stay: a server that knows a
// secret must not be able to remove what its tools said before.
func (s *Store) deleteSecret(definitions map[string][]byte) {
	if !s.o.Secret(string(encode(definitions))) {
		return
	}
	maps.DeleteFunc(definitions, func(name string, definition []byte) bool {
		return s.o.Secret(string(encode(map[string][]byte{name: definition})))
	})
}

// encode returns definitions as a JSON object. It keeps their bytes.
func encode(definitions map[string][]byte) []byte {
	b := []byte("{")
	for i, name := range slices.Sorted(maps.Keys(definitions)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(mcp.AppendText(b, name), ':'), definitions[name]...)
	}
	return append(b, '}')
}

// keptDefinitions reads the definitions that were kept. They may be anything.
func (s *Store) keptDefinitions(of *config.Server) map[string][]byte {
	text, ok := s.o.Cache.Read(definitionsFile(of))
	if !ok || mcp.Scan(text) != nil {
		return nil
	}
	var raw map[string]json.RawMessage
	if json.Unmarshal(text, &raw) != nil {
		return nil
	}
	all := map[string][]byte{}
	for name, definition := range raw {
		all[name] = definition
	}
	return all
}
