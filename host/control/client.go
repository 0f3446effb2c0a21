package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/plan"
)

const (
	maxAnswer = 16 << 20 // bytes
	// statusTime is the time for a process to describe itself. It asks its plugins for
	// at most a second.
	statusTime = 3 * time.Second
)

// Status asks a process for its status. The verbs that ask running processes call the methods
// of Instance. They may be called concurrently, and block until the process has answered or ctx
// ends.
func (i *Instance) Status(ctx context.Context) (*Status, error) {
	ctx, cancel := context.WithTimeout(ctx, statusTime)
	defer cancel()
	s, err := ask[Status](ctx, i, http.MethodGet, "/v1/status")
	if err != nil {
		return nil, err
	}
	if s.PID != i.pid {
		return nil, i.unreachable(fmt.Errorf("the answer is that of process %d", s.PID))
	}
	s.complete()
	return s, nil
}

// complete fills in what a wrong answer left out, so that every status can be printed.
func (s *Status) complete() {
	s.Servers = slices.DeleteFunc(s.Servers, func(one *Server) bool { return one == nil })
	for _, one := range s.Servers {
		if one.Resources == nil || one.Prompts == nil {
			one.Tools = nil
		}
	}
	if f := s.Generation.Failed; f != nil && f.Error == nil {
		s.Generation.Failed = nil
	}
}

// Reload makes a process read its configuration again. The error is a *Refused if the
// configuration in effect stays.
func (i *Instance) Reload(ctx context.Context) (*Reloaded, error) {
	r, err := ask[Reloaded](ctx, i, http.MethodPost, "/v1/reload")
	if _, refused := errors.AsType[*Refused](err); err != nil && !refused {
		message := fmt.Sprintf("it is not known whether process %s was reloaded: it did not answer", i.Name)
		if ctx.Err() != nil {
			message = fmt.Sprintf("it is not known whether process %s was reloaded: the wait was interrupted", i.Name)
		}
		return nil, fault.New(fault.ProcessUnreachable, "%s", message).
			WithHint("run `junctor status`, which shows the generation in effect")
	}
	if err != nil {
		return nil, err
	}
	r.Instance = i.Name
	return r, nil
}

// View asks a process what clients see of the configuration in effect.
func (i *Instance) View(ctx context.Context) (*plan.View, error) {
	ctx, cancel := context.WithTimeout(ctx, viewTime)
	defer cancel()
	v, err := askAtMost[plan.View](ctx, i, http.MethodGet, "/v1/view", nil, plan.MaxBytes)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, fault.New(fault.ProcessUnreachable, "process %s did not describe its lists within %s",
			i.Name, viewTime).WithHint("run `junctor status`")
	}
	if err != nil {
		return nil, err
	}
	if err := v.Check(); err != nil {
		return nil, i.unreachable(fmt.Errorf("its view cannot be used: %w", err))
	}
	return v, nil
}

// Approvals asks a process what waits for an approval.
func (i *Instance) Approvals(ctx context.Context) ([]Approval, error) {
	ctx, cancel := context.WithTimeout(ctx, statusTime)
	defer cancel()
	all, err := ask[Approvals](ctx, i.trusted(), http.MethodGet, "/v1/approvals")
	if err != nil {
		return nil, err
	}
	for n := range all.Approvals {
		all.Approvals[n].Instance = i.Name
	}
	return all.Approvals, nil
}

// Answer approves, denies or revokes what a process knows under an id.
func (i *Instance) Answer(ctx context.Context, id string, answer Answering) (*Approval, error) {
	ctx, cancel := context.WithTimeout(ctx, statusTime)
	defer cancel()
	body, err := json.Marshal(answer)
	if err != nil {
		return nil, err
	}
	a, err := askAtMost[Approval](ctx, i.trusted(), http.MethodPost,
		"/v1/approvals/"+url.PathEscape(id)+"/"+answer.Verb, body, maxAnswer)
	if err == nil {
		a.Instance = i.Name
	}
	return a, err
}

// ConsoleLink returns a new link to the console of a process.
func (i *Instance) ConsoleLink(ctx context.Context) (*ConsoleLink, error) {
	ctx, cancel := context.WithTimeout(ctx, statusTime)
	defer cancel()
	return ask[ConsoleLink](ctx, i.trusted(), http.MethodPost, "/v1/console/link")
}

// A Refused is the error of a request that changed nothing.
type Refused struct{ Failure }

func (r *Refused) Error() string { return r.Failure.Error.Message }

// Unwrap returns the fault of the process.
func (r *Refused) Unwrap() error { return r.Failure.Error.Fault() }

func ask[T any](ctx context.Context, i *Instance, method, path string) (*T, error) {
	return askAtMost[T](ctx, i, method, path, nil, maxAnswer)
}

// send sends a request with an optional body. The caller closes the body of the answer.
func (i *Instance) send(ctx context.Context, method, path string, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://junctor"+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	resp, err := i.client.Do(req)
	if err != nil {
		return nil, i.unreachable(err)
	}
	return resp, nil
}

// askAtMost sends a request and reads an answer of at most limit bytes.
func askAtMost[T any](ctx context.Context, i *Instance, method, path string, content []byte, limit int64) (*T, error) {
	resp, err := i.send(ctx, method, path, content)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, i.refusal(resp, path)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	if err != nil {
		return nil, i.unreachable(err)
	}
	if int64(len(body)) > limit {
		return nil, i.unreachable(fmt.Errorf("the answer to %s is larger than %d MiB", path, limit>>20))
	}
	var v T
	if err := json.Unmarshal(body, &v); err != nil {
		return nil, i.unreachable(err)
	}
	return &v, nil
}

// refusal returns the error of an answer that is not well.
func (i *Instance) refusal(resp *http.Response, path string) error {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return i.unreachable(err)
	}
	if resp.StatusCode == http.StatusNotFound && !json.Valid(body) || resp.StatusCode == http.StatusMethodNotAllowed {
		path, _, _ = strings.Cut(path, "?")
		return i.unreachable(fmt.Errorf("it is another version of Junctor, which does not know %s", path))
	}
	var failure Failure
	if err := json.NewDecoder(bytes.NewReader(body)).Decode(&failure); err != nil || failure.Error == nil {
		return i.unreachable(fmt.Errorf("status %d", resp.StatusCode))
	}
	if failure.Error.Code == fault.ProcessRefused {
		failure.Error.Message = fmt.Sprintf("process %s refused a request: %s", i.Name, failure.Error.Message)
	}
	return &Refused{failure}
}

func (i *Instance) unreachable(err error) error {
	cause := err
	if u, ok := errors.AsType[*url.Error](err); ok {
		cause = u.Err // without the address, which means nothing on a socket
	}
	message := fmt.Sprintf("process %s did not answer: %s", i.Name, cause)
	if errors.Is(err, context.DeadlineExceeded) {
		message = fmt.Sprintf("process %s did not answer within %s", i.Name, statusTime)
	}
	return &fault.Error{Code: fault.ProcessUnreachable, Message: message, Err: err,
		Hint: "run `junctor status` again, or restart the process if it hangs"}
}

// An Answer is the status of a process that answered.
type Answer struct {
	*Instance
	Status *Status
}

// StatusOfAll asks all processes at the same time. It gives processes with the same id
// their long names. failed holds the errors of those that did not answer, except for
// processes that have ended.
func StatusOfAll(ctx context.Context, all []*Instance) (answered []Answer, failed []error) {
	statuses, errs := make([]*Status, len(all)), make([]error, len(all))
	var work sync.WaitGroup
	for n, i := range all {
		work.Go(func() { statuses[n], errs[n] = i.Status(ctx) })
	}
	work.Wait()
	for n, s := range statuses {
		switch err := errs[n]; {
		case err == nil:
			answered = append(answered, Answer{all[n], s})
		case !ended(err):
			failed = append(failed, err)
		}
	}
	nameApart(answered)
	return answered, failed
}

// nameApart gives processes with the same id their long names.
func nameApart(all []Answer) {
	count := map[string]int{}
	for _, a := range all {
		count[a.Name]++
	}
	for _, a := range all {
		if count[a.Name] > 1 {
			a.Name = a.long
		}
		a.Status.Instance = a.Name
	}
}

// ended reports whether an error says that no process of this user listens on a socket.
func ended(err error) bool {
	for _, e := range []error{fs.ErrNotExist, fs.ErrPermission, syscall.ECONNREFUSED, syscall.ECONNRESET, io.EOF} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
