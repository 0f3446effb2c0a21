package plugin

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/sdk"
)

// connectionEnded handles the end of the connection. broke is the protocol violation, or nil if
// the plugin closed the connection. The process is useless without a connection. The goroutine
// that notices the end calls it, once for each link. This file makes faults of the ends of
// processes and of the errors of plugins.
func (l *link) connectionEnded(broke error) {
	close(l.lost)
	if broke != nil {
		l.killWith(fault.Because(fault.PluginBroken, broke, "the plugin violated the protocol"))
		return
	}
	if l.attached {
		l.killWith(fault.New(fault.PluginExited, "the attached plugin closed the connection").
			WithHint("start the plugin again with the argument attach"))
		return
	}
	time.AfterFunc(l.limits.exit, func() {
		l.killWith(fault.New(fault.PluginBroken, "the plugin closed the connection but kept running"))
	})
}

// killWith kills the process for a reason. The first reason wins.
func (l *link) killWith(f *fault.Error) {
	l.mu.Lock()
	if l.endReason == nil && !closed(l.exited()) {
		l.endReason = f
	}
	l.mu.Unlock()
	l.runner.proc.Kill()
}

// ending reports whether the process has ended or is about to, so that an error is a
// consequence of that.
func (l *link) ending() bool {
	if l.runner.proc.Wait(l.limits.exit) {
		return true
	}
	return closed(l.lost) && l.runner.proc.Wait(4*l.limits.exit) // the process is certain to end
}

// exitError returns the fault for a process that has ended, with its last output. It waits
// until the output of the process is read.
func (l *link) exitError() error {
	l.runner.reading.Wait()
	l.mu.Lock()
	f := l.endReason
	l.mu.Unlock()
	if f == nil {
		f = fault.New(fault.PluginExited, "the plugin's process %s", l.runner.proc.Ended())
	}
	told := *f
	told.Plugin, told.Output = l.name, l.journal.last(outputLines)
	if told.Hint == "" {
		told.Hint = "the next call starts the plugin again"
	}
	return &told
}

// outputLines is the number of output lines in an error.
const outputLines = 20

// explain converts an error of a call to the plugin to a fault. It keeps the errors of
// the caller's context.
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
			return l.exitError()
		}
		return err
	case l.ending():
		return l.exitError()
	}
	return fault.Because(fault.PluginBroken, err, "communicating with the plugin")
}

// failed returns the fault of a failed start, with the plugin's last output.
func (l *link) failed(err error) error {
	f, ok := errors.AsType[*fault.Error](err)
	switch {
	case ok:
	case errors.Is(err, context.DeadlineExceeded):
		f = fault.New(fault.PluginStartTimeout, "the plugin did not respond in time")
	default:
		f = fault.Because(fault.PluginHandshake, err, "starting the plugin")
	}
	f.Output = l.journal.last(outputLines)
	return f
}

// asFault converts an error of the plugin to a fault and removes secrets from its
// texts.
func (l *link) asFault(err error) error {
	if err == nil {
		return nil
	}
	e, ok := errors.AsType[*sdk.Error](err)
	if !ok {
		return err
	}
	f := &fault.Error{Code: fault.UpstreamUnavailable, Message: l.conceal.hide(e.Message), Hint: l.conceal.hide(e.Hint),
		Path: e.Path, Err: err}
	for _, line := range e.Output {
		f.Output = append(f.Output, l.conceal.hide(line))
	}
	if code, name, ok := fault.AuthPlugin(e.Reason); ok {
		f.Code, f.Plugin = code, name
		return f
	}
	switch {
	case e.Code == sdk.Invalid:
		f.Code, f.Message = fault.UpstreamSettings, l.conceal.hide(err.Error())
	case e.Code == sdk.NeedsLogin:
		f.Code = fault.UpstreamLogin
		// The message of the host's services ends with the command for the login.
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
	case reasonCodes[e.Reason] != "":
		f.Code = reasonCodes[e.Reason]
	case e.Code == sdk.Denied:
		f.Code = fault.PluginDenied
	}
	return f
}

// placed adds the position in the configuration to a fault: that of the setting, or that
// of the block of a server that ended.
func placed(err error, place func(path string) string) error {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.At != "" || place == nil || f.Path == "" && f.Code != fault.UpstreamExited {
		return err
	}
	told := *f
	told.At = place(f.Path)
	return &told
}

// reasonCodes maps the reasons of network transports, and of secrets that an auth
// provider cannot read, to fault codes.
var reasonCodes = map[string]fault.Code{
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

// SettingErrors returns the plugin's errors about settings, each with the path of its
// setting. It returns nil if err is not about settings.
func SettingErrors(err error) []*sdk.Error {
	if !fault.Is(err, fault.UpstreamSettings) {
		return nil
	}
	return sdkErrors(err)
}

func sdkErrors(err error) []*sdk.Error {
	switch e := err.(type) {
	case *sdk.Error:
		return []*sdk.Error{e}
	case interface{ Unwrap() error }:
		return sdkErrors(e.Unwrap())
	case interface{ Unwrap() []error }:
		var all []*sdk.Error
		for _, part := range e.Unwrap() {
			all = append(all, sdkErrors(part)...)
		}
		return all
	}
	return nil
}
