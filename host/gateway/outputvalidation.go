package gateway

import (
	"fmt"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/mcp"
)

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

// validateOutput warns about a result that does not match the tool's output schema. It
// ignores errors and results that ask for input.
func (g *Gateway) validateOutput(t *catalog.Tool, warn func(string), result []byte) {
	if t.Output == nil || string(mcp.Member(result, "isError")) == "true" {
		return
	}
	if kind, said := mcp.TextMember(result, "resultType"); said && kind != "complete" {
		return
	}
	structured := mcp.Member(result, "structuredContent")
	switch {
	case structured == nil:
		g.warnOnce(t, warn, outputMissing)
		return
	case len(structured) > maxValidatedOutput:
		g.warnOnce(t, warn, outputTooLarge)
		return
	}
	s, err := g.schemas.Get(t.Output)
	if err != nil {
		g.warnOnce(t, warn, schemaUnusable, "consequence", "its results are not checked", "error", err)
		return
	}
	if problems := s.Check(structured); len(problems) > 0 {
		g.warn(t, warn, outputMismatch, "problem", problems[0].String())
	}
}

// warn reports a defect of a tool to tell or, if that is nil, to the log. args are
// names and values, as for the log.
func (g *Gateway) warn(t *catalog.Tool, tell func(string), what string, args ...any) {
	if tell == nil {
		g.serverLog.Log(hclog.Warn, t.Server, what, append([]any{"tool", t.Name}, args...)...)
		return
	}
	text := "tool " + t.Exposed + ": " + what
	for i := 1; i < len(args); i += 2 {
		text += fmt.Sprintf(": %v", args[i])
	}
	tell(text)
}

// maxWarned limits the stored keys of logged warnings.
const maxWarned = 10_000

// warnOnce is warn for a defect that every call repeats. It logs the defect once. The
// first value is part of the key, so that equal texts about other values are logged too.
func (g *Gateway) warnOnce(t *catalog.Tool, tell func(string), what string, args ...any) {
	key := t.Server + "\x00" + t.Name + "\x00" + what
	if len(args) > 1 {
		key += fmt.Sprint("\x00", args[1])
	}
	g.mu.Lock()
	warned := g.warned[key]
	if tell == nil && !warned {
		g.recordWarning(key)
	}
	g.mu.Unlock()
	if !warned || tell != nil {
		g.warn(t, tell, what, args...)
	}
}

// recordWarning stores the key of a logged warning. The caller holds mu.
func (g *Gateway) recordWarning(key string) {
	if len(g.warned) >= maxWarned {
		clear(g.warned) // a server that renames its tools could go on for ever
	}
	g.warned[key] = true
}
