package era

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/host/mcp"
)

func TestToLegacy(t *testing.T) {
	for result, want := range map[string]string{
		`{"content":[]}`:                                   `{"content":[]}`,
		`{"resultType":"complete","content":[]}`:           `{"content":[]}`,
		`{"content":[],"resultType":"complete"}`:           `{"content":[]}`,
		`{"content":[],"r\u0065sultType":"compl` + `ete"}`: `{"content":[]}`,
	} {
		got, err := ToLegacy([]byte(result))
		if err != nil || string(got) != want {
			t.Errorf("%s: %s, %v", result, got, err)
		}
	}
	for _, kind := range []string{"task", "input_required", "later"} {
		_, err := ToLegacy(fmt.Appendf(nil, `{"resultType":%q}`, kind))
		if unknown, ok := errors.AsType[UnknownResultType](err); !ok || string(unknown) != kind {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

func TestErrorToModern(t *testing.T) {
	for rpcErr, want := range map[string]string{
		`{"code":-32002,"message":"m"}`: `{"code":-32602,"message":"m"}`,
		`{"code":-32001,"message":"m"}`: `{"code":-32001,"message":"m"}`,
		`{"message":"m"}`:               `{"message":"m"}`,
	} {
		if got := ErrorToModern([]byte(rpcErr)); string(got) != want {
			t.Errorf("%s: %s", rpcErr, got)
		}
	}
}

func TestURLElicitation(t *testing.T) {
	page := `{"mode":"url","url":"https://x.example","elicitationId":"e"}`
	asked := `{"method":"elicitation/create","params":{"mode":"url","url":"https://x.example"}}`
	for pages, want := range map[string]string{
		`[` + page + `]`: `{"resultType":"input_required","inputRequests":{"q1":` + asked + `}}`,
		`[` + page + `,` + page + `]`: `{"resultType":"input_required","inputRequests":{"q1":` + asked + `,"q2":` +
			asked + `}}`,
		`[]`:               "",
		`[` + page + `,7]`: "",
		`["x"]`:            "",
		`{}`:               "",
		`[` + strings.Repeat(page+`,`, MaxQuestions) + page + `]`: "",
	} {
		rpcErr := []byte(`{"code":-32042,"message":"m","data":{"elicitations":` + pages + `}}`)
		if !IsURLElicitation(rpcErr) {
			t.Errorf("%.80s: not recognised", pages)
		}
		if got := URLElicitation(rpcErr); string(got) != want {
			t.Errorf("%.80s: %s", pages, got)
		}
	}
	for _, other := range []string{`{"code":-32042}`, `{"code":-32001,"data":{"elicitations":[]}}`, `{}`} {
		if IsURLElicitation([]byte(other)) {
			t.Errorf("%s is no URL elicitation", other)
		}
	}
}

func TestQuestionToLegacy(t *testing.T) {
	withID := QuestionToLegacy(mcp.MethodElicit, []byte(`{"mode":"url","url":"https://x.example"}`))
	if id, ok := mcp.TextMember(withID, "elicitationId"); !ok || len(id) < 16 {
		t.Errorf("%s", withID)
	}
	for _, params := range []string{`{"mode":"url","elicitationId":"e"}`, `{"mode":"form"}`, `{}`} {
		if got := QuestionToLegacy(mcp.MethodElicit, []byte(params)); string(got) != params {
			t.Errorf("%s: %s", params, got)
		}
	}
	if got := QuestionToLegacy(mcp.MethodSample, []byte(`{"mode":"url"}`)); string(got) != `{"mode":"url"}` {
		t.Errorf("%s", got)
	}
}

func TestWithAnswers(t *testing.T) {
	for _, c := range []struct{ params, answers, result, want string }{
		{`{"name":"t"}`,
			`{"q1":{}}`, `{"requestState":"s"}`, `{"name":"t","inputResponses":{"q1":{}},"requestState":"s"}`},
		{`{"name":"t","requestState":"old"}`, `{}`, `{"requestState":"s"}`, `{"name":"t","requestState":"s"}`},
		{`{"name":"t","requestState":"old"}`, `{}`, `{}`, `{"name":"t"}`},
		{`{"inputResponses":{"q0":{}}}`, `{"q1":{}}`, `{}`, `{"inputResponses":{"q1":{}}}`},
	} {
		if got := WithAnswers([]byte(c.params), []byte(c.answers), []byte(c.result)); string(got) != c.want {
			t.Errorf("%s: %s, want %s", c.params, got, c.want)
		}
	}
}
