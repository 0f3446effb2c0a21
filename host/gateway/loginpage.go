package gateway

import (
	"cmp"
	"context"
	"net/url"
	"strings"

	"github.com/junctor-mcp/junctor/host/era"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/policy"
)

// A client with URL elicitation can send its user to a login page if only the login is
// missing. Other clients get the error.

// A Page is the page of a login in progress. Package host makes it for Options.Login. Wait may
// be called by several goroutines.
type Page struct {
	ID  string // of this login: the same for everybody who is sent there
	URL string // checked: it may be shown, and opened
	// Wait waits for the end of the login. It returns nil after a success.
	Wait func(ctx context.Context) error
}

// offerLogin dispatches a request. If it fails only because of a missing login, offerLogin asks the client to
// send its user to a login page, and dispatches again after a successful login. It runs on the goroutine of the
// request, which waits for the end of a login that its client says is done.
func (p *pipeline) offerLogin(ctx context.Context, u *use) (response, error) {
	if !u.route.login {
		return p.dispatch(ctx, u)
	}
	answers := loginAnswers(u)
	params := u.params
	resp, err := p.dispatch(ctx, u)
	if err == nil || !fault.Is(err, fault.UpstreamLogin) || !opensPages(u.pendingRequest) {
		return resp, err
	}
	resp.hold.Release()
	resp, again, err := p.askToLogIn(ctx, u, answers, err)
	if again {
		u.params, u.item = params, policy.Item{} // resolve begins again with what the client sent
		return p.dispatch(ctx, u)
	}
	return resp, err
}

// askToLogIn returns the question or the error that sends the user to the login page.
// If the user has been there, it waits for the end of the login; again says that it
// was a success. missing is the fault of the request.
func (p *pipeline) askToLogIn(
	ctx context.Context, u *use, answers []byte, missing error,
) (resp response, again bool, err error) {
	f := fault.As(missing)
	page, ok := p.opts.Login(ctx, f.Server, u.principal)
	if !ok {
		return response{}, false, missing
	}
	if !u.modern() {
		notifyLoginEnd(u.session, page)
		return response{}, false, loginRequired(f, page)
	}
	switch answer := mcp.Member(answers, loginPrefix+page.ID); {
	case answer == nil:
		return response{result: loginQuestion(f, page)}, false, nil
	case !accepted(answer):
		return response{}, false, missing
	}
	if err := page.Wait(ctx); err != nil {
		told := *f
		told.Message = "the login did not come to its end: " + err.Error()
		return response{}, false, &told
	}
	return response{}, true, nil
}

// loginPrefix is the prefix of the keys of the gateway's own questions. It distinguishes them from questions of
// servers. Clients send such keys back, perhaps to another process: it must stay.
const loginPrefix = "junctor.login."

// loginAnswers removes the answers to the gateway's own questions from a request and returns them.
func loginAnswers(u *use) (ours []byte) {
	all := mcp.Member(u.params, "inputResponses")
	if !u.modern() || len(all) == 0 || all[0] != '{' {
		return nil
	}
	theirs := []byte("{}")
	for key, answer := range mcp.Members(all) {
		if strings.HasPrefix(key, loginPrefix) {
			ours = mcp.SetMember(ours, key, answer)
		} else {
			theirs = mcp.SetMember(theirs, key, answer)
		}
	}
	switch {
	case ours == nil:
	case mcp.Empty(theirs):
		u.params = mcp.DeleteMember(u.params, "inputResponses")
	default:
		u.params = mcp.SetMember(u.params, "inputResponses", theirs)
	}
	return ours
}

func accepted(answer []byte) bool {
	action, _ := mcp.TextMember(answer, "action")
	return action == "accept"
}

// opensPages reports whether the client has the capability of URL elicitation. Only the
// last legacy revision has it.
func opensPages(r *pendingRequest) bool {
	if r.gw.opts.Login == nil {
		return false
	}
	if !r.modern() && r.client.Revision() != mcp.Revision20251125 {
		return false
	}
	return mcp.Member(r.client.capabilities(), "elicitation", "url") != nil
}

// elicitation returns the params of the question to open the page. Its text names the
// server and the host of the page.
func elicitation(f *fault.Error, page Page) []byte {
	host := page.URL
	if u, err := url.Parse(page.URL); err == nil {
		host = u.Host
	}
	message := "Log in to the server " + f.Server + " on a page of " + host + "."
	q := mcp.SetMember(nil, "mode", mcp.AppendText(nil, "url"))
	q = mcp.SetMember(q, "message", mcp.AppendText(nil, message))
	return mcp.SetMember(q, "url", mcp.AppendText(nil, page.URL))
}

// loginQuestion returns the result that asks a modern client to open the page. The client
// repeats the request with its answer.
func loginQuestion(f *fault.Error, page Page) []byte {
	question := mcp.SetMember([]byte(`{"method":"elicitation/create"}`), "params", elicitation(f, page))
	questions := mcp.SetMember(nil, loginPrefix+page.ID, question)
	return era.InputRequired(questions)
}

// loginRequired returns the error for a legacy client. A notification tells the client
// when to repeat the request.
func loginRequired(f *fault.Error, page Page) error {
	e := mcp.SetMember(elicitation(f, page), "elicitationId", mcp.AppendText(nil, page.ID))
	data := mcp.SetMember(mcp.Member(mcp.FaultError(f, false), "data"), "elicitations",
		append(append([]byte("["), e...), ']'))
	object := mcp.ErrorObject(mcp.CodeURLElicitation,
		f.Error()+" ("+cmp.Or(f.Hint, "log in")+", or visit the page)", nil)
	return &rpcError{raw: mcp.SetMember(object, "data", data), cause: f}
}

// notifyLoginEnd notifies a legacy client once when the login has succeeded. Its goroutine is
// part of work of the Gateway and ends with the login or the session.
func notifyLoginEnd(s *Session, page Page) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing || s.logins[page.ID] {
		return
	}
	if s.logins == nil {
		s.logins = map[string]bool{}
	}
	s.logins[page.ID] = true
	s.gw.work.Go(func() { // a session that ends does not wait for it
		err := page.Wait(s.ctx)
		s.mu.Lock()
		delete(s.logins, page.ID)
		s.mu.Unlock()
		if err == nil {
			s.notify(mcp.NoteElicitDone, mcp.SetMember(nil, "elicitationId", mcp.AppendText(nil, page.ID)))
		}
	})
}
