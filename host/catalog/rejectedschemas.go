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
// paths of what was left out of them. It is pure. Package schema decides what is rejected and
// what is corrected. newTool calls it.
func vetSchemas(raw []byte, d Describe) (_ []byte, r Refused, left []string) {
	if was := mcp.Member(raw, "inputSchema"); was != nil {
		is, out, fits := shape.InputSchema(was)
		is, more, why := usable("inputSchema", was, is, fits, d, schema.Repair)
		if r.Input, out = why, append(out, more...); why != "" {
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
		if is, more, r.Output = usable("outputSchema", was, is, fits, d, schema.Portable); r.Output != "" {
			raw = mcp.DeleteMember(raw, "outputSchema")
			return mcp.SetPath(raw, []string{"_meta", metaOutput}, mcp.AppendText(nil, "removed: "+r.Output)), r, left
		}
		left = slices.Concat(left, out, more)
		if is == nil {
			return mcp.DeleteMember(raw, "outputSchema"), r, left
		}
		raw = withMember(raw, "outputSchema", is)
	}
	return raw, r, left
}

// withMember is mcp.SetMember, but keeps the bytes if the member has that value.
func withMember(raw []byte, name string, value []byte) []byte {
	if bytes.Equal(mcp.Member(raw, name), value) {
		return raw
	}
	return mcp.SetMember(raw, name, value)
}

// usable returns a schema of a tool that clients can read, the paths of what was left out of
// it, and the reason why there is none, or "". s is the schema with a root that the member
// allows, if it fits. Clients compile output schemas, and the APIs of models refuse requests
// with an invalid input schema; correct vets and corrects one kind.
func usable(member string, was, s []byte, fits bool, d Describe, correct func([]byte) ([]byte, []string, error)) (
	is []byte, left []string, why string,
) {
	switch {
	case !bytes.HasPrefix(was, []byte("{")):
		return nil, nil, "the schema is not an object"
	case !fits:
		return nil, nil, "the schema does not allow an object"
	}
	is, pointers, err := correct(s)
	if err != nil {
		return nil, nil, vetProblem(err)
	}
	if d != Verbatim {
		if where := hiddenCharacters(s); where != "" {
			return nil, nil, fmt.Sprintf("the schema has invisible characters at %.200s", where)
		}
	}
	for _, pointer := range pointers {
		left = append(left, member+strings.ReplaceAll(pointer, "/", "."))
	}
	return is, left, ""
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
		all = append(all,
			Note{Text: fmt.Sprintf("tool %.64q: its input schema is replaced by one that accepts any object: %s",
				tool, r.Input)})
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
