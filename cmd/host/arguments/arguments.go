// Package arguments reads the arguments of a tool or a prompt from the words of a command line, a
// file or standard input.
package arguments

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/verb"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/schema"
)

// Read builds the arguments of a call from the words of the command line. It fails
// with ErrSilent if standard input is a file or a pipe and nothing comes from it in time.
func Read(ctx context.Context, inv *invocation.Invocation, input []byte, words []string) ([]byte, error) {
	switch {
	case len(words) == 0 && needsArguments(input):
		return pipedArguments(ctx, inv, inputWait)
	case len(words) == 0 && len(schema.Properties(input)) > 0:
		args, err := pipedArguments(ctx, inv, optionalWait)
		if errors.Is(err, ErrSilent) {
			return []byte("{}"), nil
		}
		return args, err
	case len(words) == 0:
		// A tool without properties leaves standard input alone. A shell may read
		// it line by line and call the tool for each line.
		return []byte("{}"), nil
	case len(words) > 1 && strings.HasPrefix(words[0], "{"):
		return nil, fault.New(fault.Usage, "the shell took the JSON apart into %d words", len(words)).
			WithHint("%s", quotesHint)
	case len(words) > 1:
	case words[0] == "-", words[0] == "@-":
		return readStdin(ctx, inv)
	case strings.HasPrefix(words[0], "@"):
		path := words[0][1:]
		return readObject(ctx, path, func() (io.ReadCloser, error) { return os.Open(path) })
	case strings.HasPrefix(strings.TrimSpace(words[0]), "{"):
		raw, err := Object([]byte(words[0]), "the command line")
		if err != nil && !strings.Contains(words[0], `"`) {
			return nil, verb.Hinted(err, fault.Usage, "the shell may have removed the quotes: "+quotesHint)
		}
		return raw, err
	}
	if input == nil {
		input = []byte("{}")
	}
	i := slices.Index(words, PipedStdin)
	if i < 0 || !slices.ContainsFunc(schema.Properties(input),
		func(p schema.Property) bool { return p.Name == StdinProperty }) {
		return typed(input, words)
	}
	args, err := typed(input, slices.Delete(slices.Clone(words), i, i+1))
	if err != nil {
		return nil, err
	}
	text, err := readText(ctx, inv)
	return mcp.SetMember(args, StdinProperty, mcp.AppendText(nil, text)), err
}

const (
	// StdinProperty is the argument of a wrapped program with the text of its standard input.
	StdinProperty = "stdin"
	// PipedStdin is the word that passes standard input on to it.
	PipedStdin = StdinProperty + "=@-"
)

// quotesHint is the hint for JSON that a shell has changed.
const quotesHint = `write the object in single quotes, '{"NAME": "VALUE"}', or write NAME=VALUE`

// Unlisted warns of arguments that are not in the tool's schema, which allows them.
func Unlisted(inv *invocation.Invocation, t *catalog.Tool, args []byte) {
	for _, p := range schema.Unlisted(t.Input, args) {
		if !slices.Contains(t.Pinned(), p.Path) { // a pinned argument makes the call fail
			inv.Warn(t.Exposed+": "+p.String(), "it is sent anyway, because the tool's schema allows other arguments")
		}
	}
}

// typed converts words into arguments of the types in a schema.
func typed(input []byte, words []string) ([]byte, error) {
	args, problems := schema.Arguments(input, words)
	if len(problems) > 0 {
		return nil, fault.New(fault.CallArguments, "the arguments do not fit%s", verb.ProblemLines(problems)).
			WithHint("write key=value, key:=JSON, or one JSON object")
	}
	return args, nil
}

func needsArguments(input []byte) bool {
	for _, p := range schema.Properties(input) {
		if p.Required {
			return true
		}
	}
	return false
}

// promptSchema is the schema of prompt arguments: strings.
var promptSchema = []byte(`{"type":"object","additionalProperties":{"type":"string"}}`)

// OfPrompt builds the arguments of a prompt from the words of the command line. A
// JSON value other than a string becomes its JSON text. declared are the arguments of the prompt.
func OfPrompt(declared []catalog.Argument, words []string) (map[string]string, error) {
	args, words, err := positional(declared, words)
	if err != nil {
		return nil, err
	}
	raw, problems := schema.Arguments(promptSchema, words)
	if len(problems) > 0 {
		return nil, fault.New(fault.CallArguments, "the arguments do not fit%s", verb.ProblemLines(problems)).
			WithHint("write key=value once for each argument; key:=JSON gives the text of the JSON")
	}
	var values map[string]json.RawMessage
	if err := json.Unmarshal(raw, &values); err != nil {
		return nil, err
	}
	for name, value := range values {
		var text string
		if json.Unmarshal(value, &text) != nil || value[0] != '"' {
			text = string(value)
		}
		args[name] = text
	}
	return args, nil
}

// positional returns the values of the words without "=", and the other words. A value belongs to
// the first declared argument that no other word names and that has no value yet.
func positional(declared []catalog.Argument, words []string) (args map[string]string, named []string, err error) {
	args, taken := map[string]string{}, map[string]bool{}
	var values []string
	for _, word := range words {
		name, _, ok := strings.Cut(word, "=")
		if !ok {
			values = append(values, word)
			continue
		}
		named, taken[strings.TrimSuffix(name, ":")] = append(named, word), true
	}
	var free, all []string
	for _, a := range declared {
		if all = append(all, a.Name); !taken[a.Name] {
			free = append(free, a.Name)
		}
	}
	if len(values) <= len(free) {
		for i, value := range values {
			args[free[i]] = value
		}
		return args, named, nil
	}
	extra := values[len(free)]
	if len(all) == 0 {
		return nil, nil, fault.New(fault.CallArguments, "%q is the value of no argument: the prompt declares none",
			extra).WithHint("write key=value for an argument that is not declared")
	}
	return nil, nil, fault.New(fault.CallArguments, "%q is one value too many: the arguments of the prompt are %s",
		extra, strings.Join(all, ", ")).
		WithHint("write each value once, in this order or as key=value, and quote a value with spaces")
}
