package mcp

import (
	"encoding/json"
	"fmt"
	"maps"

	"github.com/junctor-mcp/junctor/host/fault"
)

// JSON-RPC and MCP error codes that Junctor sends or inspects.
const (
	CodeParse             = -32700
	CodeInvalidRequest    = -32600
	CodeMethodNotFound    = -32601
	CodeInvalidParams     = -32602
	CodeInternal          = -32603
	CodeCancelled         = -32800 // legacy only
	CodeResourceNotFound  = -32002 // legacy only; modern servers return -32602
	CodeURLElicitation    = -32042 // legacy only; modern servers return input_required
	CodeHeaderMismatch    = -32020
	CodeMissingCapability = -32021
	CodeUnsupported       = -32022 // protocol version
)

// An errorMapping is the JSON-RPC form of a fault. MCP 2026-07-28 forbids new
// codes between -32768 and -32000, so the codes differ by era. The reason is one
// word in the error's data and is the same in both eras. It is immutable; clients act on codes
// and reasons, so they must stay.
type errorMapping struct {
	legacy, modern int
	reason         string
}

// errorMappings maps fault codes to JSON-RPC codes and reasons. Other faults
// become internal errors.
var errorMappings = map[fault.Code]errorMapping{
	fault.CallTimeout:   {-32001, -31012, "timeout"},
	fault.CallCanceled:  {CodeCancelled, -31018, "cancelled"}, // a modern client gets no response after cancelling
	fault.CallInput:     {CodeInternal, -31016, "input_required"},
	fault.CallArguments: {CodeInvalidParams, CodeInvalidParams, "arguments"},
	fault.NameUnknown:   {CodeInvalidParams, CodeInvalidParams, "unknown_name"},
	// Indistinguishable from a missing name.
	fault.Denied: {CodeInvalidParams, CodeInvalidParams, "unknown_name"},

	fault.Refused:          {-32001, -31014, "denied"},
	fault.ApprovalDenied:   {-32001, -31014, "denied"},
	fault.ApprovalRequired: {-32001, -31019, "approval_required"},

	fault.LimitRate:       {-32099, -31010, "rate_limited"},
	fault.LimitConcurrent: {-32002, -31011, "busy"},

	fault.GatewayOverloaded:    {-32001, -31011, "overloaded"},
	fault.AuditUnavailable:     {-32001, -31011, "audit_unavailable"},
	fault.UpstreamOverloaded:   {-32001, -31011, "overloaded"},
	fault.UpstreamLimited:      {-32001, -31011, "overloaded"},
	fault.UpstreamUnsupported:  {CodeMethodNotFound, CodeMethodNotFound, "unsupported"},
	fault.UpstreamDisconnected: {-32001, -31015, "disconnected"},
	fault.UpstreamAuth:         {-32001, -31017, "auth_required"},
	fault.UpstreamLogin:        {-32001, -31017, "needs_login"},

	fault.SecretLocked:    {-32001, -31017, "auth_required"}, // the server's credential cannot be read
	fault.SecretPassword:  {-32001, -31017, "auth_required"},
	fault.SecretDamaged:   {-32001, -31017, "auth_required"},
	fault.SecretStore:     {-32001, -31017, "auth_required"},
	fault.SecretUnknown:   {-32001, -31017, "auth_required"},
	fault.SecretUngranted: {-32001, -31017, "auth_required"},

	fault.PluginDenied:      {-32001, -31014, "denied"},
	fault.PluginQuarantined: {-32000, -31013, "quarantined"},
	fault.ToolHeld:          {-32000, -31013, "quarantined"},

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

var upstreamDown = errorMapping{-32000, -31015, "upstream_down"}

// FaultError returns the JSON-RPC error object for err, with the code of the era.
// Its data holds the reason and the fault code. The data also holds the hint, the
// retry delay, the timeout and the server, if known. The gateway calls it; it is pure.
func FaultError(err error, modern bool) []byte {
	f := fault.As(err)
	a, ok := errorMappings[f.Code]
	if !ok {
		a = errorMapping{CodeInternal, CodeInternal, "internal"}
	}
	code := a.legacy
	if modern {
		code = a.modern
	}
	message := f.Error()
	if f.Hint != "" {
		message += " (" + f.Hint + ")"
	}
	data := map[string]any{}
	maps.Copy(data, f.Data)
	data["reason"], data["code"] = a.reason, string(f.Code)
	if f.Hint != "" {
		data["hint"] = f.Hint
	}
	if f.RetryAfter > 0 && f.Code != fault.UpstreamLogin { // waiting does not replace a login
		data["retry_after_ms"] = f.RetryAfter.Milliseconds()
	}
	if f.Timeout > 0 {
		data["timeout_ms"] = f.Timeout.Milliseconds()
	}
	if f.Server != "" {
		data["server"] = f.Server
	}
	return ErrorObject(code, message, data)
}

// ErrorObject returns a JSON-RPC error object. data may be nil. ErrorObject
// panics if data cannot be encoded as JSON.
func ErrorObject(code int, message string, data any) []byte {
	e := struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Data    any    `json:"data,omitempty"`
	}{code, message, data}
	b, err := json.Marshal(e)
	if err != nil {
		panic(fmt.Sprintf("encode error data: %v", err))
	}
	return b
}
