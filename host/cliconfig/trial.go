package cliconfig

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/truncate"
)

// A Trial is the result of running a tool once.
type Trial struct {
	State TrialState `json:"state"`
	Said  string     `json:"said,omitempty"` // by the program, of its error
	// Refused are the accesses that the sandbox may have refused.
	Refused []Refusal `json:"refused,omitempty"`
}

// A TrialState says how a trial ended.
type TrialState string

// The states of a trial.
const (
	NotTried     TrialState = "not_tried"     // the tool may write
	TrialWorks   TrialState = "works"         // the program reported success
	TrialRefused TrialState = "refused"       // the sandbox refused a file or a socket
	TrialNetwork TrialState = "needs_network" // the sandbox refused the network
	TrialLogin   TrialState = "needs_login"   // the program asks for an account or a credential
	TrialFailed  TrialState = "failed"
)

// A Refusal is an access that the sandbox refused, as the cli plugin describes it.
type Refusal struct {
	What   string `json:"what"`
	Path   string `json:"path,omitempty"`
	Reason string `json:"reason"`
	// Allow has the elements of the block sandbox that allow the access.
	Allow map[string]json.RawMessage `json:"allow,omitempty"`
}

// triedMost is the maximum length of a program's output in a remark, in bytes.
const triedMost = 200

// login matches an error about an account or a credential.
var login = regexp.MustCompile(`(?i)\b(log|sign)(ged)?[ -]?in\b|\blogin\b|authenticat|unauthori[sz]ed|\b401\b|credential|\bapi[ _-]?key\b|\b(access|auth|api)?[ _-]?token\b.{0,40}\b(missing|required|not (set|found)|invalid)\b|\b(set|provide|export|missing|requires?)\b.{0,40}token\b|no (active )?account|not configured.{0,40}account`)

// NewTrial reads the result of a tool call.
func NewTrial(result []byte) Trial {
	var r struct {
		IsError bool `json:"isError"`
		Content []struct{ Text string }
		Output  struct {
			Stderr  string
			Refused []Refusal
		} `json:"structuredContent"`
	}
	if err := json.Unmarshal(result, &r); err != nil {
		return Trial{State: TrialFailed, Said: "the result has an unexpected form"}
	}
	t := Trial{State: TrialWorks, Refused: r.Output.Refused}
	if !r.IsError {
		return t
	}
	said := r.Output.Stderr
	if strings.TrimSpace(said) == "" && len(r.Content) > 0 {
		said = r.Content[0].Text
	}
	if t.Said = truncate.Bytes(strings.Join(strings.Fields(said), " "), triedMost); t.Said == "" {
		t.Said = "it failed and printed nothing"
	}
	network := func(f Refusal) bool { return f.What == "network" }
	switch {
	case slices.ContainsFunc(t.Refused, func(f Refusal) bool { return !network(f) }):
		t.State = TrialRefused
	case slices.ContainsFunc(t.Refused, network):
		t.State = TrialNetwork
	case login.MatchString(said):
		t.State = TrialLogin
	default:
		t.State = TrialFailed
	}
	return t
}

// Failed reports whether the tool was run and did not work.
func (t *Trial) Failed() bool { return t.State != TrialWorks && t.State != NotTried }

// Clearer reports whether the trial says more than another one of the same tool, with fewer
// arguments: that it works, or what else it needs than arguments.
func (t *Trial) Clearer(than *Trial) bool {
	return t.State == TrialWorks || than.State == TrialFailed && t.State != TrialFailed
}

// remarks returns a comment about the trial.
func (t *Trial) remarks() []string {
	if t == nil {
		return nil
	}
	var lines []string
	switch t.State {
	case NotTried:
		return []string{"not tried: nothing says that it only reads; --read does"}
	case TrialWorks:
		lines = append(lines, "tried: it works")
	case TrialRefused, TrialFailed:
		lines = append(lines, "tried: it fails: "+t.Said)
	case TrialNetwork:
		lines = append(lines, "tried: it needs the network: "+t.Said)
	case TrialLogin:
		lines = append(lines, "tried: it needs a login: "+t.Said,
			"pass its credentials with env or pass_env, or let it read its own files with sandbox { read }")
	}
	for _, f := range t.Refused {
		if t.State != TrialNetwork {
			lines = append(lines, "tried: "+f.Reason)
		}
	}
	return lines
}

// proposed returns a comment with the block sandbox that the trials of all tools need beside
// what they have.
func proposed(tools []Tool) []string {
	lists, flags, users := map[string][]string{}, map[string]bool{}, []string{}
	for i := range tools {
		t := tools[i].Tried
		if t == nil || !t.Failed() {
			continue
		}
		for _, f := range t.Refused {
			for element, raw := range f.Allow {
				var paths []string
				if json.Unmarshal(raw, &paths) == nil {
					lists[element] = append(lists[element], paths...)
				} else {
					flags[element] = true
				}
			}
			if len(f.Allow) > 0 && !slices.Contains(users, tools[i].Name) {
				users = append(users, tools[i].Name)
			}
		}
	}
	if len(users) == 0 {
		return nil
	}
	lines := []string{"tried: " + some(users) + " would need this in the block sandbox, if you agree:"}
	for _, element := range slices.Sorted(maps.Keys(lists)) {
		quoted, _ := json.Marshal(slices.Compact(slices.Sorted(slices.Values(lists[element]))))
		lines = append(lines, "  "+element+" = "+string(quoted))
	}
	for _, element := range slices.Sorted(maps.Keys(flags)) {
		lines = append(lines, "  "+element+" = true")
	}
	return lines
}

// usersShown is the maximum number of tools that a proposal names.
const usersShown = 4

// some shortens a list of names.
func some(names []string) string {
	if len(names) > usersShown {
		return strings.Join(names[:usersShown], ", ") + " and others"
	}
	return strings.Join(names, ", ")
}
