package console

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/limit"
)

const (
	maxTrying = 8 // calls at a time
	tryTime   = 10 * time.Minute
)

// A tried is the outcome of a request to a server. The handler of the page must release hold.
type tried struct {
	Failed bool // the tool says so, or the call
	Error  string
	Hint   string
	Result *shownResult // nil: there is none
	Took   time.Duration
	hold   *limit.Hold // memory of the result and its page
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

// triedArguments returns the arguments of a form that was sent: of its fields, or of its
// JSON. There are none if the view says why.
func triedArguments(v *toolView, sent url.Values) (args []byte) {
	if !sent.Has("fields") {
		v.Written = true
		v.Arguments = sent.Get("arguments")
		args, why := argumentsOf(v.Arguments)
		v.Tried.Error = why
		return args
	}
	if sent.Get("fields") != v.Form.Digest {
		v.Tried.Error = "The schema of the tool has changed since the form was shown. Look at the fields again."
		return nil
	}
	if args = v.Form.read(sent); args != nil && !v.Form.check(v.Tool, args) {
		args = nil
	}
	if args == nil {
		v.Tried = nil // the messages are beside the fields
		return nil
	}
	v.Arguments = writable(args)
	return args
}

// tryTool calls a tool as a client of the gateway does: the policy, the limits and the
// audit log apply.
func tryTool(w http.ResponseWriter, r *http.Request, q *request) error {
	t, err := q.toolOf(r.PostForm.Get("tool"))
	if err != nil {
		return err
	}
	v := newToolView(t)
	v.Tried = &tried{Failed: true}
	args := triedArguments(&v, r.PostForm)
	if args == nil {
		q.showToolView(w, http.StatusUnprocessableEntity, v)
		return nil
	}
	v.Tried, err = q.try(w, r, func(ctx context.Context) (Result, error) {
		q.log.Info("a tool is called from the console", "server", v.Server, "tool", v.Name, "by", q.session.name())
		return q.sources.Tools.Call(ctx, Caller{Principal: q.session.who, Address: addressOf(r)}, v.Tool, args)
	})
	if err != nil {
		return err
	}
	defer v.Tried.hold.Release()
	q.showToolView(w, http.StatusOK, v)
	return nil
}

// try makes a request to a server, which may take long, and returns the outcome. The caller
// releases its hold when the page is written. The error means that too many such requests run.
// It blocks for at most tryTime.
func (q *request) try(w http.ResponseWriter, r *http.Request,
	request func(context.Context) (Result, error)) (*tried, error) {
	select {
	case q.trying <- struct{}{}:
		defer func() { <-q.trying }()
	default:
		return nil, errBusyTries
	}
	ctx, cancel := context.WithTimeout(r.Context(), tryTime)
	defer cancel()
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Now().Add(tryTime + sendTime))
	begun := time.Now()
	result, err := request(ctx)
	_ = control.SetWriteDeadline(time.Now().Add(sendTime))
	t := &tried{Took: time.Since(begun)}
	if err != nil {
		f := fault.As(err)
		t.Failed, t.Error, t.Hint = true, f.Message, f.Hint
		return t, nil
	}
	t.hold = result.Hold
	t.Failed, t.Result = result.Failed, q.shown(result.JSON)
	return t, nil
}
