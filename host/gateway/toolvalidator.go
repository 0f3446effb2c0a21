package gateway

import (
	"fmt"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/schema"
)

// A toolValidator compares the arguments and results of tools with their schemas. The Gateway
// has one. It is immutable after New and may be used concurrently.
type toolValidator struct {
	schemas  *schema.Cache
	warnings *warnings
	lines    *limit.Lines // takes the warnings
	// removeOutput removes the output schema of a tool from the lists of clients.
	removeOutput func(*catalog.Tool)
}

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
		// A member that differs in case only would override the pin at a server whose decoder ignores case.
		if value, twin := mcp.FindMember(args, name); value != nil || twin {
			return []schema.Problem{{Path: name, Message: "is fixed by the configuration"}}
		}
	}
	if t.Input == nil {
		return nil
	}
	s, err := v.schemas.Arguments(t.Input)
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
