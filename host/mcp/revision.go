package mcp

import (
	"slices"
	"strings"
)

// A Revision is a version of the MCP specification, named by its date. This file has the words
// of the specification: constants and tables that are only read. A new revision, method or
// notification begins here.
type Revision string

// The revisions that Junctor supports, for clients and for servers.
const (
	Revision20241105 Revision = "2024-11-05"
	Revision20250326 Revision = "2025-03-26"
	Revision20250618 Revision = "2025-06-18"
	Revision20251125 Revision = "2025-11-25"
	Revision20260728 Revision = "2026-07-28"
)

// LatestLegacy is the newest revision with an initialize handshake.
const LatestLegacy = Revision20251125

// Revisions lists the revisions, newest first.
var Revisions = []Revision{Revision20260728, Revision20251125, Revision20250618, Revision20250326, Revision20241105}

// RevisionNames returns the names of the revisions for people, newest first.
func RevisionNames() string {
	var names []string
	for _, r := range Revisions {
		names = append(names, string(r))
	}
	return strings.Join(names, ", ")
}

// Modern reports whether the revision is stateless: it has no handshake, and each
// request identifies its client.
func (r Revision) Modern() bool { return r >= Revision20260728 }

// Known reports whether Junctor supports the revision.
func (r Revision) Known() bool { return slices.Contains(Revisions, r) }

// The methods and notifications of MCP.
const (
	MethodInitialize   = "initialize"
	MethodDiscover     = "server/discover"
	MethodPing         = "ping"
	MethodSetLevel     = "logging/setLevel"
	MethodComplete     = "completion/complete"
	MethodListen       = "subscriptions/listen"
	MethodCallTool     = "tools/call"
	MethodListTools    = "tools/list"
	MethodListRes      = "resources/list"
	MethodListTempl    = "resources/templates/list"
	MethodReadResource = "resources/read"
	MethodSubscribe    = "resources/subscribe"
	MethodUnsubscribe  = "resources/unsubscribe"
	MethodListPrompts  = "prompts/list"
	MethodGetPrompt    = "prompts/get"

	MethodGetTask    = "tasks/get"
	MethodTaskResult = "tasks/result" // of 2025-11-25
	MethodUpdateTask = "tasks/update"
	MethodCancelTask = "tasks/cancel"

	MethodSample = "sampling/createMessage"
	MethodElicit = "elicitation/create"
	MethodRoots  = "roots/list"

	NoteInitialized    = "notifications/initialized"
	NoteCancelled      = "notifications/cancelled"
	NoteProgress       = "notifications/progress"
	NoteMessage        = "notifications/message"
	NoteToolsChanged   = "notifications/tools/list_changed"
	NotePromptsChanged = "notifications/prompts/list_changed"
	NoteResChanged     = "notifications/resources/list_changed"
	NoteResUpdated     = "notifications/resources/updated"
	NoteRootsChanged   = "notifications/roots/list_changed"
	NoteElicitDone     = "notifications/elicitation/complete"
	NoteAcknowledged   = "notifications/subscriptions/acknowledged"
	NoteTask           = "notifications/tasks"
)

// Names in _meta that MCP defines.
const (
	MetaVersion      = "io.modelcontextprotocol/protocolVersion"
	MetaClientInfo   = "io.modelcontextprotocol/clientInfo"
	MetaClientCaps   = "io.modelcontextprotocol/clientCapabilities"
	MetaLogLevel     = "io.modelcontextprotocol/logLevel"
	MetaServerInfo   = "io.modelcontextprotocol/serverInfo"
	MetaSubscription = "io.modelcontextprotocol/subscriptionId"
)

// ExtensionTasks is the capability name of the tasks extension.
const ExtensionTasks = "io.modelcontextprotocol/tasks"

// Levels lists the log levels, least severe first.
var Levels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// NeedsPerson reports whether a person may have to answer a request of a server. The
// client's program answers the others by itself.
func NeedsPerson(method string) bool { return method != MethodRoots && method != MethodPing }
