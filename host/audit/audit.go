// Package audit keeps a durable record of what clients did through Junctor, and finds
// changes to it.
//
// The gateway reports every request to a [Recorder], before any other stage can refuse
// it, and once more when it ends. [Discard] records nothing. A [Log] writes one row for
// each event to an SQLite file. Each row has the SHA-256 of the row before and of its own
// content, so a row that was altered, removed or reordered is found by [Verify]. Several
// processes may write to one file.
//
// One goroutine writes the rows in batches. With Settings.Full, a request is answered
// after its row is committed. When the disk fails, the rows wait in a bounded buffer, and
// Settings.Refuse decides whether further requests are refused or their rows dropped.
//
// Package host makes one Log for a process and closes it; the gateway, the recorder of package
// host and the limits of clients write to it. The verb audit and the console read with a
// Reader. Log may be used concurrently. A file, a lines, a writer and a verifier have one
// goroutine; several processes share a file through SQLite's locks.
//
// log.go, refused.go and writer.go take events and write them in the background; append.go,
// encode.go, fields.go, file.go, lines.go, prune.go and signedheads.go make rows and files.
// read.go, walk.go and archivelines.go find rows; verify.go and archive.go check them;
// export.go, ocsf.go and when.go are for the verb.
//
// The bytes of rows, archives and heads are what hashes and users depend on: a field may be
// added, but none may change (fields.go; the test TestBytesOfRows).
//
// Files, from the top: export.go, ocsf.go, signedheads.go, walk.go, archivelines.go, archive.go,
// verify.go, writer.go, read.go, prune.go, lines.go, refused.go, log.go, append.go, file.go,
// encode.go, fields.go, audit.go, when.go.
package audit

import (
	"bytes"
	"maps"
	"slices"
)

// A Recorder records events. Its methods may be called concurrently.
type Recorder interface {
	// Begin returns whether a request that begins is to be recorded. If it returns an
	// error, the request must be refused. The caller records the request with End in
	// either case.
	Begin() (recording bool, err error)
	// End records a request that ended. It keeps nothing of the event's slices.
	End(e *Event)
	// Note records an event that is not a request.
	Note(e *Event)
}

// A Forwarder gets a copy of each row that was written, as a JSON line. Forward must not block,
// and may keep the lines.
type Forwarder interface {
	Forward(lines [][]byte)
	Close()
}

// Copies say where a [Forwarder] sends lines.
type Copies struct {
	Targets []string
	Headers map[string]string // of requests to a target over HTTPS
	CA      []byte            // certificates of authorities, PEM; nil: those of the system
}

func (c Copies) equal(o Copies) bool {
	return slices.Equal(c.Targets, o.Targets) && maps.Equal(c.Headers, o.Headers) && bytes.Equal(c.CA, o.CA)
}

// copies collects the lines of one transaction for a Forwarder.
type copies struct {
	forward Forwarder // nil: no copies are wanted
	lines   [][]byte
}

func (c *copies) add(seq int64, h hash, content []byte) {
	if c.forward != nil {
		c.lines = append(c.lines, appendLine(nil, seq, h, content))
	}
}

// end forwards the lines if they were written.
func (c *copies) end(err error) {
	if err == nil && len(c.lines) > 0 {
		c.forward.Forward(c.lines)
	}
	c.lines = nil
}

// Discard is the recorder that stores nothing.
type Discard struct{}

// Begin implements [Recorder].
func (Discard) Begin() (recording bool, err error) { return false, nil }

// End implements [Recorder].
func (Discard) End(*Event) {}

// Note implements [Recorder].
func (Discard) Note(*Event) {}

// A Kind is a kind of event.
type Kind string

// The kinds of events.
const (
	Request     Kind = "request"
	AuthFailure Kind = "auth_failure" // a client over HTTP was refused
	Login       Kind = "login"        // to a server
	Logout      Kind = "logout"       // from a server
	Reload      Kind = "reload"       // of the configuration
	Restart     Kind = "restart"      // of a server, by an operator
	Connect     Kind = "connect"      // of a server, by an operator
	Disconnect  Kind = "disconnect"   // of a server, by an operator
	PluginStart Kind = "plugin_start"
	PluginCrash Kind = "plugin_crash"
	Quarantine  Kind = "quarantine"  // of a plugin that ended too often
	Approval    Kind = "approval"    // was asked for, given or denied
	ToolChange  Kind = "tool_change" // a server offers other tools than before
	// ServerFailure: a server could not be started or connected to, its connection ended with an
	// error, or a list could not be read.
	ServerFailure Kind = "server_failure"
	Loss          Kind = "loss" // of rows for which the buffer had no space
)

// Kinds lists all kinds.
var Kinds = []Kind{Request, AuthFailure, Login, Logout, Reload, Restart, Connect, Disconnect, PluginStart, PluginCrash,
	Quarantine, Approval, ToolChange, ServerFailure, Loss}

// An Outcome is how an event ended.
type Outcome string

// The outcomes.
const (
	OK               Outcome = "ok"
	ToolError        Outcome = "tool_error"        // a result with isError
	Failed           Outcome = "error"             // an error of the server or of the host
	Invalid          Outcome = "invalid"           // the request or its arguments are not valid
	Denied           Outcome = "denied"            // by the policy
	ApprovalRequired Outcome = "approval_required" // and there is no answer yet
	ApprovalDenied   Outcome = "approval_denied"
	Cancelled        Outcome = "cancelled"
	Timeout          Outcome = "timeout"
	RateLimited      Outcome = "rate_limited"
	Overloaded       Outcome = "overloaded"
	LoginRequired    Outcome = "login_required"
	Panicked         Outcome = "panicked"
	Unrecorded       Outcome = "audit_unavailable" // refused, because it could not be recorded
)

// Outcomes lists all outcomes.
var Outcomes = []Outcome{OK, ToolError, Failed, Invalid, Denied, ApprovalRequired, ApprovalDenied, Cancelled, Timeout,
	RateLimited, Overloaded, LoginRequired, Panicked, Unrecorded}

// Failed reports whether the outcome is an error of any kind.
func (o Outcome) Failed() bool { return o != OK && o != "" }

// Denied reports whether the policy or a person did not allow the use.
func (o Outcome) Denied() bool {
	return o == Denied || o == ApprovalRequired || o == ApprovalDenied
}
