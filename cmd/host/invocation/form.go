package invocation

import (
	"context"
	"encoding/json"
	"fmt"
	"net/mail"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/host/lazyregexp"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/schema"
)

// A formField is one property of a server's form, which the gateway has checked. This file asks for the
// answers to an elicitation at the terminal, for questioner.
type formField struct {
	name, title, about, kind, format string
	choices                          []choice // empty: any value of the type
	unset                            []byte   // the default; may be nil
	required                         bool
	schema                           []byte
}

type choice struct{ value, title string }

// form asks for each property of a form and returns the answers as an object.
func (q *questioner) form(ctx context.Context, params []byte) (content []byte, err error) {
	message, _ := mcp.TextMember(params, "message")
	fields := formFields(mcp.Member(params, "requestedSchema"))
	if q.server == "" { // the policy wants an approval
		q.printf("%s\n", serverText(message, messageShown))
		return []byte("{}"), q.agree(ctx, "Approve? [y/n] ", "")
	}
	q.printf("server %q asks: %s\n", q.server, serverText(message, messageShown))
	for _, f := range fields {
		if f.secret() {
			q.printf("It asks for %q. Forms must not ask for secrets, so it was declined.\n", Short(f.called()))
			return nil, errDeclined
		}
	}
	if len(fields) == 0 {
		return []byte("{}"), q.agree(ctx, "Accept? [y/n/c] ", "")
	}
	if err := q.agree(ctx, fmt.Sprintf("Answer %s? [Y/n/c] ", terminal.Count(len(fields), "question")),
		"y"); err != nil {
		return nil, err
	}
	content = []byte("{}")
	for _, f := range fields {
		value, err := q.ask(ctx, f)
		if err != nil {
			return nil, err
		}
		if value != nil {
			content = mcp.SetMember(content, f.name, value)
		}
	}
	return content, q.agree(ctx, fmt.Sprintf("Send the answers to server %q? [Y/n/c] ", q.server), "y")
}

// ask asks for one property until the answer is valid. It returns nil if an optional
// property is left out.
func (q *questioner) ask(ctx context.Context, f formField) ([]byte, error) {
	if f.about != "" {
		q.printf("%s\n", Short(f.about))
	}
	for i, c := range f.choices {
		text := Short(c.value)
		if c.title != "" && c.title != c.value {
			text += "  " + Short(c.title)
		}
		q.printf("  %d  %s\n", i+1, text)
	}
	for {
		text, err := q.line(ctx, f.prompt())
		if err != nil {
			return nil, asGone(err)
		}
		value, problem := f.parse(strings.TrimSpace(text))
		if problem == "" {
			return value, nil
		}
		q.printf("%s\n", terminal.OneText(problem))
	}
}

func (f formField) called() string {
	if f.title != "" {
		return f.title
	}
	return f.name
}

// prompt returns the prompt for the answer.
func (f formField) prompt() string {
	text := Short(f.called())
	switch {
	case f.kind == "array":
		text += " (numbers, with commas between)"
	case len(f.choices) > 0:
		text += " (a number)"
	case f.kind == "boolean":
		text += " (y or n)"
	case f.kind == "integer":
		text += " (a whole number)"
	case f.kind == "number":
		text += " (a number)"
	case f.format != "":
		text += " (" + f.format + ")"
	}
	switch {
	case f.unset != nil:
		text += " [" + Short(string(f.unset)) + "]"
	case !f.required:
		text += " [nothing]"
	}
	return text + ": "
}

// secretName matches names of fields for secrets, which forms must not ask for.
var secretName = lazyregexp.New(
	`(?i)passw|passphrase|secret|token|api.?key|private.?key|credential|\b(pin|otp|cvv|cvc)\b`,
)

// secret reports whether the field seems to ask for a secret.
func (f formField) secret() bool {
	return f.kind == "string" && len(f.choices) == 0 &&
		(secretName.MatchString(f.name) || secretName.MatchString(f.title))
}

// parse converts an answer into a value, or returns what is wrong with it.
func (f formField) parse(text string) (value []byte, problem string) {
	if text == "" {
		switch {
		case f.unset != nil:
			return f.unset, ""
		case f.required:
			return nil, "an answer is required; Ctrl-D cancels"
		}
		return nil, ""
	}
	value, problem = f.typed(text)
	if problem == "" {
		problem = f.invalid(value)
	}
	if problem == "" && f.kind == "string" {
		problem = badFormat(f.format, text)
	}
	return value, problem
}

// typed converts an answer into a value of the field's type.
func (f formField) typed(text string) (value []byte, problem string) {
	switch {
	case f.kind == "array":
		var values []string
		for word := range strings.SplitSeq(text, ",") {
			v, problem := f.choose(strings.TrimSpace(word))
			if problem != "" {
				return nil, problem
			}
			values = append(values, v)
		}
		b, _ := json.Marshal(values) // strings can always be encoded
		return b, ""
	case len(f.choices) > 0:
		v, problem := f.choose(text)
		return mcp.AppendText(nil, v), problem
	case f.kind == "boolean":
		switch strings.ToLower(text) {
		case "y", "yes", "true":
			return []byte("true"), ""
		case "n", "no", "false":
			return []byte("false"), ""
		}
		return nil, "y for yes, n for no"
	case f.kind == "string":
		return mcp.AppendText(nil, text), ""
	}
	if !json.Valid([]byte(text)) || !strings.ContainsAny(text[:1], "-0123456789") {
		return nil, "that is not a number"
	}
	return []byte(text), ""
}

// choose returns the choice with a number, value or title.
func (f formField) choose(text string) (value, problem string) {
	for _, c := range f.choices {
		if text == c.value {
			return c.value, ""
		}
	}
	if n, err := strconv.Atoi(text); err == nil && n >= 1 && n <= len(f.choices) {
		return f.choices[n-1].value, ""
	}
	for _, c := range f.choices {
		if strings.EqualFold(text, c.title) || strings.EqualFold(text, c.value) {
			return c.value, ""
		}
	}
	return "", fmt.Sprintf("choose 1 to %d", len(f.choices))
}

// invalid returns how a value violates the schema of the field, or "".
func (f formField) invalid(value []byte) string {
	wrapped := mcp.SetMember([]byte(`{"type":"object"}`), "properties", mcp.SetMember(nil, f.name, f.schema))
	s, err := schema.Compile(wrapped)
	if err != nil {
		return "" // the server checks it
	}
	if problems := s.Check(mcp.SetMember(nil, f.name, value)); len(problems) > 0 {
		return "it " + problems[0].Message
	}
	return ""
}

// badFormat returns how a text violates a format, or "".
func badFormat(format, text string) string {
	var err error
	switch format {
	case "email":
		if a, e := mail.ParseAddress(text); e != nil || a.Address != text {
			return "it must be an e-mail address, such as ada@example.com"
		}
	case "uri":
		if u, e := url.Parse(text); e != nil || u.Scheme == "" {
			return "it must be an address with its scheme, such as https://example.com"
		}
	case "date":
		if _, err = time.Parse(time.DateOnly, text); err != nil {
			return "it must be a date such as 2026-01-31"
		}
	case "date-time":
		if _, err = time.Parse(time.RFC3339, text); err != nil {
			return "it must be a time such as 2026-01-31T12:00:00Z"
		}
	}
	return ""
}

// formFields parses the properties of a form, in their order.
func formFields(form []byte) []formField {
	var needed []string
	_ = mcp.Decode(mcp.Member(form, "required"), &needed)
	var fields []formField
	for name, raw := range mcp.Members(mcp.Member(form, "properties")) {
		f := formField{name: name, schema: raw, required: slices.Contains(needed, name)}
		typed := raw
		if either := mcp.Member(raw, "anyOf"); either != nil && mcp.Member(raw, "type") == nil {
			typed = notNull(either) // libraries write this form for optional properties
		}
		f.kind, _ = mcp.TextMember(typed, "type")
		f.format, _ = mcp.TextMember(typed, "format")
		f.title, _ = mcp.TextMember(raw, "title")
		f.about, _ = mcp.TextMember(raw, "description")
		if d := mcp.Member(typed, "default"); d != nil && string(d) != "null" {
			f.unset = d
		}
		f.choices = choicesOf(typed, "oneOf")
		if f.kind == "array" {
			f.choices = choicesOf(mcp.Member(typed, "items"), "anyOf")
		}
		fields = append(fields, f)
	}
	return fields
}

// notNull returns the first schema whose type is not null.
func notNull(either []byte) []byte {
	for s := range mcp.Elements(either) {
		if kind, _ := mcp.TextMember(s, "type"); kind != "null" {
			return s
		}
	}
	return nil
}

// choicesOf returns the values that a schema allows: an enum with its names, or the entries
// of oneOf or anyOf.
func choicesOf(s []byte, titled string) []choice {
	var values, names []string
	_ = mcp.Decode(mcp.Member(s, "enum"), &values)
	_ = mcp.Decode(mcp.Member(s, "enumNames"), &names)
	var choices []choice
	for i, v := range values {
		c := choice{value: v}
		if i < len(names) {
			c.title = names[i]
		}
		choices = append(choices, c)
	}
	for entry := range mcp.Elements(mcp.Member(s, titled)) {
		value, ok := mcp.TextMember(entry, "const")
		title, _ := mcp.TextMember(entry, "title")
		if ok {
			choices = append(choices, choice{value, title})
		}
	}
	return choices
}
