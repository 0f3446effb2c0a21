package gateway

import (
	"context"
	"crypto/rand"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// A modern server that needs input ends the request with a result that asks for it
// (2026-07-28, "Multi Round-Trip Requests"). A legacy client is asked as legacy
// servers ask, and the request is sent again with its answers.

const (
	maxRounds    = 10 // of questions in the course of one request
	maxQuestions = 32 // in one round
)

// isInputRequired reports whether a reply asks for something before there is a result.
func isInputRequired(reply upstream.Reply) bool {
	if reply.Error != nil || !reply.Revision.Modern() {
		return false
	}
	kind, _ := mcp.TextMember(reply.Result, "resultType")
	return kind == "input_required"
}

// answerQuestions asks the client what a result asks for and returns the params of the
// request with its answers.
func (r *request) answerQuestions(ctx context.Context, up *upstream.Upstream, result []byte) (params []byte, err error) {
	asked, answers, n := mcp.Member(result, "inputRequests"), []byte("{}"), 0
	for range mcp.Members(asked) {
		if n++; n > maxQuestions {
			return nil, fault.New(fault.CallInput, "the server asks for more than %d things at once", maxQuestions)
		}
	}
	for key, question := range mcp.Members(asked) {
		method, _ := mcp.TextMember(question, "method")
		answer, err := r.session.question(ctx, r.out, up, method, legacyQuestion(method, mcp.Member(question, "params")))
		if err != nil && ctx.Err() != nil { // the client does not wait for the result
			return nil, context.Cause(ctx)
		}
		if err != nil {
			if answer = declined(method, err); answer == nil {
				return nil, noAnswerError(method, err)
			}
		}
		answers = mcp.SetMember(answers, key, answer)
	}
	params = mcp.DeleteMember(r.params, "requestState")
	if n > 0 {
		params = mcp.SetMember(params, "inputResponses", answers)
	}
	if state := mcp.Member(result, "requestState"); state != nil {
		params = mcp.SetMember(params, "requestState", state)
	}
	return params, nil
}

// legacyQuestion gives a question what legacy clients expect of it: that a page
// the user is sent to has an id, by which its end could be told.
func legacyQuestion(method string, params []byte) []byte {
	if mode, _ := mcp.TextMember(params, "mode"); method != mcp.MethodElicit || mode != "url" || mcp.Member(params, "elicitationId") != nil {
		return params
	}
	return mcp.SetMember(params, "elicitationId", mcp.AppendText(nil, rand.Text()))
}

// declined is the answer to a question that the client was asked and did not
// answer; nil where the protocol has none.
func declined(method string, err []byte) []byte {
	if reason, _ := mcp.TextMember(err, "data", "reason"); method != mcp.MethodElicit || reason == noCapability {
		return nil
	}
	return []byte(`{"action":"cancel"}`)
}

// noAnswerError is the error of a request whose server needs to know what the
// client does not say.
func noAnswerError(method string, err []byte) error {
	why, _ := mcp.TextMember(err, "message")
	return fault.New(fault.CallInput, "the server wants an answer to %s, which the client did not give: %s", clip(method), clip(why)).
		WithHint("use a client that can answer %q", clip(method))
}
