package plugin

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/sdk"
)

// over is called when nothing more comes from the plugin, because it ended the
// conversation or broke the rules. Without one the process is of no use.
func (l *link) over(broke error) {
	close(l.lost)
	if broke != nil {
		l.condemn(fault.Because(fault.PluginBroken, broke, "the plugin broke the protocol"))
		return
	}
	if l.attached {
		l.condemn(fault.New(fault.PluginExited, "the attached plugin ended the conversation").WithHint("start it again with the argument attach"))
		return
	}
	time.AfterFunc(l.limits.exit, func() {
		l.condemn(fault.New(fault.PluginBroken, "the plugin ended the conversation but kept running"))
	})
}

// condemn ends the process for a reason, unless it has ended or is ending for
// another.
func (l *link) condemn(f *fault.Error) {
	l.mu.Lock()
	if l.verdict == nil && !closed(l.exited()) {
		l.verdict = f
	}
	l.mu.Unlock()
	l.runner.proc.Kill()
}

// dies reports whether the process has ended or is about to, so that an error
// is a consequence of that.
func (l *link) dies() bool {
	if l.runner.proc.Wait(l.limits.exit) {
		return true
	}
	return closed(l.lost) && l.runner.proc.Wait(4*l.limits.exit) // its end is certain
}

// gone is the fault of a process that ended, with the last it said.
func (l *link) gone() error {
	l.runner.reading.Wait()
	l.mu.Lock()
	f := l.verdict
	l.mu.Unlock()
	if f == nil {
		f = fault.New(fault.PluginExited, "the plugin's process %s", l.runner.proc.Ended())
	}
	told := *f
	told.Plugin, told.Output = l.name, l.journal.last(tailShown)
	if told.Hint == "" {
		told.Hint = "the next call starts it again"
	}
	return &told
}

// tailShown is how many of a plugin's last lines an error shows.
const tailShown = 20

// explain makes an error of a call to the plugin into a fault, unless it is the
// caller's own doing.
func (l *link) explain(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return err
	}
	e, ok := errors.AsType[*sdk.Error](err)
	switch {
	case ok && e.Reason != "plugin_gone":
		return l.asFault(err)
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		if closed(l.exited()) {
			return l.gone()
		}
		return err
	case l.dies():
		return l.gone()
	}
	return fault.Because(fault.PluginBroken, err, "talking to the plugin")
}

// failed completes an error of starting with the plugin's last lines.
func (l *link) failed(err error) error {
	f, ok := errors.AsType[*fault.Error](err)
	switch {
	case ok:
	case errors.Is(err, context.DeadlineExceeded):
		f = fault.New(fault.PluginStartTimeout, "the plugin did not answer in time")
	default:
		f = fault.Because(fault.PluginHandshake, err, "starting the plugin")
	}
	f.Output = l.journal.last(tailShown)
	return f
}

// asFault gives the errors of plugins their codes, and keeps secrets out of what
// people read of them.
func (l *link) asFault(err error) error {
	if err == nil {
		return nil
	}
	e, ok := errors.AsType[*sdk.Error](err)
	if !ok {
		return err
	}
	f := &fault.Error{Code: fault.UpstreamUnavailable, Message: l.conceal.hide(e.Message), Hint: l.conceal.hide(e.Hint), Path: e.Path, Err: err}
	for _, line := range e.Output {
		f.Output = append(f.Output, l.conceal.hide(line))
	}
	switch {
	case e.Code == sdk.Invalid:
		f.Code, f.Message = fault.UpstreamSettings, l.conceal.hide(err.Error())
	case e.Code == sdk.NeedsLogin:
		f.Code = fault.UpstreamLogin
		// What the host answers to a refusal is one sentence, with what to do in it.
		if what, do, ok := strings.Cut(f.Message, ": run `"); ok && f.Hint == "" {
			f.Message, f.Hint = what, "run `"+do
		}
	case e.Code == sdk.AuthRequired:
		f.Code = fault.UpstreamAuth
	case e.Code == sdk.Panicked || e.Code == sdk.Internal || e.Code == sdk.Unimplemented:
		f.Code = fault.PluginBroken
	case e.Code == sdk.Deadline:
		f.Code = fault.UpstreamStartTimeout
	case e.Reason == "plugin_gone":
		f.Code = fault.PluginExited
	case e.Reason == "command_not_found" || e.Reason == "command_not_executable":
		f.Code = fault.UpstreamCommandNotFound
	case e.Reason == "not_started":
		f.Code = fault.UpstreamNotStarted
	case e.Reason == "exited" || e.Reason == "closed_output":
		f.Code = fault.UpstreamExited
	case reasons[e.Reason] != "":
		f.Code = reasons[e.Reason]
	case e.Code == sdk.Denied:
		f.Code = fault.PluginDenied
	}
	return f
}

// placed adds to a fault about a setting where in the configuration that is.
func placed(err error, place func(path string) string) error {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Path == "" || f.At != "" || place == nil {
		return err
	}
	told := *f
	told.At = place(f.Path)
	return &told
}

// reasons are the words of transports that go through a network, and those for
// what keeps a secret from its auth provider.
var reasons = map[string]fault.Code{
	"locked":         fault.SecretLocked,
	"password":       fault.SecretPassword,
	"damaged":        fault.SecretDamaged,
	"secret_store":   fault.SecretStore,
	"secret_unknown": fault.SecretUnknown,

	"address_refused":   fault.UpstreamAddress,
	"redirect_refused":  fault.UpstreamAddress,
	"session_lost":      fault.UpstreamSession,
	"stream_ended":      fault.UpstreamExited,
	"http_status":       fault.UpstreamStatus,
	"rate_limited":      fault.UpstreamLimited,
	"message_too_large": fault.UpstreamTooLarge,
	"bad_message":       fault.UpstreamBadMessage,
}

// Refusals lists what a plugin said against the settings, each complaint with
// the path of its setting; none when err is about anything else.
func Refusals(err error) []*sdk.Error {
	if !fault.Is(err, fault.UpstreamSettings) {
		return nil
	}
	return complaints(err)
}

func complaints(err error) []*sdk.Error {
	switch e := err.(type) {
	case *sdk.Error:
		return []*sdk.Error{e}
	case interface{ Unwrap() error }:
		return complaints(e.Unwrap())
	case interface{ Unwrap() []error }:
		var all []*sdk.Error
		for _, part := range e.Unwrap() {
			all = append(all, complaints(part)...)
		}
		return all
	}
	return nil
}
