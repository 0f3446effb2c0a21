package config

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/junctor-mcp/junctor/host/config/expression"
	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/secretname"
)

// sensitiveText replaces a sensitive value in output for people.
const sensitiveText = "(sensitive)"

// shownValue returns v as it may be printed. In a sensitive attribute every leaf is
// replaced. A value from env() or file() is replaced as a whole. Only what it returns may be
// printed.
func shownValue(v cty.Value, sensitive bool) cty.Value {
	switch ty := v.Type(); {
	case v.IsMarked():
		return cty.StringVal(sensitiveText)
	case v.IsNull():
		return v
	case ty.IsObjectType() || ty.IsMapType():
		members := map[string]cty.Value{}
		for it := v.ElementIterator(); it.Next(); {
			key, e := it.Element()
			members[key.AsString()] = shownValue(e, sensitive || secretname.Sounds(key.AsString()))
		}
		return cty.ObjectVal(members)
	case ty.IsTupleType() || ty.IsListType() || ty.IsSetType():
		var elements []cty.Value
		for it := v.ElementIterator(); it.Next(); {
			_, e := it.Element()
			elements = append(elements, shownValue(e, sensitive))
		}
		return cty.TupleVal(elements)
	case sensitive:
		return cty.StringVal(sensitiveText)
	}
	return v
}

// jsonOf encodes a known, unmarked value. Members are sorted by name, so the order
// in the file does not change the result.
func jsonOf(v cty.Value) []byte {
	b, err := ctyjson.Marshal(v, v.Type())
	if err != nil {
		panic(err) // impossible: eval rejects unknown values and infinite numbers
	}
	return b
}

// fingerprint returns the hash of everything that decides what a server offers. A change of how it is
// computed discards the cached lists of all users once. The
// lists of a server are cached under it. What else a connection depends on, such as
// share and timeouts, has the tag reload:"connection" without the word cache.
func (d *draft) fingerprint(keys *expression.Keyring) string {
	t := fingerprintFields(keys, d.transport.plugin.Plugin, d.Transport)
	maps.Copy(t, language.Noticed(d.Server, language.ReloadCache))
	if d.Auth != nil {
		t["auth"] = fingerprintFields(keys, d.auth.plugin.Plugin, *d.Auth)
	}
	b, err := json.Marshal(t)
	if err != nil {
		panic(err) // impossible: strings, numbers and valid JSON
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// fingerprintFields returns the parts of a block that fingerprint hashes. The
// placeholders of keyring() differ in each load, so their names and offsets are
// hashed instead.
func fingerprintFields(keys *expression.Keyring, p Plugin, b Block) map[string]any {
	settings, places := keys.Normalize(b.Settings)
	all := map[string]any{
		"plugin": p.Name, "use": p.Use, "source": p.Source,
		"component": b.Component, "settings": json.RawMessage(settings), "env": b.EnvNames, "dir": b.Dir,
	}
	if len(places) > 0 {
		all["keyring"] = places
	}
	return all
}
