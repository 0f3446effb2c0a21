package language

import (
	"strings"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/junctor-mcp/junctor/sdk"
)

// FormOfSchema returns the form of a block whose body a plugin reads with a schema.
func FormOfSchema(schema sdk.Schema) *Form {
	f := &Form{Blocks: map[string]Shape{}}
	for _, a := range schema.Attributes {
		e := Entry{Name: a.Name, Doc: a.Description, Required: a.Required, Private: a.Sensitive}
		e.Values = Values{Accepts: acceptedBy(a), Words: a.Enum, Schema: settingSchema(a)}
		if a.Default != nil {
			e.Unset = "`" + string(a.Default) + "`"
		}
		if a.Deprecated != "" {
			e.Doc += " Deprecated: " + a.Deprecated + "."
		}
		f.Entries = append(f.Entries, e)
	}
	for _, b := range schema.Blocks {
		sh := Shape{Many: b.List, Doc: b.Schema.Description, Body: FormOfSchema(b.Schema)}
		if b.Label != "" {
			sh.Labels = 1
		}
		f.Blocks[b.Name] = sh
	}
	return f
}

// acceptedBy describes the values of an attribute of a plugin.
func acceptedBy(a sdk.Attribute) string {
	if len(a.Enum) > 0 {
		return codeList(a.Enum)
	}
	t, err := ctyjson.UnmarshalType(a.Type)
	switch {
	case err != nil:
		return Anything.Accepts
	case a.Format != "" && (t == cty.String || t == cty.Number):
		return strings.ReplaceAll(a.Format, "_", " ")
	}
	return TypeName(t)
}
