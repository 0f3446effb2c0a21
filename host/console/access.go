package console

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/policy"
)

const (
	maxNames = 64  // roles or groups in a form
	maxName  = 256 // bytes
)

// An accessView is the content of the form that explains a decision.
type accessView struct {
	Tool, Subject, Tenant, Roles, Groups, Claims, Arguments string

	Wrong   string // with the form
	Decided *decided
}

// A decided is a decision with its reasons.
type decided struct {
	Who     authn.Principal
	Tool    *catalog.Tool
	List    bool // about a list, not about a call with arguments
	Verdict string
	policy.Explanation
	Changes []string
}

func showAccess(w http.ResponseWriter, r *http.Request, q *request) error {
	get := r.URL.Query().Get
	q.show(w, http.StatusOK, "access", pages["access"].title, accessView{Tool: cutBytes(get("tool"), maxName), Subject: cutBytes(get("subject"), maxName)})
	return nil
}

func explainAccess(w http.ResponseWriter, r *http.Request, q *request) error {
	get := func(name string) string { return strings.TrimSpace(r.PostForm.Get(name)) }
	v := accessView{
		Tool: get("tool"), Subject: get("subject"), Tenant: get("tenant"), Roles: get("roles"), Groups: get("groups"), Claims: get("claims"), Arguments: get("arguments"),
	}
	status := http.StatusOK
	if v.Decided, v.Wrong = q.decide(&v); v.Wrong != "" {
		status = http.StatusUnprocessableEntity
	}
	q.show(w, status, "access", pages["access"].title, v)
	return nil
}

// decide explains the decision about a form. wrong says what the form lacks.
func (q *request) decide(v *accessView) (d *decided, wrong string) {
	if v.Subject == "" || len(v.Subject) > maxName || len(v.Tenant) > maxName {
		return nil, "Write a subject of at most 256 bytes, such as alice."
	}
	t, ok := q.sources.Tools.Find(v.Tool)
	if !ok {
		return nil, "There is no tool with this name. The page Tools lists them."
	}
	who := q.sources.Policy.Principal(v.Subject, v.Tenant)
	roles, groups := namesOf(v.Roles), namesOf(v.Groups)
	if len(roles) > maxNames || len(groups) > maxNames {
		return nil, "Write at most 64 roles and 64 groups."
	}
	who.Roles, who.Groups = append(slices.Clone(who.Roles), roles...), groups
	if v.Claims != "" {
		if !json.Valid([]byte(v.Claims)) || v.Claims[0] != '{' {
			return nil, "The claims are not a JSON object: write { … }."
		}
		who.Claims = []byte(v.Claims)
	}
	var args []byte
	if v.Arguments != "" {
		if args, wrong = argumentsOf(v.Arguments); wrong != "" {
			return nil, wrong
		}
	}
	d = &decided{Who: who, Tool: t, List: args == nil, Explanation: q.sources.Policy.Explain(who, t, args)}
	d.Verdict = d.Decision.Verdict.String()
	if d.Decision.Verdict != policy.Allow {
		for _, r := range d.Rules {
			if change := r.Change(); change != "" && (r.Effect != "deny" || d.Decision.Verdict == policy.Depends) {
				d.Changes = append(d.Changes, change)
			}
		}
	}
	return d, ""
}

// namesOf returns the names in a list with commas or blanks between them.
func namesOf(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\r' || r == '\t' })
}
