package mcp

import (
	"encoding/json"
	"fmt"

	"github.com/junctor-mcp/junctor/host/fault"
)

// Codes of JSON-RPC and MCP that Junctor sends or looks at.
const (
	CodeParse             = -32700
	CodeInvalidRequest    = -32600
	CodeMethodNotFound    = -32601
	CodeInvalidParams     = -32602
	CodeInternal          = -32603
	CodeCancelled         = -32800 // legacy only
	CodeResourceNotFound  = -32002 // legacy only; modern servers say -32602
	CodeVisit             = -32042 // legacy only; modern servers ask with input_required
	CodeHeaderMismatch    = -32020
	CodeMissingCapability = -32021
	CodeUnsupported       = -32022 // protocol version
)

// An answer is what a fault becomes on the wire. MCP 2026-07-28 forbids new
// codes between -32768 and -32000, so the eras differ; the reason, one word in
// data, is the same in both.
type answer struct {
	legacy, modern int
	reason         string
}

// answers is the one table of codes and reasons. A fault that is not in it is
// an internal error.
var answers = map[fault.Code]answer{
	fault.CallTimeout:   {-32001, -31012, "timeout"},
	fault.CallCanceled:  {CodeCancelled, -31018, "cancelled"}, // a modern client that cancelled gets nothing
	fault.CallInput:     {CodeInternal, -31016, "input_required"},
	fault.CallArguments: {CodeInvalidParams, CodeInvalidParams, "arguments"},
	fault.NameUnknown:   {CodeInvalidParams, CodeInvalidParams, "unknown_name"},
	fault.Denied:        {CodeInvalidParams, CodeInvalidParams, "unknown_name"}, // as if it did not exist

	fault.GatewayOverloaded:   {-32001, -31011, "overloaded"},
	fault.UpstreamOverloaded:  {-32001, -31011, "overloaded"},
	fault.UpstreamLimited:     {-32001, -31011, "overloaded"},
	fault.UpstreamUnsupported: {CodeMethodNotFound, CodeMethodNotFound, "unsupported"},
	fault.UpstreamAuth:        {-32001, -31017, "auth_required"},
	fault.UpstreamLogin:       {-32001, -31017, "needs_login"},

	fault.SecretLocked:    {-32001, -31017, "auth_required"}, // what a server is to get cannot be read
	fault.SecretPassword:  {-32001, -31017, "auth_required"},
	fault.SecretDamaged:   {-32001, -31017, "auth_required"},
	fault.SecretStore:     {-32001, -31017, "auth_required"},
	fault.SecretUnknown:   {-32001, -31017, "auth_required"},
	fault.SecretUngranted: {-32001, -31017, "auth_required"},

	fault.PluginDenied:      {-32001, -31014, "denied"},
	fault.PluginQuarantined: {-32000, -31013, "quarantined"},

	fault.UpstreamCommandNotFound: upstreamDown,
	fault.UpstreamNotStarted:      upstreamDown,
	fault.UpstreamUnavailable:     upstreamDown,
	fault.UpstreamExited:          upstreamDown,
	fault.UpstreamSession:         upstreamDown,
	fault.UpstreamAddress:         upstreamDown,
	fault.UpstreamStatus:          upstreamDown,
	fault.UpstreamStartTimeout:    upstreamDown,
	fault.UpstreamProtocol:        upstreamDown,
	fault.UpstreamSettings:        upstreamDown,
	fault.UpstreamStopped:         upstreamDown,
	fault.PluginNotFound:          upstreamDown,
	fault.PluginNotAllowed:        upstreamDown,
	fault.PluginChecksum:          upstreamDown,
	fault.PluginProtocol:          upstreamDown,
	fault.PluginDescribe:          upstreamDown,
	fault.PluginHandshake:         upstreamDown,
	fault.PluginStartTimeout:      upstreamDown,
	fault.PluginExited:            upstreamDown,
	fault.PluginUnresponsive:      upstreamDown,
	fault.PluginBroken:            upstreamDown,

	fault.UpstreamBadMessage: {CodeInternal, CodeInternal, "bad_upstream_json"},
	fault.UpstreamTooLarge:   {CodeInternal, CodeInternal, "message_too_large"},
	fault.UpstreamError:      {CodeInternal, CodeInternal, "upstream_error"},
}

var upstreamDown = answer{-32000, -31015, "upstream_down"}

// FaultError is the JSON-RPC error object for a fault, in the codes of the
// era. Its data holds the reason, the fault's own code and, where there are
// such, what to do and when to try again.
func FaultError(err error, modern bool) []byte {
	f := fault.As(err)
	a, ok := answers[f.Code]
	if !ok {
		a = answer{CodeInternal, CodeInternal, "internal"}
	}
	code := a.legacy
	if modern {
		code = a.modern
	}
	message := f.Error()
	if f.Hint != "" {
		message += " (" + f.Hint + ")"
	}
	data := map[string]any{"reason": a.reason, "code": string(f.Code)}
	if f.Hint != "" {
		data["hint"] = f.Hint
	}
	if f.RetryAfter > 0 && f.Code != fault.UpstreamLogin { // time alone does not help there
		data["retry_after_ms"] = f.RetryAfter.Milliseconds()
	}
	if f.Server != "" {
		data["server"] = f.Server
	}
	return ErrorObject(code, message, data)
}

// ErrorObject is a JSON-RPC error object; data may be nil.
func ErrorObject(code int, message string, data any) []byte {
	e := struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Data    any    `json:"data,omitempty"`
	}{code, message, data}
	b, err := json.Marshal(e)
	if err != nil {
		panic(fmt.Sprintf("error data of a type that JSON has not: %v", err))
	}
	return b
}
