package console

import (
	"bytes"
	"encoding/json"
	"net/http"

	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/control"
	"github.com/junctor-mcp/junctor/host/fault"
)

// A serversView is the content of the page of all servers.
type serversView struct {
	Status  *control.Status
	Servers []serverRow
	Failed  int
	Held    map[string]int // tools that are held back, by server
}

// showServers writes the page of all servers. The goroutine of the request runs it, showServer
// and restartServer, which keep no state.
func showServers(w http.ResponseWriter, r *http.Request, q *request) error {
	v := serversView{Status: q.sources.Process.Status(r.Context()), Held: q.sources.Pins.Held()}
	for _, s := range v.Status.Servers {
		v.Servers = append(v.Servers, serverRow{s})
		if !s.OK {
			v.Failed++
		}
	}
	q.show(w, http.StatusOK, "servers", "Servers", v)
	return nil
}

// A serverView is the content of the page of a server.
type serverView struct {
	serverRow
	Lines       []string // on standard error
	Given       []Setting
	Defaults    []Setting
	Info        string
	Said        string // the instructions of the server
	Definitions string // the attribute
	Held        heldView
	Changes     []toolChange
}

// A toolChange is a change of a tool of the server.
type toolChange struct {
	catalog.Change
	Parts []changedPart
}

// A changedPart is a part of a tool's definition before and after a change.
type changedPart struct {
	Name          string
	Before, After string // JSON; empty: it is absent
	Cut           bool   // Before or After is the beginning only
}

func toolChanges(all []catalog.Change) (shown []toolChange) {
	for _, c := range all {
		shown = append(shown, toolChange{Change: c, Parts: partsOf(c.Members)})
	}
	return shown
}

func partsOf(members []catalog.MemberChange) (parts []changedPart) {
	for _, m := range members {
		parts = append(parts, changedPart{m.Name, indented(m.Before), indented(m.After), m.Cut})
	}
	return parts
}

func showServer(w http.ResponseWriter, r *http.Request, q *request) error {
	name := r.URL.Query().Get("name")
	s := q.serverNamed(r.Context(), name)
	if s == nil {
		return errNoPage
	}
	pinned := q.sources.Pins.Pinned(name)
	v := serverView{
		serverRow: serverRow{s}, Lines: q.sources.Servers.LastLines(r.Context(), name),
		Info: indented(s.ServerInfo), Said: q.sources.Servers.Instructions(name),
		Definitions: pinned.Definitions, Held: q.held(pinned.Differences),
		Changes: toolChanges(q.sources.Servers.Changes(name)),
	}
	for _, one := range q.sources.Configuration.Settings(name) {
		if one.Given {
			v.Given = append(v.Given, one)
		} else {
			v.Defaults = append(v.Defaults, one)
		}
	}
	if len(v.Lines) == 0 && s.Error != nil {
		v.Lines = s.Error.Output
	}
	q.show(w, http.StatusOK, "server", "Server "+name, v)
	return nil
}

func restartServer(w http.ResponseWriter, r *http.Request, q *request) error {
	name := r.PostForm.Get("server")
	s := q.serverNamed(r.Context(), name)
	if err := q.sources.Servers.Restart(name, q.session.name()+", in the console"); err != nil {
		return q.done(w, r, "servers", failure(err))
	}
	q.log.Info("a server is restarted from the console", "server", name, "by", q.session.name())
	text := "Server " + name + " restarts: its calls may end, then it is connected again."
	if s != nil && s.State == control.NotStarted {
		text = "Server " + name + " starts."
	}
	return q.done(w, r, "server"+query("name", name), flash{Text: text})
}

// failure returns the message about an error.
func failure(err error) flash {
	f := fault.As(err)
	text := f.Message
	if f.Hint != "" {
		text += ". To do: " + f.Hint
	}
	return flash{Text: text + ".", Failed: true}
}

// indented returns JSON with line breaks, or the text itself if it is none.
func indented(text []byte) string {
	var b bytes.Buffer
	if len(text) == 0 || len(text) > maxIndented || json.Indent(&b, text, "", "  ") != nil || b.Len() > 4*maxIndented {
		return string(text)
	}
	return b.String()
}

// maxIndented is the length in bytes of JSON that is indented. Deep JSON grows much.
const maxIndented = 1 << 20
