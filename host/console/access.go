package console

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/policy"
)

const (
	maxNames   = 64  // roles, groups or scopes in a form
	maxName    = 256 // bytes
	maxChoices = 500 // names that a field proposes
)

// An accessView is the content of the form that explains a decision. The page access explains
// decisions of the policy.
type accessView struct {
	Tool, Subject, Tenant, Issuer, Roles, Groups, Scopes, Claims, Arguments string

	Address, Client, Time string // of the request

	Subjects, Tools []string // to choose from
	Wrong           string   // with the form
	Decided         *decided
}

// A decided is a decision with its reasons.
type decided struct {
	Who     authn.Principal
	Tool    *catalog.Tool
	List    bool // about a list, not about a call with arguments
	Verdict string
	policy.Explanation
	Needs   string // who must approve; empty: nothing is asked
	Changes []string
}

// accessFields are the fields of the form.
func (v *accessView) fields() map[string]*string {
	return map[string]*string{
		"tool": &v.Tool, "subject": &v.Subject,
		"tenant": &v.Tenant, "issuer": &v.Issuer, "roles": &v.Roles, "groups": &v.Groups, "scopes": &v.Scopes,
		"claims": &v.Claims, "arguments": &v.Arguments, "address": &v.Address, "client": &v.Client, "time": &v.Time,
	}
}

// showAccess writes the form with the values of a link. The goroutine of the request runs it and explainAccess,
// which keep no state.
func showAccess(w http.ResponseWriter, r *http.Request, q *request) error {
	var v accessView
	for name, field := range v.fields() {
		*field = cutBytes(r.URL.Query().Get(name), maxName)
	}
	q.showAccessView(w, http.StatusOK, v)
	return nil
}

func explainAccess(w http.ResponseWriter, r *http.Request, q *request) error {
	var v accessView
	for name, field := range v.fields() {
		*field = strings.TrimSpace(r.PostForm.Get(name))
	}
	status := http.StatusOK
	if v.Decided, v.Wrong = q.decide(&v); v.Wrong != "" {
		status = http.StatusUnprocessableEntity
	}
	q.showAccessView(w, status, v)
	return nil
}

// showAccessView writes the form with the names that its fields propose.
func (q *request) showAccessView(w http.ResponseWriter, status int, v accessView) {
	for _, p := range q.sources.Policy.Named() {
		if p.Who.Subject != "" && len(v.Subjects) < maxChoices && !slices.Contains(v.Subjects, p.Who.Subject) {
			v.Subjects = append(v.Subjects, p.Who.Subject)
		}
	}
	for _, t := range q.sources.Tools.List() {
		if len(v.Tools) == maxChoices {
			break
		}
		if q.hide(t.Exposed) == t.Exposed {
			v.Tools = append(v.Tools, t.Exposed)
		}
	}
	q.show(w, status, "access", pages["access"].title, v)
}

// decide explains the decision about a form. wrong says what the form lacks.
func (q *request) decide(v *accessView) (d *decided, wrong string) {
	t, err := q.toolOf(v.Tool)
	if err != nil {
		return nil, "There is no tool with this name. The page Tools lists them."
	}
	who, wrong := q.described(v)
	if wrong != "" {
		return nil, wrong
	}
	var args []byte
	if v.Arguments != "" {
		if args, wrong = argumentsOf(v.Arguments); wrong != "" {
			return nil, wrong
		}
	}
	x, err := q.sources.Policy.Explain(Use{Who: who, Tool: t, Args: args, Address: v.Address, Client: v.Client,
		Time: v.Time})
	if err != nil {
		return nil, fault.As(err).Message + "."
	}
	d = &decided{Who: who, Tool: t, List: args == nil, Verdict: x.Decision.Verdict.String(), Explanation: x}
	if needed := x.Decision.Approval(); needed != nil {
		d.Needs = cmp.Or(needed.Needs(), "an operator")
		if needed.ByClient {
			d.Needs = "the person at the client"
		}
	}
	if d.Decision.Verdict != policy.Allow {
		for _, r := range d.Rules {
			if change := r.Change(); change != "" && (r.Effect != "deny" || d.Decision.Verdict == policy.Depends) {
				d.Changes = append(d.Changes, change)
			}
		}
	}
	return d, ""
}

// described returns the principal of a form. wrong says what the form lacks.
func (q *request) described(v *accessView) (who authn.Principal, wrong string) {
	for name, text := range map[string]string{"subject": v.Subject, "tenant": v.Tenant, "issuer": v.Issuer,
		"client": v.Client} {
		if len(text) > maxName {
			return who, "The " + name + " is longer than 256 bytes."
		}
	}
	roles, groups, scopes := namesOf(v.Roles), namesOf(v.Groups), namesOf(v.Scopes)
	switch {
	case max(len(roles), len(groups), len(scopes)) > maxNames:
		return who, "Write at most 64 roles, 64 groups and 64 scopes."
	case v.Subject == "" && len(roles) == 0 && len(groups) == 0:
		return who, "Write a subject such as alice, or a role or a group."
	}
	who = q.sources.Policy.Principal(v.Subject, v.Tenant)
	if who.Method == "" { // that of a static token, or of the command line, is known
		who.Issuer = v.Issuer
	}
	who.Roles, who.Groups, who.Scopes = append(slices.Clone(who.Roles), roles...), groups, scopes
	if v.Claims != "" {
		if !json.Valid([]byte(v.Claims)) || v.Claims[0] != '{' {
			return who, "The claims are not a JSON object: write { … }."
		}
		who.Claims = []byte(v.Claims)
	}
	return who, ""
}

// namesOf returns the names in a list with commas or blanks between them.
func namesOf(text string) []string {
	return strings.FieldsFunc(text,
		func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\r' || r == '\t' })
}
