package audit

import (
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/truncate"
)

// Bounds of texts in a row, in bytes.
const (
	maxText    = 512     // of names, and of messages
	maxItem    = 2 << 10 // a URI
	maxPayload = 64 << 10
)

// timeFormat is the format of times in rows: UTC, so that texts sort like times.
const timeFormat = "2006-01-02T15:04:05.000000Z"

// A content is the content of a row that is being written.
type content struct {
	b    []byte
	hide func(string) string // masks secrets; nil: there are none
}

// appendContent appends the content of a row: a JSON object with members in a fixed order.
// Texts that a client or a server may have chosen pass hide.
func appendContent(dst []byte, e *Event, hide func(string) string) []byte {
	c := content{b: dst, hide: hide}
	c.b = append(c.b, `{"time":"`...)
	c.b = e.Time.UTC().AppendFormat(c.b, timeFormat)
	c.b = append(c.b, `","kind":"`...)
	c.b = append(append(c.b, e.Kind...), '"')
	c.free("request_id", e.RequestID, maxText)
	c.free("trace_id", e.TraceID, maxText)
	c.plain("session", e.Session)
	c.plain("transport", e.Transport)
	c.plain("address", e.Address)
	c.free("client", e.Client, maxText)
	c.free("tenant", e.Tenant, maxText)
	c.free("subject", e.Subject, maxText)
	c.free("issuer", e.Issuer, maxText)
	c.plain("proof", e.Proof)
	c.list("roles", e.Roles)
	c.list("groups", e.Groups)
	c.plain("server", e.Server)
	c.plain("item_kind", e.ItemKind)
	c.free("item", e.Item, maxItem)
	c.free("method", e.Method, maxText)
	c.number("rounds", e.Rounds)
	if e.ArgumentsSize > 0 {
		c.b = append(c.b, `,"arguments_digest":"`...)
		c.b = append(hex.AppendEncode(c.b, e.Digest[:]), '"')
		c.number("arguments_size", e.ArgumentsSize)
	}
	c.payload("arguments", e.Arguments)
	c.plain("decision", e.Decision)
	c.free("rule", e.Rule, maxItem)
	c.free("rule_name", e.RuleName, maxText)
	c.plain("policy", e.Policy)
	c.plain("access", e.Access)
	c.plain("access_source", e.AccessSource)
	c.decimal("access_confidence", e.Confidence)
	c.number("hidden", e.Hidden)
	c.plain("outcome", string(e.Outcome))
	c.plain("code", e.Code)
	c.free("message", e.Message, maxText)
	c.decimal("duration_ms", float64(e.Duration.Round(time.Microsecond))/float64(time.Millisecond))
	c.number("retry_after_ms", int(e.RetryAfter.Milliseconds()))
	c.number("result_size", e.ResultSize)
	c.payload("result", e.Result)
	c.free("plugin", e.Plugin, maxText)
	c.free("by", e.By, maxText)
	c.plain("approval", e.Approval)
	c.free("detail", e.Detail, maxItem)
	c.number("count", e.Count)
	return append(c.b, '}')
}

func (c *content) name(name string) {
	c.b = append(append(append(c.b, `,"`...), name...), `":`...)
}

// plain appends a text that the host or its administrator chose.
func (c *content) plain(name, text string) {
	if text != "" {
		c.name(name)
		c.b = mcp.AppendText(c.b, text)
	}
}

// free appends a text that may hold a secret.
func (c *content) free(name, text string, most int) {
	c.plain(name, tidy(text, most, c.hide))
}

// maxList bounds the texts of a list.
const maxList = 64

// list appends texts that may hold a secret.
func (c *content) list(name string, texts []string) {
	if len(texts) == 0 {
		return
	}
	c.name(name)
	c.b = append(c.b, '[')
	for i, text := range texts[:min(len(texts), maxList)] {
		if i > 0 {
			c.b = append(c.b, ',')
		}
		c.b = mcp.AppendText(c.b, tidy(text, maxText, c.hide))
	}
	c.b = append(c.b, ']')
}

// tidy returns a text as rows have it: without secrets, valid and not too long.
func tidy(text string, most int, hide func(string) string) string {
	if text != "" && hide != nil {
		text = hide(text)
	}
	return truncate.Bytes(strings.ToValidUTF8(text, "\uFFFD"), most)
}

func (c *content) number(name string, n int) {
	if n != 0 {
		c.name(name)
		c.b = strconv.AppendInt(c.b, int64(n), 10)
	}
}

// decimal appends a number that is greater than 0.
func (c *content) decimal(name string, n float64) {
	if n > 0 {
		c.name(name)
		c.b = strconv.AppendFloat(c.b, n, 'f', -1, 64)
	}
}

// payload appends a JSON value. A value that is too large is replaced by a text: a part of
// it would not be JSON.
func (c *content) payload(name string, value []byte) {
	switch {
	case value == nil:
	case len(value) > maxPayload:
		c.plain(name, "(not stored: "+strconv.Itoa(len(value))+" bytes)")
	default:
		c.name(name)
		c.b = append(c.b, value...)
	}
}
