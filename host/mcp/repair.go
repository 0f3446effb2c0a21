package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// Bounds of what Repair looks at.
const (
	maxRepaired = 2 << 20 // bytes of a line
	maxTogether = 64      // messages on a line
	itemDepth   = 3       // the depth at which the items of a list are: in the message, the result and the list
)

// itemLists are the results that are lists of items, by the name of the list.
var itemLists = []string{"tools", "prompts", "resources", "resourceTemplates"}

// Repair reads a line that Parse refuses as lenient parsers do, and returns the messages in
// it, for Parse: bytes that JSON does not allow are replaced, of the values of a name that
// an object has twice the last one counts, numbers beyond a 64-bit float become the largest
// one, and a line may have several messages. Items of a
// list that nest too deeply are left out; lost describes them. There are no messages if the
// line cannot be read that way. Of a line longer than 2 MiB only bytes are replaced.
//
// Only messages of servers are repaired. What a client sends passes rules that must see what
// a server will see. Only package upstream calls it. It is pure.
func Repair(line []byte) (messages [][]byte, lost []string) {
	line = bytes.TrimPrefix(line, byteOrderMark)
	mended := Mended(line)
	switch {
	case len(line) > maxRepaired && mended != nil:
		return [][]byte{mended}, nil
	case len(line) > maxRepaired:
		return nil, nil
	case mended != nil:
		line = mended
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	for len(messages) < maxTogether {
		var m map[string]any
		if d.Decode(&m) != nil || m == nil {
			break
		}
		lost = append(lost, leaveOutDeep(m)...)
		clampNumbers(m)
		var text bytes.Buffer
		e := json.NewEncoder(&text)
		e.SetEscapeHTML(false)
		if e.Encode(m) != nil {
			break
		}
		messages = append(messages, bytes.TrimSpace(text.Bytes()))
	}
	return messages, lost
}

// leaveOutDeep removes items that nest too deeply from the list in a message, and describes
// them.
func leaveOutDeep(message map[string]any) (lost []string) {
	result, _ := message["result"].(map[string]any)
	for _, name := range itemLists {
		items, ok := result[name].([]any)
		if !ok {
			continue
		}
		kept := make([]any, 0, len(items))
		for i, item := range items {
			if depthOf(item) <= MaxDepth-itemDepth {
				kept = append(kept, item)
				continue
			}
			members, _ := item.(map[string]any)
			lost = append(lost, fmt.Sprintf("%s[%d] %.64q: %v", name, i, fmt.Sprint(members["name"]), errDepth))
		}
		result[name] = kept
	}
	return lost
}

// clampNumbers replaces the numbers in a value that are beyond a 64-bit float by the
// largest one of their sign.
func clampNumbers(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for name, member := range v {
			v[name] = clampNumbers(member)
		}
	case []any:
		for i, element := range v {
			v[i] = clampNumbers(element)
		}
	case json.Number:
		if f, err := v.Float64(); err != nil {
			return json.Number(strconv.FormatFloat(math.Copysign(math.MaxFloat64, f), 'g', -1, 64))
		}
	}
	return value
}

// depthOf returns how deeply arrays and objects nest in a value.
func depthOf(value any) int {
	deepest := 0
	switch v := value.(type) {
	case map[string]any:
		for _, member := range v {
			deepest = max(deepest, depthOf(member))
		}
	case []any:
		for _, element := range v {
			deepest = max(deepest, depthOf(element))
		}
	default:
		return 0
	}
	return deepest + 1
}
