package shape

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/junctor-mcp/junctor/host/mcp"
)

// Blocks returns the member of a result that has the blocks of content; empty if the
// method has none. A result whose blocks are plain needs no correction; see [mcp.Names].
func Blocks(method string) string {
	switch method {
	case mcp.MethodCallTool:
		return "content"
	case mcp.MethodReadResource:
		return "contents"
	}
	return ""
}

// Result returns the result of a request as a client of a revision can read it. uri is the
// resource that the client asked for. Values that it cannot read become texts. A result
// without anything readable is an error. The gateway calls it for results that are not plain;
// it is pure.
func Result(method string, raw []byte, revision mcp.Revision, uri string) ([]byte, error) {
	c := reader{revision}
	if kind, said := mcp.TextMember(raw, "resultType"); said && kind != "complete" {
		return raw, nil // it asks for something, or is a task
	}
	switch method {
	case mcp.MethodCallTool:
		return c.toolResult(raw), nil
	case mcp.MethodReadResource:
		return c.readResult(raw, uri), nil
	case mcp.MethodGetPrompt:
		return c.promptResult(raw), nil
	case mcp.MethodComplete:
		return completion(raw)
	}
	return raw, nil
}

// toolResult corrects the result of a tool.
func (c reader) toolResult(raw []byte) []byte {
	raw = c.withContent(raw)
	was := mcp.Member(raw, "content")
	if is := elements(was, c.block); !equal(is, was) {
		raw = mcp.SetMember(raw, "content", is)
	}
	switch v := mcp.Member(raw, "isError"); string(v) {
	case "", "true", "false":
	case `"true"`, "1":
		raw = mcp.SetMember(raw, "isError", []byte("true"))
	default:
		raw = mcp.DeleteMember(raw, "isError")
	}
	return withoutOddMeta(c.structured(raw))
}

// withContent gives the result of a tool the member content. A result that is no object
// becomes the content.
func (c reader) withContent(raw []byte) []byte {
	if raw[0] != '{' {
		return mcp.SetMember(nil, "content", contentOf(raw))
	}
	if content := mcp.Member(raw, "content"); content != nil && string(content) != "null" {
		return raw
	}
	shown := mcp.Member(raw, "structuredContent")
	if shown == nil || string(shown) == "null" {
		shown = others(raw, "content", "structuredContent", "isError", "resultType", "_meta")
	}
	return mcp.SetMember(raw, "content", contentOf(shown))
}

// contentOf returns a value as content: a list of blocks as it is, any other as one text.
func contentOf(value []byte) []byte {
	switch {
	case string(value) == "null":
		return emptyList
	case looksLikeBlocks(value):
		return value
	}
	return slices.Concat([]byte("["), textBlock(value), []byte("]"))
}

// structured corrects the structuredContent of a result. Legacy clients take objects only,
// and get any other value as text, unless a text has it already.
func (c reader) structured(raw []byte) []byte {
	value := mcp.Member(raw, "structuredContent")
	if c.revision.Modern() || value == nil || value[0] == '{' {
		return raw
	}
	raw = mcp.DeleteMember(raw, "structuredContent")
	content := mcp.Member(raw, "content")
	for one := range mcp.Elements(content) {
		if text, ok := mcp.TextMember(one, "text"); ok &&
			bytes.Equal(mcp.Canonical([]byte(text)), mcp.Canonical(value)) {
			return raw
		}
	}
	if string(value) == "null" {
		return raw
	}
	all := append(slices.Collect(mcp.Elements(content)), textBlock(value))
	return mcp.SetMember(raw, "content", joinList(all))
}

// readResult corrects the contents of a resource.
func (c reader) readResult(raw []byte, uri string) []byte {
	part := func(one []byte) []byte {
		one = resourcePart(one, uri)
		var f fitting
		fitted, _ := f.fit(resourceContent, one, "")
		return fitted
	}
	switch contents := mcp.Member(raw, "contents"); {
	case raw[0] != '{':
		return mcp.SetMember(nil, "contents", elements(raw, part))
	case contents == nil || string(contents) == "null":
		return mcp.SetMember(withoutOddMeta(raw), "contents",
			elements(others(raw, "contents", "resultType", "ttlMs", "cacheScope", "_meta"), part))
	default:
		if is := elements(contents, part); !equal(is, contents) {
			raw = mcp.SetMember(raw, "contents", is)
		}
	}
	return withoutOddMeta(raw)
}

// promptResult corrects the messages of a prompt.
func (c reader) promptResult(raw []byte) []byte {
	messages := raw
	if raw[0] == '{' {
		if messages = mcp.Member(raw, "messages"); messages == nil {
			messages = others(raw, "description", "resultType", "_meta")
		}
	} else {
		raw = nil
	}
	var all [][]byte
	changed := messages[0] != '['
	for one := range mcp.Elements(elements(messages, func(one []byte) []byte { return one })) {
		is := c.message(one)
		changed = changed || len(is) != 1 || !equal(is[0], one)
		all = append(all, is...)
	}
	if changed || mcp.Member(raw, "messages") == nil {
		raw = mcp.SetMember(raw, "messages", joinList(all))
	}
	if v := mcp.Member(raw, "description"); v != nil && v[0] != '"' {
		raw = mcp.DeleteMember(raw, "description")
	}
	return withoutOddMeta(raw)
}

// message corrects a message of a prompt. One whose content is a list becomes as many
// messages.
func (c reader) message(raw []byte) (all [][]byte) {
	content := mcp.Member(raw, "content")
	if content == nil || raw[0] != '{' {
		return [][]byte{slices.Concat([]byte(`{"role":"user","content":`), textBlock(raw), []byte("}"))}
	}
	if role, _ := mcp.TextMember(raw, "role"); role != "user" && role != "assistant" {
		raw = mcp.SetMember(raw, "role", []byte(`"user"`))
	}
	if content[0] != '[' {
		if is := c.block(content); !equal(is, content) {
			raw = mcp.SetMember(raw, "content", is)
		}
		return [][]byte{raw}
	}
	for one := range mcp.Elements(content) {
		all = append(all, mcp.SetMember(raw, "content", c.block(one)))
	}
	return all
}

// completionResult is the result of completion/complete.
var completionResult = objectOf(required("completion", objectOf(
	required("values", listOf(textOf())), optional("total", &rule{kind: integer}),
	optional("hasMore", &rule{kind: flag}))))

// completion corrects the proposals for an argument.
func completion(raw []byte) ([]byte, error) {
	if raw[0] == '[' {
		raw = mcp.SetMember(nil, "completion", raw)
	}
	if list := mcp.Member(raw, "completion"); list != nil && list[0] == '[' {
		raw = mcp.SetPath(raw, []string{"completion", "values"}, list)
	}
	if values := mcp.Member(raw, "completion", "values"); values != nil && values[0] == '[' {
		if is := elements(values, asText); !equal(is, values) {
			raw = mcp.SetPath(raw, []string{"completion", "values"}, is)
		}
	}
	var f fitting
	fitted, ok := f.fit(completionResult, raw, "")
	if !ok {
		return nil, fmt.Errorf("the result of %s has no list of values", mcp.MethodComplete)
	}
	return withoutOddMeta(fitted), nil
}

// withoutOddMeta returns a result without a _meta that is no object.
func withoutOddMeta(raw []byte) []byte {
	if v := mcp.Member(raw, "_meta"); v != nil && v[0] != '{' {
		return mcp.DeleteMember(raw, "_meta")
	}
	return raw
}

// joinList returns a list of the given elements.
func joinList(all [][]byte) []byte {
	return slices.Concat([]byte("["), bytes.Join(all, []byte(",")), []byte("]"))
}
