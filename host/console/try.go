package console

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"time"

	"github.com/junctor-mcp/junctor/host/approval"
	"github.com/junctor-mcp/junctor/host/fault"
)

const (
	maxTrying = 8 // calls at a time
	tryTime   = 10 * time.Minute
)

// A tried is the outcome of a call of a tool.
type tried struct {
	Failed bool // the tool says so, or the call
	Error  string
	Hint   string
	Result string
	Took   time.Duration
}

// argumentsOf reads the arguments of a form. why is not empty if they are no JSON object.
func argumentsOf(text string) (args []byte, why string) {
	text = string(bytes.TrimSpace([]byte(text)))
	if text == "" {
		return []byte("{}"), ""
	}
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(text)); err != nil {
		return nil, "The arguments are not JSON: " + err.Error() + "."
	}
	if b.Bytes()[0] != '{' {
		return nil, "The arguments are not a JSON object: write { … }."
	}
	return b.Bytes(), ""
}

// addressOf returns the address of a browser. The policy may have conditions on it, so the
// address of a proxy does not count.
func addressOf(r *http.Request) string {
	for _, header := range []string{"Forwarded", "X-Forwarded-For", "X-Real-Ip"} {
		if len(r.Header[header]) > 0 {
			return "unknown"
		}
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return "unknown"
	}
	return host
}

// tryTool calls a tool as a client of the gateway does: the policy, the limits and the
// audit log apply.
func tryTool(w http.ResponseWriter, r *http.Request, q *request) error {
	t, err := q.toolOf(r.PostForm.Get("tool"))
	if err != nil {
		return err
	}
	v := toolView{Tool: t, Arguments: r.PostForm.Get("arguments"), Tried: &tried{Failed: true}}
	args, why := argumentsOf(v.Arguments)
	if why != "" {
		v.Tried.Error = why
		q.showToolView(w, http.StatusUnprocessableEntity, v)
		return nil
	}
	select {
	case q.trying <- struct{}{}:
		defer func() { <-q.trying }()
	default:
		return errBusyTries
	}
	ctx, cancel := context.WithTimeout(r.Context(), tryTime)
	defer cancel()
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Now().Add(tryTime + sendTime))
	q.log.Info("a tool is called from the console", "server", t.Server, "tool", t.Name, "by", q.session.name())
	begun := time.Now()
	result, err := q.sources.Tools.Call(ctx, Caller{Principal: q.session.who, Address: addressOf(r)}, t, args)
	v.Tried.Took = time.Since(begun)
	_ = control.SetWriteDeadline(time.Now().Add(sendTime))
	if err != nil {
		f := fault.As(err)
		v.Tried.Error, v.Tried.Hint = f.Message, f.Hint
	} else {
		v.Tried.Failed, v.Tried.Result = result.Failed, approval.Show(result.JSON, q.hide)
	}
	q.showToolView(w, http.StatusOK, v)
	return nil
}
