package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/schema"
)

// arguments makes the arguments of a call from the words of the command line.
// The error is errSilent when there are none, though the tool needs some.
func (e *env) arguments(ctx context.Context, input []byte, words []string) ([]byte, error) {
	switch {
	case len(words) == 0 && needsArguments(input):
		return e.offered(ctx, inputWait)
	case len(words) == 0 && len(schema.Properties(input)) > 0:
		args, err := e.offered(ctx, optionalWait)
		if errors.Is(err, errSilent) {
			return []byte("{}"), nil
		}
		return args, err
	case len(words) == 0:
		// A tool that lists no arguments leaves standard input to others: a shell
		// may read it line by line, and call the tool for each.
		return []byte("{}"), nil
	case len(words) > 1:
	case words[0] == "-", words[0] == "@-":
		return e.readStdin(ctx)
	case strings.HasPrefix(words[0], "@"):
		path := words[0][1:]
		return readObject(ctx, path, func() (io.ReadCloser, error) { return os.Open(path) })
	case strings.HasPrefix(strings.TrimSpace(words[0]), "{"):
		return object([]byte(words[0]), "the command line")
	}
	if input == nil {
		input = []byte("{}")
	}
	return typed(input, words)
}

// unlisted warns of arguments that the tool does not list and does not refuse.
func (e *env) unlisted(t *catalog.Tool, args []byte) {
	for _, p := range schema.Unlisted(t.Input, args) {
		if !slices.Contains(t.Pinned(), p.Path) { // the call fails because of it
			e.warn(t.Exposed+": "+p.String(), "it is sent all the same, because the tool's schema allows others")
		}
	}
}

// typed makes arguments of words, as a schema types them.
func typed(input []byte, words []string) ([]byte, error) {
	args, problems := schema.Arguments(input, words)
	if len(problems) > 0 {
		return nil, fault.New(fault.CallArguments, "the arguments do not fit%s", problemLines(problems)).
			WithHint("write key=value, key:=JSON, or one JSON object")
	}
	return args, nil
}

// problemLines is a line for each problem.
func problemLines(problems []schema.Problem) string {
	var b strings.Builder
	for _, p := range problems {
		b.WriteString("\n" + strings.TrimSpace(p.Path+" "+p.Message))
	}
	return b.String()
}

func needsArguments(input []byte) bool {
	for _, p := range schema.Properties(input) {
		if p.Required {
			return true
		}
	}
	return false
}

// promptSchema is what the arguments of a prompt are: texts.
var promptSchema = []byte(`{"type":"object","additionalProperties":{"type":"string"}}`)

// promptArguments makes the arguments of a prompt from the words of the command
// line. A value that was written as JSON and is no text is given as the text it
// was written in.
func promptArguments(words []string) (map[string]string, error) {
	raw, problems := schema.Arguments(promptSchema, words)
	if len(problems) > 0 {
		return nil, fault.New(fault.CallArguments, "the arguments do not fit%s", problemLines(problems)).
			WithHint("write key=value once for each argument; key:=JSON gives the text of the JSON")
	}
	var values map[string]json.RawMessage
	if err := json.Unmarshal(raw, &values); err != nil {
		return nil, err
	}
	args := map[string]string{}
	for name, value := range values {
		var text string
		if json.Unmarshal(value, &text) != nil || value[0] != '"' {
			text = string(value)
		}
		args[name] = text
	}
	return args, nil
}
