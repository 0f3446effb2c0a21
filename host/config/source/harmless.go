package source

import (
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/junctor-mcp/junctor/host/lazyregexp"
)

// Where an attribute is unknown or a file has a syntax error, no literal is revealed. A
// message without any value is hard to read, so values that cannot be secret are shown all the
// same: those of an attribute with one of these names, in exactly this form. Every other
// value stays masked.
var (
	addressText  = lazyregexp.New(`^(localhost|[0-9]{1,3}(\.[0-9]{1,3}){3}|\[[0-9a-f:]{2,39}\])?:[0-9]{1,5}$`)
	portText     = lazyregexp.New(`^[0-9]{1,5}$`)
	countText    = lazyregexp.New(`^[0-9]{1,5}$`)
	memoryText   = lazyregexp.New(`^[0-9]{1,5}( ?[KMG]i?B)?$`)
	durationText = lazyregexp.New(`^[0-9]{1,5}(ms|s|m|h|d)?$`)
	kindText     = lazyregexp.New(
		`^(stdio|http|https|sse|streamable-http|streamable_http|streamableHttp|local|remote|cli|websocket|ws)$`,
	)
	booleanText = lazyregexp.New(`^(true|false|yes|no|on|off)$`)
	choiceText  = lazyregexp.New(
		`^(allow|deny|hide|explain|shared|server|session|tenant|none|full|brief|read|write|any|debug|info|warn|error)$`,
	)
	pageText = lazyregexp.New(`^https?://[a-z0-9.-]{1,64}(:[0-9]{1,5})?(/(mcp|sse|api|v[0-9]{1,2})){0,4}/?$`)

	harmlessForms = map[string]*lazyregexp.Regexp{
		"listen": addressText, "address": addressText, "bind": addressText,
		"port": portText, "callback_port": portText,
		"timeout": durationText, "timeout_ms": durationText,
		"tool_timeout_sec": durationText, "startup_timeout_sec": durationText,
		"interval": durationText, "idle": durationText, "start": durationText,
		"call": durationText, "install": durationText, "ttl": durationText,
		"wait": durationText, "drain": durationText, "ready_delay": durationText,
		"concurrent": countText, "rate": countText, "burst": countText, "max_in_flight": countText,
		"connections": countText, "per_ip": countText,
		"count": countText, "retries": countText, "max_retries": countText,
		"max_memory": memoryText, "max_body": memoryText, "max_message": memoryText, "max_size": memoryText,
		"type": kindText, "transport": kindText,
		"enabled": booleanText, "enable": booleanText, "disabled": booleanText,
		"disable": booleanText, "required": booleanText,
		"default": choiceText, "mode": choiceText, "share": choiceText, "isolation": choiceText,
		"describe": choiceText, "access": choiceText, "log_level": choiceText, "level": choiceText,
		"url": pageText, "endpoint": pageText, "issuer": pageText,
	}

	// plainWord is the form of a label behind a block that has none.
	plainWord = lazyregexp.New(`^[a-z]{1,20}$`)
)

// isHarmless reports whether literal i cannot be secret, whatever is wrong with its place: it is
// the whole value of an attribute that only holds public values, and has their form. mask and
// snippet call it: what it allows is printed.
func (s *File) isHarmless(i int) bool {
	before := i - 1
	if s.typeAt(i) == hclsyntax.TokenQuotedLit {
		if s.typeAt(i-1) != hclsyntax.TokenOQuote || s.typeAt(i+1) != hclsyntax.TokenCQuote {
			return false
		}
		if s.isStrayLabel(i) {
			return true
		}
		before = i - 2
	} else if i+1 < len(s.Tokens) && s.typeAt(i+1) == hclsyntax.TokenIdent &&
		s.Tokens[i+1].Range.Start.Byte == s.Tokens[i].Range.End.Byte {
		return false // the digits are the beginning of a text without quotes
	}
	if s.typeAt(before) != hclsyntax.TokenEqual || s.typeAt(before-2) == hclsyntax.TokenDot {
		return false
	}
	form := harmlessForms[s.wordAt(before-1)]
	return form != nil && form.Match(s.Tokens[i].Bytes)
}

// isStrayLabel reports whether literal i is a plain word as the label of a block that has no
// label, such as notify "webhook" {.
func (s *File) isStrayLabel(i int) bool {
	if s.typeAt(i+2) != hclsyntax.TokenOBrace || !plainWord.Match(s.Tokens[i].Bytes) {
		return false
	}
	switch s.wordAt(i - 2) {
	case "notify", "gateway", "http", "console", "audit", "telemetry", "policy", "defaults", "tools", "timeouts":
		return true
	}
	return false
}
