package httpserver

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/junctor-mcp/junctor/host/httpserver/origin"
)

// checkOrigin returns the error for a request that a web page may have sent, or nil. The
// functions of this file keep no state; the rule itself is in package origin.
func checkOrigin(r *http.Request, settings *active) *httpError {
	p := origin.Policy{Address: &listenerOf(r).address, Origins: settings.Origins, Hosts: settings.Hosts}
	switch err := p.Check(r); {
	case errors.Is(err, origin.ErrHost):
		return errHost
	case err != nil:
		return errOrigin
	}
	return nil
}

// admitHint returns the line of the configuration that would admit a request which
// checkOrigin has refused.
func admitHint(r *http.Request, why *httpError) string {
	name, value := "origins", printable(r.Header.Get("Origin"))
	if why == errHost {
		name, value = "hosts", printable(r.Host)
	}
	if value == "" || value == "null" {
		return ""
	}
	return fmt.Sprintf("if it is meant to be allowed, write %s = [%q] in gateway { http { } }", name, value)
}

// maxLoggedName is the length in bytes of a name in the log.
const maxLoggedName = 100

// printable returns a client's header for the log, shortened and with all
// characters replaced that are not printable ASCII. It helps to configure a
// proxy.
func printable(name string) string {
	if len(name) > maxLoggedName {
		name = name[:maxLoggedName] + "..."
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, name)
}
