// Package login interacts with the user during one login. At a terminal it opens pages
// in the browser, asks questions, and listens on the loopback interface for the redirect
// at the end of the login. Without a browser it prints addresses and accepts a pasted
// redirect.
//
// Only commands that a user has started have a [Terminal]. Servers open no pages and ask
// no questions. At most they pass an address to an MCP client, with a [Client].
//
// login.go, prompt.go, input.go and paste.go are the terminal, with the files wait_unix and
// wait_other for its reads. browser.go and address.go open pages. callback.go and ports.go are the
// listener for the redirect. client.go is the way over an MCP client, and hints.go knows services.
//
// The verb login makes a [Terminal], and package host a [Client]; an auth provider calls them
// through package plugin, from any goroutine. The provider closes the callback that it opened.
// Calls block until the user has answered or their context ends.
package login

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"time"
	"unicode"

	"github.com/junctor-mcp/junctor/host/truncate"
	"github.com/junctor-mcp/junctor/sdk"
)

// Options configure a [Terminal].
type Options struct {
	In  *os.File  // where the user types; nil: no input
	Out io.Writer // where the user reads; never standard output, which carries results

	Server    string                      // the server to log in to
	Loopback  bool                        // the server is on this machine, so its pages may be too
	NoBrowser bool                        // pages are never opened, only printed
	Ports     string                      // of the callback: one port, a range a-b, or 0 for any; empty: 8085-8099
	Lookup    func(string) (string, bool) // environment variables; nil: this process's
}

// A Terminal is the user's terminal. Its methods may be called concurrently; questions
// are asked one after the other.
type Terminal struct {
	Options
	ports    portRange
	headless string                 // why no browser is opened; empty: it is opened
	state    atomic.Pointer[string] // of the last page that was opened; nil: it has none
	in       *input
}

var _ sdk.Person = (*Terminal)(nil)

// New returns a Terminal. It fails if Options.Ports is invalid.
func New(o Options) (*Terminal, error) {
	ports, err := parsePorts(o.Ports)
	if err != nil {
		return nil, err
	}
	if o.Lookup == nil {
		o.Lookup = os.LookupEnv
	}
	t := &Terminal{Options: o, ports: ports, in: newInput(o.In)}
	t.headless = headless(o.NoBrowser, o.Lookup, runtime.GOOS)
	return t, nil
}

// CI reports whether the variable CI is set to anything but "0" and "false": then no
// user is at this machine.
func CI(lookup func(string) (string, bool)) bool {
	v, _ := lookup("CI")
	return v != "" && v != "0" && !strings.EqualFold(v, "false")
}

// headless returns why no browser can be opened, or "" if one can. A program in BROWSER
// counts for more than the display variables. --no-browser, NO_BROWSER and CI count for
// more than BROWSER.
func headless(never bool, lookup func(string) (string, bool), system string) string {
	set := func(name string) bool { v, _ := lookup(name); return v != "" }
	switch {
	case never:
		return "--no-browser"
	case set("NO_BROWSER"):
		return "NO_BROWSER is set"
	case CI(lookup):
		return "CI is set"
	case set("BROWSER"):
		return ""
	case set("SSH_CONNECTION"):
		return "this is an SSH connection"
	case system == "linux" && !set("DISPLAY") && !set("WAYLAND_DISPLAY"):
		return "there is no display"
	}
	return ""
}

// printf writes to the user. Untrusted text must pass through plain first.
func (t *Terminal) printf(format string, args ...any) {
	if t.Out != nil {
		_, _ = fmt.Fprintf(t.Out, format, args...)
	}
}

// textShown is the number of characters that is shown of untrusted text.
const textShown = 300

// plain turns untrusted text into one short line without control characters and without
// characters that hide or reorder others.
func plain(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case strange(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	return truncate.Runes(strings.Join(strings.Fields(s), " "), textShown)
}

// browserStart is how long browse waits for an early exit of the browser.
const browserStart = time.Second

// strange reports whether a terminal interprets or hides a character.
func strange(r rune) bool {
	switch {
	case r < 0x20, r >= 0x7f && r < 0xa0: // C0, DEL, C1
		return true
	case r >= 0xe0000 && r <= 0xe007f: // tags
		return true
	}
	return unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r)
}
