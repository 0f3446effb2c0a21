package results

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/junctor-mcp/junctor/host/lazyregexp"
)

// A field is a validation error for one place in the arguments.
type field struct{ path, message string }

// byField formats a server's validation error with one line for each field, after the
// server's first words. It knows the texts of several validation libraries. Other text is
// returned unchanged, so that nothing is lost.
func byField(text string) string {
	if head, fields := fieldsOf(text); fields != nil {
		return fieldLines(head, fields)
	}
	return text
}

// errorByField is byField for the message and data of an error. It returns the data that the
// message does not contain.
func errorByField(message string, data []byte) (string, []byte) {
	head, fields := fieldsOf(message)
	told := issues(data)
	switch {
	case fields == nil && told != nil && !strings.Contains(message, "\n"):
		return fieldLines(message, told), nil
	case fields != nil && slices.Equal(fields, told):
		data = nil
	}
	if fields != nil {
		message = fieldLines(head, fields)
	}
	return message, data
}

// fieldsOf parses a validation error. It returns no fields if the text has no known form.
func fieldsOf(text string) (head string, fields []field) {
	head, fields = issueList(text)
	for i := 0; fields == nil && i < len(forms); i++ {
		head, fields = forms[i].parse(text)
	}
	return head, fields
}

func fieldLines(head string, fields []field) string {
	var lines []string
	if head = strings.TrimRight(strings.TrimSpace(head), ": \n"); head != "" {
		lines = append(lines, head+":")
	}
	for _, f := range fields {
		line := strings.Join(strings.Fields(f.message), " ")
		if f.path != "" {
			line = f.path + ": " + line
		}
		lines = append(lines, "  "+line)
	}
	return strings.Join(lines, "\n")
}

// An issue is an element of the lists of Zod, Pydantic, Ajv and the output format of JSON
// Schema.
type issue struct {
	Path, Loc                      []any
	InstancePath, InstanceLocation *string
	Message, Msg, Error            string
	Params                         struct {
		AdditionalProperty *string
		AllowedValues      json.RawMessage
	}
	// Errors of several alternative schemas, too many for one line.
	UnionErrors, Errors []any
}

var jsonBegins = lazyregexp.New(`[\[{]\s*["{]`)

// issueList parses a list of issues after some words, as in Zod's messages.
func issueList(text string) (head string, fields []field) {
	at := jsonBegins.FindStringIndex(text)
	if at == nil || strings.Contains(strings.TrimSpace(text[:at[0]]), "\n") {
		return "", nil
	}
	return text[:at[0]], issues([]byte(text[at[0]:]))
}

// issues parses a list of issues, or an object that contains only that list.
func issues(raw []byte) (fields []field) {
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) == nil {
		if string(object["valid"]) == "false" {
			delete(object, "valid")
		}
		for _, name := range []string{"errors", "issues", "detail"} {
			if list, ok := object[name]; ok && len(object) == 1 {
				raw = list
			}
		}
	}
	var list []issue
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	for _, i := range list {
		f, ok := i.field()
		if !ok {
			return nil
		}
		fields = append(fields, f)
	}
	return fields
}

func (i issue) field() (f field, ok bool) {
	f.message = i.Message + i.Msg + i.Error // each library uses one of them
	at := i.Path
	switch {
	case i.Path != nil:
	case i.Loc != nil:
		at = i.Loc
	case i.InstancePath != nil:
		at = pointed(*i.InstancePath)
	case i.InstanceLocation != nil:
		at = pointed(strings.TrimPrefix(*i.InstanceLocation, "#"))
	default:
		return f, false
	}
	if i.Params.AdditionalProperty != nil {
		at = append(at, *i.Params.AdditionalProperty)
	}
	if i.Params.AllowedValues != nil {
		f.message += ": " + string(i.Params.AllowedValues)
	}
	f.path = dotted(at)
	return f, strings.TrimSpace(f.message) != "" && len(i.UnionErrors)+len(i.Errors) == 0
}

// pointed returns the tokens of a JSON pointer.
func pointed(pointer string) (tokens []any) {
	if pointer == "" {
		return nil
	}
	for _, t := range strings.Split(strings.TrimPrefix(pointer, "/"), "/") {
		t = strings.ReplaceAll(strings.ReplaceAll(t, "~1", "/"), "~0", "~")
		tokens = append(tokens, indexed(t))
	}
	return tokens
}

// indexed returns a token as a number if it may be an index.
func indexed(token string) any {
	if n, err := strconv.ParseUint(token, 10, 32); err == nil {
		return float64(n)
	}
	return token
}

var plainName = lazyregexp.New(`^[\w$@-]+$`)

// dotted formats a path as a.b[0]. Elements other than strings and numbers become [].
func dotted(path []any) string {
	var b strings.Builder
	for _, token := range path {
		switch t := token.(type) {
		case float64:
			b.WriteString("[" + strconv.FormatFloat(t, 'f', -1, 64) + "]")
		case string:
			switch {
			case !plainName.MatchString(t):
				fmt.Fprintf(&b, "[%q]", t)
			case b.Len() > 0:
				b.WriteString("." + t)
			default:
				b.WriteString(t)
			}
		default:
			b.WriteString("[]")
		}
	}
	return b.String()
}
