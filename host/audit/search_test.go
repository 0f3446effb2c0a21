package audit

import (
	"slices"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/host/mcp"
)

// TestFilterSelectsRows counts what each filter selects.
func TestFilterSelectsRows(t *testing.T) {
	path := written(t, 3000) // see sample
	start := sample(0).Time
	for name, c := range map[string]struct {
		filter Filter
		want   int
	}{
		"all":                {Filter{}, 3000},
		"limit":              {Filter{Limit: 7}, 7},
		"since":              {Filter{Since: start.Add(2990 * time.Millisecond)}, 10},
		"until":              {Filter{Until: start.Add(5 * time.Millisecond)}, 5},
		"since and until":    {Filter{Since: start.Add(time.Second), Until: start.Add(2 * time.Second)}, 1000},
		"nothing since":      {Filter{Since: start.Add(time.Hour)}, 0},
		"after":              {Filter{After: 2998}, 2},
		"after the end":      {Filter{After: 3000}, 0},
		"before":             {Filter{Before: 11}, 10},
		"before the first":   {Filter{Before: 1}, 0},
		"between":            {Filter{After: 1000, Before: 1500}, 499},
		"server":             {Filter{Server: "server-3"}, 300},
		"unknown server":     {Filter{Server: "server-33"}, 0},
		"any server":         {Filter{Server: "server-*"}, 3000},
		"item":               {Filter{Item: "tool_7"}, 15},
		"items":              {Filter{Item: "tool_7*"}, 165},
		"no glob":            {Filter{Item: "tool_?"}, 0},
		"no class":           {Filter{Item: "tool_[7]*"}, 0},
		"subject":            {Filter{Subject: "user-4"}, 60},
		"subject and server": {Filter{Subject: "user-4", Server: "server-4"}, 60},
		"never together":     {Filter{Subject: "user-4", Server: "server-5"}, 0},
		"tenant":             {Filter{Tenant: "acme"}, 3000},
		"other tenant":       {Filter{Tenant: "globex"}, 0},
		"method":             {Filter{Method: "tools/*"}, 3000},
		"kind":               {Filter{Kind: Login}, 0},
		"errors":             {Filter{Errors: true}, 30},
		"denied":             {Filter{Denied: true}, 3},
		"outcome":            {Filter{Outcome: Failed}, 27},
		"request":            {Filter{Request: sample(0).RequestID, Limit: 1}, 1},
		"unknown request":    {Filter{Request: "x"}, 0},
		"quotes":             {Filter{Subject: `' OR 1 = 1 --`}, 0},
	} {
		if got := len(rowsOf(t, path, c.filter)); got != c.want {
			t.Errorf("%s: %d rows, want %d", name, got, c.want)
		}
	}
	r, err := OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	next := int64(3000)
	if err := r.Each(t.Context(), Filter{Limit: 1500}, true, func(row Row) bool {
		if row.Seq != next {
			t.Errorf("row %d follows %d", row.Seq, next+1)
		}
		next--
		return true
	}); err != nil || next != 1500 {
		t.Errorf("the last row is %d, %v", next, err)
	}
}

// TestUsesLeaveOutLists: requests for lists that succeeded are left out. Failures of any method
// and all other kinds stay.
func TestUsesLeaveOutLists(t *testing.T) {
	path := newPath(t)
	l := newLog(t, Settings{File: path})
	for _, e := range []Event{
		{Kind: Request, Method: mcp.MethodInitialize, Outcome: OK},
		{Kind: Request, Method: mcp.MethodListTools, Outcome: OK}, {Kind: Request, Method: mcp.MethodPing, Outcome: OK},
		{Kind: Request, Method: mcp.MethodDiscover, Outcome: OK}, {Kind: Request, Outcome: OK},
		{Kind: Request, Method: "tools/call2", Outcome: OK},
		{Kind: Request, Method: mcp.MethodListTools, Outcome: Failed},
		{Kind: Request, Method: mcp.MethodCallTool, Outcome: OK},
		{Kind: Request, Method: mcp.MethodReadResource, Outcome: OK},
		{Kind: Request, Method: mcp.MethodGetPrompt, Outcome: Denied}, {Kind: Reload, Outcome: OK}, {Kind: Approval},
		{Kind: AuthFailure, Outcome: Denied},
	} {
		e.Time = time.Now()
		if e.Kind == Request {
			l.End(&e)
		} else {
			l.Note(&e)
		}
	}
	l.Close()
	var got []int64
	for _, r := range rowsOf(t, path, Filter{Uses: true}) {
		got = append(got, r.Seq)
	}
	if want := []int64{7, 8, 9, 10, 11, 12, 13}; !slices.Equal(got, want) {
		t.Errorf("rows %v, want %v", got, want)
	}
	if got := rowsOf(t, path, Filter{Uses: true, Method: mcp.MethodPing}); len(got) > 0 {
		t.Errorf("%+v", got)
	}
}

// TestRowKeepsEvent reads back every field.
func TestRowKeepsEvent(t *testing.T) {
	path := newPath(t)
	l := newLog(t, Settings{File: path, Arguments: true, Results: true,
		Redacted: func(server, item string) bool { return item == "tool_3" }})
	for n := range 4 {
		e := sample(n)
		e.Result = []byte(`{"content":[]}`)
		l.End(&e)
	}
	l.Close()
	rows := rowsOf(t, path, Filter{})
	want := sample(1)
	r := rows[1]
	if !r.Time.Equal(want.Time) || r.DurationMS != 12 || r.RequestID != want.RequestID || r.TraceID != want.TraceID ||
		r.Session != want.Session || r.Transport != "http" ||
		r.Address != "10.0.0.7" || r.Client != want.Client || r.Tenant != "acme" || r.Subject != "user-1" ||
		r.Issuer != want.Issuer || r.Proof != "jwt" || r.Server != "server-1" ||
		r.ItemKind != "tool" || r.Item != "tool_1" || r.Method != "tools/call" || r.Decision != "allowed" ||
		r.Rule != want.Rule || r.Access != "read" || r.AccessSource != "words" ||
		r.Outcome != OK || r.ResultSize != 4711 || r.ArgumentsSize != len(want.Arguments) ||
		len(r.ArgumentsDigest) != 64 || string(r.Arguments) != string(want.Arguments) ||
		string(r.Result) != `{"content":[]}` {
		t.Errorf("%+v", r)
	}
	if rows[3].Arguments != nil || rows[3].Result != nil || rows[3].ArgumentsDigest == "" {
		t.Errorf("arguments of a redacted tool are stored: %+v", rows[3])
	}
}
