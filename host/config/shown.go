package config

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
)

// unseen is what people see of a sensitive value.
const unseen = "(sensitive)"

// shownValue is v as people may see it. Of a sensitive attribute they see the
// shape and the names; of a value that came from outside not even those.
func shownValue(v cty.Value, sensitive bool) cty.Value {
	switch ty := v.Type(); {
	case v.IsMarked():
		return cty.StringVal(unseen)
	case v.IsNull():
		return v
	case ty.IsObjectType() || ty.IsMapType():
		members := map[string]cty.Value{}
		for it := v.ElementIterator(); it.Next(); {
			key, e := it.Element()
			members[key.AsString()] = shownValue(e, sensitive || soundsSecret(key.AsString()))
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
		return cty.StringVal(unseen)
	}
	return v
}

// jsonOf renders a known, unmarked value. Members are sorted by name, so that
// the order in the file does not matter.
func jsonOf(v cty.Value) []byte {
	b, err := ctyjson.Marshal(v, v.Type())
	if err != nil {
		panic(err) // only for values that evaluation refuses
	}
	return b
}

// fingerprint covers what a running connection was made from. Timeouts, names
// and permissions are looked up at each call and are not part of it.
func (l *loader) fingerprint(d *draft) string {
	t := l.printed(d.transport.plugin.Plugin, d.Transport)
	for _, a := range serverAttributes {
		if a.reconnects {
			t[a.path()] = a.get(d.Server)
		}
	}
	if d.Auth != nil {
		t["auth"] = l.printed(d.auth.plugin.Plugin, *d.Auth)
	}
	b, err := json.Marshal(t)
	if err != nil {
		panic(err) // strings, and JSON that was just made
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// printed is what counts of a block. The placeholders of keyring() are new with
// each load, so their names and places count instead.
func (l *loader) printed(p Plugin, b Block) map[string]any {
	settings, places := l.keyring.normal(b.Settings)
	all := map[string]any{
		"plugin": p.Name, "use": p.Use, "source": p.Source,
		"component": b.Component, "settings": json.RawMessage(settings), "env": b.EnvNames, "dir": b.Dir,
	}
	if len(places) > 0 {
		all["keyring"] = places
	}
	return all
}
