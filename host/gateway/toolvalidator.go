package gateway

import (
	"bytes"
	"fmt"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/schema"
)

// A toolValidator compares the arguments and results of tools with their schemas.
type toolValidator struct {
	schemas  *schema.Cache
	warnings *warnings
	lines    *limit.Lines // takes the warnings
	// removeOutput removes the output schema of a tool from the lists of clients.
	removeOutput func(*catalog.Tool)
}

// maxValidatedOutput bounds the structured results that are compared with their
// schema: the comparison only ever leads to a warning.
const maxValidatedOutput = 1 << 20

// The warnings about tools.
const (
	schemaUnusable = "a tool's schema cannot be used"
	outputMissing  = "a result lacks the structuredContent that the tool's output schema asks for"
	outputTooLarge = "a result of more than 1 MiB is not compared with the tool's output schema"
	outputMismatch = "a result does not fit the tool's output schema"
)

// arguments returns what is wrong with the arguments that a client gave for a tool. warn
// is told of a schema that cannot be used; nil: the log is.
func (v *toolValidator) arguments(t *catalog.Tool, args []byte, warn func(string)) []schema.Problem {
	for _, name := range t.Pinned() {
		// A member that differs in case only would override the pin at a server whose decoder
		// ignores case.
		if value, twin := mcp.FindMember(args, name); value != nil || twin {
			return []schema.Problem{{Path: name, Message: "is fixed by the configuration"}}
		}
	}
	if t.Input == nil {
		return nil
	}
	s, err := v.schemas.Get(t.Input)
	if err != nil {
		v.warnOnce(t, warn, schemaUnusable, "consequence", "its arguments are not checked", "error", err)
		return nil
	}
	if len(args) == 0 {
		args = []byte("{}")
	}
	args, unset := t.Unset(args)
	for _, name := range unset {
		if t.Needed(name) {
			return []schema.Problem{{Path: name, Message: "is required, so its default cannot be unset"}}
		}
	}
	return s.Check(args)
}

// output compares a result, as the server sent it, with the tool's output schema, and returns
// what is wrong, or "". warn is told of a mismatch; nil: the log is. output ignores errors and
// results that ask for input.
func (v *toolValidator) output(t *catalog.Tool, warn func(string), result []byte) (problem string) {
	if t.Output == nil || string(mcp.Member(result, "isError")) == "true" {
		return ""
	}
	if kind, said := mcp.TextMember(result, "resultType"); said && kind != "complete" {
		return ""
	}
	return v.compareOutput(t, warn, result)
}

// readable returns a result that clients with the tool's output schema can read, given what
// is wrong with it. Such a tool has no output schema from then on.
func (v *toolValidator) readable(t *catalog.Tool, result []byte, problem string) []byte {
	switch {
	case problem != "":
		v.removeOutput(t)
		return unfitResult(result, problem)
	case t.Output != nil && string(mcp.Member(result, "isError")) == "true":
		return v.readableError(t, result)
	}
	return result
}

// unfitResult returns a result that does not fit the schema which clients know as an error
// with the same content. Clients show the content of errors, and drop other results that do
// not fit.
func unfitResult(result []byte, problem string) []byte {
	structured := mcp.Member(result, "structuredContent")
	said := "The tool ran. Its result is shown as an error, because it does not fit the tool's output schema: " + problem + "."
	content := append([]byte(`[{"type":"text","text":`), mcp.AppendText(nil, said)...)
	content = append(content, '}')
	shown := structured == nil || string(structured) == "null"
	for block := range mcp.Elements(mcp.Member(result, "content")) {
		content = append(append(content, ','), block...)
		text, _ := mcp.TextMember(block, "text")
		shown = shown || bytes.Equal(mcp.Canonical([]byte(text)), mcp.Canonical(structured))
	}
	if !shown {
		content = append(content, `,{"type":"text","text":`...)
		content = append(mcp.AppendText(content, string(structured)), '}')
	}
	result = mcp.SetMember(mcp.DeleteMember(result, "structuredContent"), "content", append(content, ']'))
	return mcp.SetMember(result, "isError", []byte("true"))
}

// readableError returns an error of a tool that clients can read. Clients compare also
// the structured content of an error with the schema of results, and show the mismatch
// instead of the error. Structured content that does not match is left out; it becomes a
// text if the error has no other content.
func (v *toolValidator) readableError(t *catalog.Tool, result []byte) []byte {
	structured := mcp.Member(result, "structuredContent")
	if structured == nil || len(structured) > maxValidatedOutput {
		return result
	}
	if s, err := v.schemas.Get(t.Output); err != nil || len(s.CheckResult(structured)) == 0 {
		return result
	}
	for range mcp.Elements(mcp.Member(result, "content")) {
		return mcp.DeleteMember(result, "structuredContent")
	}
	text := mcp.AppendText([]byte(`[{"type":"text","text":`), string(structured))
	return mcp.DeleteMember(mcp.SetMember(result, "content", append(text, "}]"...)), "structuredContent")
}

// compareOutput warns about structured content that does not match the schema, and returns
// what is wrong, or "".
func (v *toolValidator) compareOutput(t *catalog.Tool, warn func(string), result []byte) (problem string) {
	structured := mcp.Member(result, "structuredContent")
	switch {
	case structured == nil:
		v.warnOnce(t, warn, outputMissing)
		return "structuredContent is missing"
	case len(structured) > maxValidatedOutput:
		v.warnOnce(t, warn, outputTooLarge)
		return ""
	}
	s, err := v.schemas.Get(t.Output)
	if err != nil {
		v.warnOnce(t, warn, schemaUnusable, "consequence", "its results are not checked", "error", err)
		return ""
	}
	if problems := s.CheckResult(structured); len(problems) > 0 {
		problem = problems[0].String()
		v.warn(t, warn, outputMismatch, "problem", problem)
	}
	return problem
}

// warn reports a defect of a tool to tell or, if that is nil, to the log. args are
// names and values, as for the log.
func (v *toolValidator) warn(t *catalog.Tool, tell func(string), what string, args ...any) {
	if tell == nil {
		v.lines.Log(hclog.Warn, t.Server, what, append([]any{"tool", t.Name}, args...)...)
		return
	}
	text := "tool " + t.Exposed + ": " + what
	for i := 1; i < len(args); i += 2 {
		text += fmt.Sprintf(": %v", args[i])
	}
	tell(text)
}

// warnOnce is warn for a defect that every call repeats. It logs the defect once. The
// first value is part of the key, so that equal texts about other values are logged too.
func (v *toolValidator) warnOnce(t *catalog.Tool, tell func(string), what string, args ...any) {
	key := t.Server + "\x00" + t.Name + "\x00" + what
	if len(args) > 1 {
		key += fmt.Sprint("\x00", args[1])
	}
	if tell != nil || v.warnings.first(key) {
		v.warn(t, tell, what, args...)
	}
}
