// Package doctor looks for what keeps Junctor and its servers from working, and says how to
// fix it.
//
// A [Check] looks at one thing and returns findings. The functions of this package make
// checks of what they are given: they do not read the configuration themselves, and start no
// plugin and no server.
//
// Each file has the checks about one subject, with the types that they are given; the files with
// the name of a system at the end have what differs there. doctor.go runs checks, and report.go
// writes the report. To add a check, add a function to the file of its subject and a line to checks
// in cmd/host/verb/operate/examined.go.
//
// The verb doctor makes the checks. [Run] runs them concurrently, so a check shares nothing with
// others. It does not wait for a check that is too late. The names of checks are an interface:
// docs/doctor.md lists them.
package doctor

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"
)

// CheckTime is how long a check may take. Checks run concurrently.
const CheckTime = 2 * time.Second

// A Severity says how bad a finding is.
type Severity string

// The severities.
const (
	Error   Severity = "error"   // something does not work
	Warning Severity = "warning" // something may stop working, or is unsafe
)

// A Finding is one thing that is wrong.
type Finding struct {
	Check    string   `json:"check"` // such as "launchers"
	Severity Severity `json:"severity"`
	Server   string   `json:"server,omitempty"`
	Message  string   `json:"message"` // one lower-case sentence without a full stop
	At       string   `json:"at,omitempty"`
	Remedy   string   `json:"remedy"` // in the imperative; commands are in backquotes
	// Mended says what --fix did.
	Mended string `json:"mended,omitempty"`

	// Mend corrects it and says what was done; nil: only a person can.
	Mend func(ctx context.Context) (done string, err error) `json:"-"`
	// Ask is the question before Mend; empty: Mend is safe without one.
	Ask string `json:"-"`
}

// A Check looks at one thing. Run ends soon after ctx.
type Check struct {
	Name string
	Run  func(ctx context.Context) []Finding
}

// Run runs checks concurrently and returns their findings, sorted. A check that does not end
// in time is a finding itself.
func Run(ctx context.Context, checks []Check) []Finding {
	ctx, cancel := context.WithTimeout(ctx, CheckTime)
	defer cancel()
	results := make([]chan []Finding, len(checks))
	for i, c := range checks {
		results[i] = make(chan []Finding, 1) // a late check does not block
		go func() { results[i] <- c.findings(ctx) }()
	}
	end, stop := context.WithTimeout(context.WithoutCancel(ctx), CheckTime+lateBy)
	defer stop()
	var all []Finding
	for i, c := range checks {
		all = append(all, c.await(end, results[i])...)
	}
	Sort(all)
	return all
}

// await returns what the check has found, or that it has not ended by the end of a context.
func (c Check) await(end context.Context, result <-chan []Finding) []Finding {
	select {
	case found := <-result:
		return found
	case <-end.Done():
	}
	select {
	case found := <-result:
		return found
	default:
		return []Finding{{Check: c.Name, Severity: Warning,
			Message: fmt.Sprintf("the check did not end within %s", CheckTime),
			Remedy:  "run `junctor doctor` again when the machine is less busy"}}
	}
}

// lateBy is how long a check may take after its context has ended.
const lateBy = 200 * time.Millisecond

// findings runs the check. A panic is a finding.
func (c Check) findings(ctx context.Context) (found []Finding) {
	defer func() {
		if r := recover(); r != nil {
			found = []Finding{{Check: c.Name, Severity: Warning, Message: fmt.Sprintf("the check failed: %v", r),
				Remedy: "report this as a bug of Junctor, with `junctor doctor --report FILE`"}}
		}
		for i := range found {
			found[i].Check = cmp.Or(found[i].Check, c.Name)
		}
	}()
	return c.Run(ctx)
}

// Sort sorts findings: errors first, then by check, server and message.
func Sort(all []Finding) {
	slices.SortStableFunc(all, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Severity, b.Severity), cmp.Compare(a.Check, b.Check),
			cmp.Compare(a.Server, b.Server), cmp.Compare(a.Message, b.Message))
	})
}

// HasErrors reports whether a finding of severity Error was not mended.
func HasErrors(all []Finding) bool {
	return slices.ContainsFunc(all, func(f Finding) bool { return f.Severity == Error && f.Mended == "" })
}

// quote quotes a word for a shell if that is necessary.
func quote(word string) string {
	for _, r := range word {
		if !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '/' || r == '.' || r == '_' ||
			r == '-' || r == ':' || r == '@' || r == '+' || r == '=' || r == ',') {
			return "'" + replaceQuotes(word) + "'"
		}
	}
	if word == "" {
		return "''"
	}
	return word
}
