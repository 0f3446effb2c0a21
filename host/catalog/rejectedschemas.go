package catalog

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/schema"
	"github.com/junctor-mcp/junctor/host/shape"
)

// Schemas come from untrusted servers, and some clients resolve or expand references in
// them. A schema that the vetter rejects reaches no client: the input schema becomes
// any object, and the output schema is removed.

// anyObject replaces a rejected input schema.
var anyObject = []byte(`{"type":"object"}`)

// The members of a tool's _meta with the reason for a replaced schema.
const (
	metaInput  = "junctor/inputSchema"
	metaOutput = "junctor/outputSchema"
)

// Refused holds the reasons why the schemas of a tool were replaced. An empty reason
// means that the schema is the server's own.
type Refused struct{ Input, Output string }

// vetSchemas corrects the schemas of a tool, and replaces the rejected ones. left has the
// paths of what was left out of them.
func vetSchemas(raw []byte, d Describe) (_ []byte, r Refused, left []string) {
	if was := mcp.Member(raw, "inputSchema"); was != nil {
		is, out, fits := shape.InputSchema(was)
		if r.Input = schemaProblem(was, is, fits, d); r.Input != "" {
			is, out = anyObject, nil
			raw = mcp.SetPath(raw, []string{"_meta", metaInput}, mcp.AppendText(nil, "replaced: "+r.Input))
		}
		raw, left = withMember(raw, "inputSchema", is), append(left, out...)
	}
	switch was := mcp.Member(raw, "outputSchema"); string(was) {
	case "":
	case "null":
		raw = mcp.DeleteMember(raw, "outputSchema")
	default:
		is, out, fits := shape.OutputSchema(was)
		var more []string
		if r.Output = schemaProblem(was, is, fits, d); r.Output == "" {
			is, more, r.Output = portable(is)
		}
		if r.Output != "" {
			raw = mcp.DeleteMember(raw, "outputSchema")
			return mcp.SetPath(raw, []string{"_meta", metaOutput}, mcp.AppendText(nil, "removed: "+r.Output)), r, left
		}
		raw, left = withMember(raw, "outputSchema", is), slices.Concat(left, out, more)
	}
	return raw, r, left
}

// portable returns an output schema that clients can compile, the paths of what was left
// out, and the reason why there is none, or "". Clients compile output schemas, and no
// input schemas.
func portable(s []byte) (is []byte, left []string, why string) {
	is, pointers, err := schema.Portable(s)
	if err != nil {
		return nil, nil, vetProblem(err)
	}
	for _, pointer := range pointers {
		left = append(left, "outputSchema"+strings.ReplaceAll(pointer, "/", "."))
	}
	return is, left, ""
}

// withMember is mcp.SetMember, but keeps the bytes if the member has that value.
func withMember(raw []byte, name string, value []byte) []byte {
	if bytes.Equal(mcp.Member(raw, name), value) {
		return raw
	}
	return mcp.SetMember(raw, name, value)
}

// schemaProblem returns the reason why a schema is rejected, or "". s is the corrected
// schema, if the schema fits.
func schemaProblem(was, s []byte, fits bool, d Describe) string {
	switch {
	case !bytes.HasPrefix(was, []byte("{")):
		return "the schema is not an object"
	case !fits:
		return "the schema does not allow an object"
	}
	if err := schema.Vet(s); err != nil {
		return vetProblem(err)
	}
	if d != Verbatim {
		if where := hiddenCharacters(s); where != "" {
			return fmt.Sprintf("the schema has invisible characters at %.200s", where)
		}
	}
	return ""
}

func vetProblem(err error) string {
	if vet, ok := errors.AsType[*schema.VetError](err); ok {
		return Visible(vet.Error())
	}
	return "the schema cannot be read"
}

// notes returns notes about the rejected schemas of a tool.
func (r Refused) notes(tool string) (all []Note) {
	if r.Input != "" {
		all = append(all, Note{Text: fmt.Sprintf("tool %.64q: its input schema is replaced by one that accepts any object: %s", tool, r.Input)})
	}
	if r.Output != "" {
		all = append(all, Note{Text: fmt.Sprintf("tool %.64q: its output schema is removed: %s", tool, r.Output)})
	}
	return all
}

// reason returns the reason why one of the schemas is rejected, or "".
func (r Refused) reason() string {
	if r.Input != "" {
		return "its input schema is rejected: " + r.Input
	}
	if r.Output != "" {
		return "its output schema is rejected: " + r.Output
	}
	return ""
}
