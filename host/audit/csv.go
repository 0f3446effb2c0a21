package audit

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/visible"
)

var csvHeader = []string{
	"seq", "time", "kind", "outcome", "code", "tenant", "subject", "issuer", "proof", "client", "transport", "address", "session", "request_id", "trace_id",
	"server", "item_kind", "item", "method", "access", "access_source", "decision", "rule", "arguments_digest", "arguments_size", "arguments",
	"duration_ms", "result_size", "message", "plugin", "by", "detail", "count", "hash", "rule_name", "policy", "retry_after_ms", "access_confidence", "hidden", "approval", "roles", "groups", "rounds", "result",
}

// csvRow returns the fields of a row in the order of csvHeader.
func csvRow(r *Row) []string {
	number := func(n int) string {
		if n == 0 {
			return ""
		}
		return strconv.Itoa(n)
	}
	decimal := func(n float64) string {
		if n == 0 {
			return ""
		}
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	list := func(texts []string) string {
		b := []byte(nil)
		for i, text := range texts {
			b = mcp.AppendText(append(b, "[,"[min(i, 1)]), text)
		}
		if b == nil {
			return ""
		}
		return string(append(b, ']'))
	}
	fields := []string{
		strconv.FormatInt(r.Seq, 10), r.Time.UTC().Format(timeFormat), string(r.Kind), string(r.Outcome), r.Code, r.Tenant, r.Subject, r.Issuer, r.Proof, r.Client, r.Transport, r.Address,
		r.Session, r.RequestID, r.TraceID, r.Server, r.ItemKind, r.Item, r.Method, r.Access, r.AccessSource, r.Decision, r.Rule, r.ArgumentsDigest, number(r.ArgumentsSize), string(r.Arguments),
		strconv.FormatFloat(r.DurationMS, 'f', -1, 64), number(r.ResultSize), r.Message, r.Plugin, r.By, r.Detail, number(r.Count), r.Hash, r.RuleName, r.Policy, number(r.RetryAfterMS),
		decimal(r.AccessConfidence), number(r.Hidden), r.Approval, list(r.Roles), list(r.Groups), number(r.Rounds), string(r.Result),
	}
	for i := range fields {
		fields[i] = inert(fields[i])
	}
	return fields
}

// inert returns a text that a spreadsheet does not take for a formula, and a terminal not for
// commands.
func inert(text string) string {
	text = visible.Text(text)
	if first, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(text, unicode.IsSpace)); strings.ContainsRune(formulas, first) {
		return "'" + text
	}
	return text
}

// formulas has the characters that a formula begins with, also in the wide forms of East Asian
// keyboards.
const formulas = "=+-@|%\uff1d\uff0b\uff0d\uff20"
