package shape

import (
	"bytes"
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"

	"github.com/junctor-mcp/junctor/host/mcp"
)

// resourceContent is a part of a resource, in the result of resources/read or in a block. This
// file corrects the blocks of content in results.
var resourceContent = objectOf(
	required("uri", textOf()), optional("mimeType", textOf()), optional("text", textOf()), optional("blob", textOf()),
	optional("_meta", meta))

// blockTypes has the blocks of content by type, and the first revision that has them.
var blockTypes = map[string]struct {
	since mcp.Revision
	rule  *rule
}{
	"text":     {mcp.Revision20241105, blockOf(required("text", textOf()))},
	"image":    {mcp.Revision20241105, blockOf(required("data", textOf()), derived("mimeType", textOf(), typeOfData))},
	"audio":    {mcp.Revision20250326, blockOf(required("data", textOf()), derived("mimeType", textOf(), typeOfData))},
	"resource": {mcp.Revision20241105, blockOf(required("resource", resourceContent))},
	"resource_link": {mcp.Revision20250618, blockOf(
		required("uri", textOf()), derived("name", textOf(), nameOf("uri")), optional("title", textOf()),
		optional("description", textOf()),
		optional("mimeType", textOf()), optional("size", &rule{kind: integer}), optional("icons", icons))},
}

func blockOf(members ...member) *rule {
	return objectOf(append(members, optional("annotations", annotations), optional("_meta", meta))...)
}

// typeOfData derives the type of an image or a sound from its first bytes.
func typeOfData(block []byte) []byte {
	data, _ := mcp.TextMember(block, "data")
	const first = 684 // characters for 512 bytes, which is all that counts
	decoded, _ := base64.StdEncoding.DecodeString(data[:min(len(data), first)/4*4])
	return mcp.AppendText(nil, http.DetectContentType(decoded))
}

// A reader is the client that gets a result.
type reader struct{ revision mcp.Revision }

// block returns a block of content as the client can read it. A block that it cannot read
// becomes a text, so that nothing is lost.
func (c reader) block(raw []byte) []byte {
	if raw[0] != '{' {
		return textBlock(raw)
	}
	name, named := mcp.TextMember(raw, "type")
	fixed := raw
	if !named {
		if name = typeOfBlock(raw); name == "" {
			return textBlock(raw)
		}
		fixed = mcp.SetMember(fixed, "type", mcp.AppendText(nil, name))
	}
	known, ok := blockTypes[name]
	if !ok {
		return textBlock(raw)
	}
	switch name {
	case "text":
		fixed = withText(fixed)
	case "resource":
		fixed = withResource(fixed)
	case "image", "audio":
		if fixed, ok = withBase64(fixed, "data"); !ok {
			return textBlock(raw)
		}
	}
	if uri, is := mcp.TextMember(fixed, "uri"); is && name == "resource_link" && !Absolute(uri) {
		return textBlock(raw)
	}
	var f fitting
	if fixed, ok = f.fit(known.rule, fixed, ""); !ok {
		return textBlock(raw)
	}
	switch {
	case c.revision >= known.since:
		return fixed
	case name == "audio":
		return soundAsResource(fixed)
	}
	return textBlock(raw)
}

// typeOfBlock returns the type of a block that does not say it, or "".
func typeOfBlock(raw []byte) string {
	has := func(name string, first byte) bool {
		v := mcp.Member(raw, name)
		return v != nil && v[0] == first
	}
	switch {
	case has("text", '"') && !has("uri", '"'):
		return "text"
	case has("data", '"') && has("mimeType", '"'):
		if kind, _ := mcp.TextMember(raw, "mimeType"); len(kind) > 6 && kind[:6] == "audio/" {
			return "audio"
		}
		return "image"
	case has("resource", '{'):
		return "resource"
	}
	return ""
}

// textBlock returns a block with a text: a string as it is, and any other value as JSON.
func textBlock(value []byte) []byte {
	b := append([]byte(`{"type":"text","text":`), asText(value)...)
	return append(b, '}')
}

// asText returns a value as a JSON string.
func asText(value []byte) []byte {
	switch {
	case value[0] == '"':
		return value
	case string(value) == "null":
		return []byte(`""`)
	}
	return mcp.AppendText(nil, string(value))
}

// withText makes the text of a block a string.
func withText(block []byte) []byte {
	if text := mcp.Member(block, "text"); text != nil && text[0] != '"' {
		return mcp.SetMember(block, "text", asText(text))
	}
	return block
}

// withBase64 makes a member of an object standard base64, and adds the type that a data URL
// says. ok is false if the member is a text and no base64.
func withBase64(object []byte, name string) (_ []byte, ok bool) {
	was, isText := mcp.TextMember(object, name)
	if !isText {
		return object, true
	}
	is, mediaType, ok := mcp.Base64(was)
	if !ok {
		return object, false
	}
	if is != was {
		object = mcp.SetMember(object, name, mcp.AppendText(nil, is))
	}
	if known, _ := mcp.TextMember(object, "mimeType"); known == "" && mediaType != "" {
		object = mcp.SetMember(object, "mimeType", mcp.AppendText(nil, mediaType))
	}
	return object, true
}

// unnamed is the URI of an embedded resource without one.
const unnamed = "junctor:unnamed"

// withResource corrects the resource in a block.
func withResource(block []byte) []byte {
	was := mcp.Member(block, "resource")
	if was == nil || was[0] != '{' {
		return block
	}
	if is := resourcePart(was, unnamed); !same(is, was) {
		return mcp.SetMember(block, "resource", is)
	}
	return block
}

// resourcePart gives a part of a resource the URI that it lacks, and makes its text a
// string. A part without text and blob gets its other members as text.
func resourcePart(raw []byte, uri string) []byte {
	if raw[0] != '{' {
		raw = mcp.SetMember(nil, "text", asText(raw))
	}
	switch is, isText := mcp.TextMember(raw, "uri"); {
	case !isText:
		raw = mcp.SetMember(raw, "uri", mcp.AppendText(nil, uri))
	case !Absolute(is):
		raw = mcp.SetMember(raw, "uri", mcp.AppendText(nil, unnamed+"/"+url.PathEscape(is)))
	}
	raw = withBlob(raw)
	text, blob := mcp.Member(raw, "text"), mcp.Member(raw, "blob")
	switch {
	case text != nil && text[0] == '"', blob != nil && blob[0] == '"':
		return raw
	case text != nil:
		return mcp.SetMember(raw, "text", asText(text))
	}
	return mcp.SetMember(raw, "text", asText(others(raw, "uri", "mimeType", "_meta", "blob")))
}

// withBlob makes the blob of a part standard base64. One that is no base64 becomes the text,
// if there is no other.
func withBlob(part []byte) []byte {
	fixed, ok := withBase64(part, "blob")
	if ok {
		return fixed
	}
	blob := mcp.Member(part, "blob")
	if text := mcp.Member(part, "text"); text == nil || text[0] != '"' || string(text) == `""` {
		part = mcp.SetMember(part, "text", blob)
	}
	return mcp.DeleteMember(part, "blob")
}

// others returns an object without the named members, or null if nothing is left.
func others(object []byte, names ...string) []byte {
	for _, name := range names {
		object = mcp.DeleteMember(object, name)
	}
	if mcp.Empty(object) {
		return []byte("null")
	}
	return object
}

// soundAsResource returns a sound as an embedded resource, which the first revision has.
func soundAsResource(block []byte) []byte {
	part := mcp.SetMember(nil, "uri", mcp.AppendText(nil, unnamed))
	part = mcp.SetMember(part, "mimeType", mcp.Member(block, "mimeType"))
	part = mcp.SetMember(part, "blob", mcp.Member(block, "data"))
	for _, name := range []string{"data", "mimeType"} {
		block = mcp.DeleteMember(block, name)
	}
	block = mcp.SetMember(block, "type", []byte(`"resource"`))
	return mcp.SetMember(block, "resource", part)
}

// elements returns a list of corrected elements. A value that is no list is its only
// element, unless it is empty.
func elements(value []byte, correct func(one []byte) []byte) []byte {
	switch {
	case value[0] == '[':
		return mcp.RewriteElements(value, correct)
	case string(value) == "null" || value[0] == '{' && mcp.Empty(value):
		return emptyList
	}
	return slices.Concat([]byte("["), correct(value), []byte("]"))
}

// looksLikeBlocks reports whether a list has blocks of content.
func looksLikeBlocks(list []byte) bool {
	n := 0
	for one := range mcp.Elements(list) {
		if _, ok := mcp.TextMember(one, "type"); !ok {
			return false
		}
		n++
	}
	return n > 0
}

func equal(a, b []byte) bool { return same(a, b) || bytes.Equal(a, b) }
