// Package login reaches the human, for one login. At a terminal it opens
// pages in the browser, asks questions, and waits on the loopback for the
// redirect that ends a login. Where there is no browser it prints addresses
// and takes a redirect that is pasted.
//
// Only verbs that a person has started have a terminal. What serves opens nothing
// and asks nothing: at most it hands a client the page to log in on.
package login

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
)

// Options are what a Terminal works with.
type Options struct {
	In  *os.File  // where the person types; nil: nowhere
	Out io.Writer // where the person reads; never standard output, which carries what was asked for

	Server    string                      // who the login is for
	Loopback  bool                        // the server is on this machine, so its pages may be too
	NoBrowser bool                        // pages are never opened, only printed
	Ports     string                      // of the callback: one, a range a-b, or 0 for any; empty: 8085-8099
	Lookup    func(string) (string, bool) // environment variables; nil: this process's
}

// A Terminal is the person at a terminal. Its methods may be called
// concurrently; questions are asked one after the other.
type Terminal struct {
	Options
	ports portRange
	alone string // why no browser is opened; empty: one is
	in    *input
}

var _ sdk.Person = (*Terminal)(nil)

// New makes a Terminal. It fails when the ports are not any.
func New(o Options) (*Terminal, error) {
	ports, err := parsePorts(o.Ports)
	if err != nil {
		return nil, err
	}
	if o.Lookup == nil {
		o.Lookup = os.LookupEnv
	}
	t := &Terminal{Options: o, ports: ports, in: newInput(o.In)}
	t.alone = headless(o.NoBrowser, o.Lookup, runtime.GOOS)
	return t, nil
}

// CI reports whether the environment says that no person is at this machine. Who
// sets CI to false says that one is.
func CI(lookup func(string) (string, bool)) bool {
	v, _ := lookup("CI")
	return v != "" && v != "0" && !strings.EqualFold(v, "false")
}

// headless finds out whether there is a browser that the person would see. Who
// names one in BROWSER knows better than what the display variables say, but
// not better than who wants none.
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

// printf shows something to the person. What strangers wrote passes through
// plain first.
func (t *Terminal) printf(format string, args ...any) {
	if t.Out != nil {
		_, _ = fmt.Fprintf(t.Out, format, args...)
	}
}

// The most that is shown of what a plugin or a server says.
const textShown = 300

// plain makes one short line of ASCII-safe text of what strangers wrote: no
// control characters, nothing that hides or reorders what is seen.
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
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > textShown {
		s = string(r[:textShown]) + " …"
	}
	return s
}

// browserStart is how long a browser is watched: one that cannot be used
// mostly says so within that.
const browserStart = time.Second
