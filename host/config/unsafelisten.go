package config

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/config/source"
)

// An httpSource is the place of the http block, for diagnostics after the load: the verb serve calls
// HTTP.WithAddress for its flag --http.
type httpSource struct {
	source *source.File
	head   hcl.Range
	in     string
}

const listenHint = `write HOST:PORT, such as "127.0.0.1:7575", or unix:PATH`

// readListen reads the address to listen at. It returns false for a wrong address.
func readListen(r blockReader) (string, bool) {
	text, a, set := r.Text("listen")
	if !set {
		return language.Defaults[HTTP]().Listen, !r.IsSet("listen")
	}
	listen, err := parseListen(text, r.of.ev.Files.DirOf(a.SrcRange.Filename))
	if err != nil {
		r.ErrorAt(a.Expr.Range(), listenHintFor(text, "listen = %q"), "%s %v", addressInFile(text), err)
	}
	return listen, err == nil
}

// maxShownAddress is the length of the longest address that messages repeat.
const maxShownAddress = 128

// addressInFile names an address in the file, for messages.
func addressInFile(listen string) string {
	if len(listen) > maxShownAddress {
		return `"listen"`
	}
	return fmt.Sprintf("listen = %q", listen)
}

// addressOfFlag names an address of the --http flag, for messages.
func addressOfFlag(listen string) string {
	if listen == "" || len(listen) > maxShownAddress {
		return "the address of --http"
	}
	return "--http " + listen
}

// An exposureProblem is an unsafe combination of an address and other settings.
type exposureProblem struct {
	severity      source.Severity
	place         string // the attribute or block to change
	summary, hint string
}

const authHint = `write auth "static_token" { ... } in gateway { http { ... } }`

// exposureProblems lists the unsafe combinations of the settings. called names the
// address in their messages.
func (h HTTP) exposureProblems(called string) []exposureProblem {
	var all []exposureProblem
	object := func(severity source.Severity, place, hint, format string) {
		all = append(all, exposureProblem{severity, place, fmt.Sprintf(format, called), hint})
	}
	authenticated := len(h.Auth) > 0 || h.TLS != nil && h.TLS.ClientCA != ""
	if isSocket(h.Listen) && h.TLS != nil {
		object(source.Error, "tls", "remove tls, or listen on a port", "%s is a unix socket, which has no TLS")
	}
	if !isSocket(h.Listen) && h.SocketMode != privateSocket {
		object(source.Warning, "socket_mode", `remove "socket_mode", or listen on unix:PATH`,
			`%s is no unix socket, so "socket_mode" has no effect`)
	}
	if isLocal(h.Listen) {
		clients := "%s lets every program on this machine in: nothing authenticates clients"
		if isSocket(h.Listen) {
			clients = "%s lets in " + socketClients(h.SocketMode) + ": nothing authenticates clients"
		}
		if !authenticated {
			object(source.Warning, "listen", authHint, clients)
		}
		return all
	}
	if !authenticated {
		object(source.Error, "listen", authHint+", or listen on 127.0.0.1",
			"%s is not a loopback address, so clients must be authenticated")
	}
	switch {
	case h.TLS != nil:
	case h.Plaintext:
		object(source.Warning, "allow_plaintext", "make sure that only a proxy with TLS can connect to it",
			"%s is not a loopback address and has no TLS: tokens and messages can be read on the way")
	default:
		object(source.Error, "listen", "listen on 127.0.0.1, or write tls { ... } in gateway { http { ... } }, or allow_plaintext = true if something in front of it has TLS",
			"%s is not a loopback address, so it must have TLS")
	}
	return all
}

// reportExposure reports the exposure problems at the attributes to change. Without
// an http block only the --http flag starts a listener, and WithAddress checks it.
func reportExposure(r blockReader, h HTTP) {
	if !h.Given {
		return
	}
	called := addressInFile(h.Listen)
	if text, _, set := r.Text("listen"); set {
		called = addressInFile(text)
	}
	for _, o := range h.exposureProblems(called) {
		at := r.ValueAt(o.place, r.Head)
		if b, found := r.block(o.place); found {
			at = b.Head
		}
		r.Host.Report(language.Problem{Warning: o.severity == source.Warning, In: r.In, At: at, Summary: o.summary,
			Hint: o.hint, Address: true})
	}
}

// WithAddress returns the settings with the address of a --http flag, checked again. A
// relative path of a socket starts at the working directory. The diagnostics are
// those of the load without those about the replaced address, and the new ones.
func (h HTTP) WithAddress(listen string, loaded source.Diagnostics) (HTTP, source.Diagnostics) {
	ds := slices.DeleteFunc(slices.Clone(loaded), func(d source.Diagnostic) bool { return d.Address })
	called, text := addressOfFlag(listen), listen
	here, err := filepath.Abs(".")
	if err == nil {
		listen, err = parseListen(listen, here)
	}
	if err != nil {
		return h, append(ds, h.diagnostic(exposureProblem{source.Error, "listen", fmt.Sprintf("%s %v", called, err),
			listenHintFor(text, "--http=%s")}))
	}
	h.Listen = listen
	for _, o := range h.exposureProblems(called) {
		ds = append(ds, h.diagnostic(o))
	}
	return h, ds
}

// diagnostic returns a diagnostic at the http block, if there is one.
func (h HTTP) diagnostic(o exposureProblem) source.Diagnostic {
	d := source.Diagnostic{Severity: o.severity, Summary: o.summary, Hint: o.hint, Code: o.severity.Code()}
	if h.Given {
		d.In, d.At, d.End = h.origin.in, source.StartOf(h.origin.head), source.EndOf(h.origin.head)
		d.AddSnippet(h.origin.source, h.origin.head)
	}
	return d
}
