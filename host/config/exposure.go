package config

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl/v2"
)

// An httpOrigin is what it takes to point at the http block after the load.
type httpOrigin struct {
	source *source
	head   hcl.Range
	in     string
}

const listenHint = `write HOST:PORT, such as "127.0.0.1:7575", or unix:PATH`

// listen reads the address to listen at.
func (s blockReader) listen() (string, bool) {
	text, a, set := s.text("listen")
	if !set {
		return defaultListen, !s.stands("listen")
	}
	listen, err := listenAt(text, s.byName[a.SrcRange.Filename].dir)
	if err != nil {
		s.wrong(a.Expr.Range(), listenHint, "%s %v", inFile(text), err)
	}
	return listen, err == nil
}

// longestCalled is the length of what messages repeat of an address.
const longestCalled = 128

// inFile is what messages call an address in the file.
func inFile(listen string) string {
	if len(listen) > longestCalled {
		return `"listen"`
	}
	return fmt.Sprintf("listen = %q", listen)
}

// onCommandLine is what they call one of the command line.
func onCommandLine(listen string) string {
	if listen == "" || len(listen) > longestCalled {
		return "the address of --http"
	}
	return "--http " + listen
}

// An objection is what speaks against an address with the settings beside it.
type objection struct {
	severity      Severity
	place         string // the attribute or block that would have to change
	summary, hint string
}

const authHint = `write auth "static_token" { ... } in gateway { http { ... } }`

// objections are the combinations that are not safe. The address is called as
// whoever set it wrote it.
func (h HTTP) objections(called string) []objection {
	var all []objection
	object := func(severity Severity, place, hint, format string) {
		all = append(all, objection{severity, place, fmt.Sprintf(format, called), hint})
	}
	authenticated := len(h.Auth) > 0 || h.TLS != nil && h.TLS.ClientCA != ""
	if isSocket(h.Listen) && h.TLS != nil {
		object(Error, "tls", "remove tls, or listen on a port", "%s is a unix socket, which has no TLS")
	}
	if !isSocket(h.Listen) && h.SocketMode != privateSocket {
		object(Warning, "socket_mode", `remove "socket_mode", or listen on unix:PATH`, `%s is no unix socket, so "socket_mode" says nothing`)
	}
	if isLocal(h.Listen) {
		who := "%s lets every program on this machine in: nothing authenticates clients"
		if isSocket(h.Listen) {
			who = "%s lets in " + letIn(h.SocketMode) + ": nothing authenticates clients"
		}
		if !authenticated {
			object(Warning, "listen", authHint, who)
		}
		return all
	}
	if !authenticated {
		object(Error, "listen", authHint+", or listen on 127.0.0.1", "%s is not a loopback address, so clients must be authenticated")
	}
	switch {
	case h.TLS != nil:
	case h.Plaintext:
		object(Warning, "allow_plaintext", "see to it that only what has TLS can connect to it",
			"%s is not a loopback address and has no TLS: whoever is in between reads tokens and messages")
	default:
		object(Error, "listen", "write tls { ... } in gateway { http { ... } }, or allow_plaintext = true if something in front of it has TLS",
			"%s is not a loopback address, so it must have TLS")
	}
	if len(h.Origins) == 0 {
		object(Error, "origins", `list the origins of the pages that may ask, or leave "origins" out`,
			`%s is not a loopback address, so "origins" must not be empty`)
	}
	return all
}

// exposed reports the objections, each at what would have to change. Without a
// block nothing is served over HTTP, unless the command line says so: see On.
func (s blockReader) exposed(h HTTP) {
	if !h.Given {
		return
	}
	called := inFile(h.Listen)
	if text, _, set := s.text("listen"); set {
		called = inFile(text)
	}
	for _, o := range h.objections(called) {
		at := s.valueAt(o.place, s.head)
		if b, found := s.block(o.place); found {
			at = b.head
		}
		s.problem(problem{severity: o.severity, in: s.in, at: at, summary: o.summary, hint: o.hint, address: true})
	}
}

// On is the same settings at the address that a --http flag names, checked
// again. A socket's relative path starts at the working directory. What the load
// had to say comes back, but for what was about the address of the file: nobody
// listens there.
func (h HTTP) On(listen string, loaded Diagnostics) (HTTP, Diagnostics) {
	ds := slices.DeleteFunc(slices.Clone(loaded), func(d Diagnostic) bool { return d.address })
	called := onCommandLine(listen)
	here, err := filepath.Abs(".")
	if err == nil {
		listen, err = listenAt(listen, here)
	}
	if err != nil {
		return h, append(ds, h.diagnostic(objection{Error, "listen", fmt.Sprintf("%s %v", called, err), listenHint}))
	}
	h.Listen = listen
	for _, o := range h.objections(called) {
		ds = append(ds, h.diagnostic(o))
	}
	return h, ds
}

// diagnostic points at the http block, if there is one.
func (h HTTP) diagnostic(o objection) Diagnostic {
	d := Diagnostic{Severity: o.severity, Summary: o.summary, Hint: o.hint, Code: o.severity.code()}
	if h.Given {
		d.In, d.At, d.End = h.origin.in, startOf(h.origin.head), endOf(h.origin.head)
		d.quote(h.origin.source, h.origin.head)
	}
	return d
}
