package gateway

import (
	"context"

	"github.com/junctor-mcp/junctor/host/era"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// A modern server that needs input ends the request with a result that asks for it
// (2026-07-28, "Multi Round-Trip Requests"). A legacy client is asked as legacy
// servers ask, and the request is sent again with its answers.

// maxRounds bounds the rounds of questions in the course of one request.
const maxRounds = 10

// answerQuestions asks the client what a result asks for and returns the params of the
// request with its answers.
func (u *use) answerQuestions(ctx context.Context, up *upstream.Upstream, result []byte) (params []byte, err error) {
	asked, answers, n := mcp.Member(result, "inputRequests"), []byte("{}"), 0
	for range mcp.Members(asked) {
		if n++; n > era.MaxQuestions {
			return nil, tooManyQuestions(u.item.Server)
		}
	}
	for key, question := range mcp.Members(asked) {
		method, _ := mcp.TextMember(question, "method")
		resume := u.clock.pause()
		answer, err := u.session.askClient(
			ctx, u.out, up, method, era.QuestionToLegacy(method, mcp.Member(question, "params")),
		)
		resume()
		if err != nil && ctx.Err() != nil { // the client does not wait for the result
			return nil, context.Cause(ctx)
		}
		if err != nil {
			if answer = declined(method, err); answer == nil {
				return nil, noAnswerError(u.item.Server, method, err)
			}
		}
		answers = mcp.SetMember(answers, key, answer)
	}
	return era.WithAnswers(u.params, answers, result), nil
}

// declined is the answer to a question that the client was asked and did not
// answer; nil where the protocol has none.
func declined(method string, err []byte) []byte {
	if reason, _ := mcp.TextMember(err, "data", "reason"); method != mcp.MethodElicit || reason == noCapability {
		return nil
	}
	return []byte(`{"action":"cancel"}`)
}

// noAnswerError is the error of a request whose server needs an answer that the client
// does not give.
func noAnswerError(server, method string, err []byte) error {
	why, _ := mcp.TextMember(err, "message")
	return fault.In(server, fault.New(fault.CallInput, "the server wants an answer to %s, which the client did not give: %s", clip(method), clip(why)).
		WithHint("use a client that can answer %q", clip(method)))
}

func tooManyRounds(server string) error {
	return fault.In(server, fault.New(fault.CallInput, "the server asked the user more than %d times", maxRounds))
}

func tooManyQuestions(server string) error {
	return fault.In(server, fault.New(fault.CallInput, "the server asks for more than %d things at once", era.MaxQuestions))
}
