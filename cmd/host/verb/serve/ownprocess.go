package serve

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/approval"
	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/config/review"
	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/control"
	"github.com/junctor-mcp/junctor/host/doctor"
	"github.com/junctor-mcp/junctor/host/event"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/logbuffer"
	"github.com/junctor-mcp/junctor/host/plan"
)

// ownProcess is this process while it runs the verb serve. It answers on the control socket.
// Its methods may be called concurrently: the control socket, the console, the watcher and the signal
// have goroutines of their own. The fields before stopControl do not change after prepare. The
// verb serve makes it and stops what it starts, in the reverse order.
type ownProcess struct {
	inv       *invocation.Invocation
	app       *host.App
	transport string // see control.Status
	started   time.Time
	read      string // ContentDigest of the configuration that was loaded

	stopControl func()    // closes the control socket
	ending      sync.Once // see stopping

	// reloading is held from reading a configuration to its use, so that the last one
	// that was read is the one in effect.
	reloading sync.Mutex

	mu      sync.Mutex
	address string                // guarded by mu; where clients connect; empty before that
	failed  *control.FailedReload // guarded by mu; the last reload, if it failed
	reloads control.Activity      // guarded by mu; the members about reloads
}

// startControl opens the control socket. Without one the process serves nevertheless. The
// reloads of other processes end when ctx does.
func (s *ownProcess) startControl(ctx context.Context) (stop func()) {
	closeSocket, err := control.Serve(ctx, s.inv.Dirs.Run, s.inv.Dirs.Runs, s, s.inv.Log)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		s.inv.Log.Debug("this system has no control sockets; status and reload cannot ask this process")
	case err != nil:
		s.inv.Log.Warn("status and reload cannot ask this process: there is no control socket", "error", err)
	default:
		forget := context.AfterFunc(ctx, s.stopping)
		return func() {
			forget()
			s.stopping()
			closeSocket()
		}
	}
	return func() {}
}

// serveConsole serves the console if the configuration has one. If it is optional, another
// process of the configuration may serve it. A client on standard input reads the log, so the
// log has no link that signs in then.
func (s *ownProcess) serveConsole(ctx context.Context, optional bool) (stop func(), err error) {
	return s.app.ServeConsole(ctx, host.ConsoleOptions{Optional: optional, Records: s.inv.Records, Reload: s.reloadBy,
		Listening: func(address, link string) {
			if link != "" && s.transport == "http" {
				s.inv.Log.Info("the console is served; the link works once, within five minutes",
					"address", address, "link", link)
				return
			}
			s.inv.Log.Info("the console is served", "address", address)
		}})
}

// serveAt records the address of the endpoint.
func (s *ownProcess) serveAt(address string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.address = address
}

// Status implements control.Process.
func (s *ownProcess) Status(ctx context.Context) *control.Status {
	st := s.app.Status(ctx)
	st.PID, st.Instance = os.Getpid(), strconv.Itoa(os.Getpid())
	st.Version, st.Transport, st.Started, st.Uptime = s.inv.Version, s.transport, s.started,
		int64(time.Since(s.started).Seconds())
	st.Directory, _ = os.Getwd() // empty if it is gone
	use := control.UseOf(st.PID)
	st.Memory.Resident, st.Memory.CPU = use.Memory, use.CPU
	s.mu.Lock()
	defer s.mu.Unlock()
	st.Address, st.Generation.Failed = s.address, s.failed
	st.Activity.Reloads, st.Activity.FailedReloads, st.Activity.LastReload = s.reloads.Reloads, s.reloads.FailedReloads,
		s.reloads.LastReload
	return st
}

// Reload implements control.Process.
func (s *ownProcess) Reload(ctx context.Context) (*control.Reloaded, *control.Failure) {
	return s.reloadBy(ctx, control.LocalUser)
}

// reloadBy is Reload for a person or program called by.
func (s *ownProcess) reloadBy(ctx context.Context, by string) (*control.Reloaded, *control.Failure) {
	changed, diags, err := s.reload(ctx, by)
	var text strings.Builder
	if err == nil || diags.HasErrors() {
		diags.Render(&text)
	}
	said := diagnosticsJSON(diags)
	if err != nil {
		return nil, &control.Failure{Error: terminal.ErrorOf(err), Diagnostics: said, Text: text.String()}
	}
	return &control.Reloaded{
		Instance: strconv.Itoa(os.Getpid()), Generation: changed.Generation, Added: terminal.List(changed.Added),
		Changed: terminal.List(changed.Changed),
		Removed: terminal.List(changed.Removed), Restart: terminal.List(changed.Pending), Warnings: said,
		Text: text.String(),
	}, nil
}

// Records implements control.Recorder.
func (s *ownProcess) Records() *logbuffer.Buffer { return s.inv.Records }

// Events implements control.Recorder.
func (s *ownProcess) Events() *event.Stream { return s.app.Events() }

// Restart implements control.Operator.
func (s *ownProcess) Restart(ctx context.Context, server string) (*control.Restarted, *control.Failure) {
	begun := time.Now()
	if err := s.app.Restart(ctx, server, control.LocalUser); err != nil {
		return nil, &control.Failure{Error: terminal.ErrorOf(err)}
	}
	return s.changed(ctx, server, begun), nil
}

// Disconnect implements control.Operator.
func (s *ownProcess) Disconnect(server string) (*control.Restarted, *control.Failure) {
	begun := time.Now()
	if err := host.Disconnect(s.app, server, control.LocalUser); err != nil {
		return nil, &control.Failure{Error: terminal.ErrorOf(err)}
	}
	return &control.Restarted{Instance: strconv.Itoa(os.Getpid()), Server: server,
		Took: time.Since(begun).Milliseconds()}, nil
}

// Connect implements control.Operator.
func (s *ownProcess) Connect(ctx context.Context, server string) (*control.Restarted, *control.Failure) {
	begun := time.Now()
	if err := host.Connect(ctx, s.app, server, control.LocalUser); err != nil {
		return nil, &control.Failure{Error: terminal.ErrorOf(err)}
	}
	return s.changed(ctx, server, begun), nil
}

// BeginLogin implements control.Loginer.
func (s *ownProcess) BeginLogin(ctx context.Context, server string) (*control.LoginPage, *control.Failure) {
	page, err := host.BeginLogin(ctx, s.app, server)
	if err != nil {
		return nil, &control.Failure{Error: terminal.ErrorOf(err)}
	}
	return &control.LoginPage{Instance: strconv.Itoa(os.Getpid()), Server: server, URL: page}, nil
}

// AwaitLogin implements control.Loginer.
func (s *ownProcess) AwaitLogin(ctx context.Context, server string) (*control.LoginDone, *control.Failure) {
	account, err := host.AwaitLogin(ctx, s.app, server)
	if err != nil {
		return nil, &control.Failure{Error: terminal.ErrorOf(err)}
	}
	return &control.LoginDone{Instance: strconv.Itoa(os.Getpid()), Server: server, Account: account}, nil
}

// changed describes a server after a change that began at a time.
func (s *ownProcess) changed(ctx context.Context, server string, begun time.Time) *control.Restarted {
	done := &control.Restarted{Instance: strconv.Itoa(os.Getpid()), Server: server,
		Took: time.Since(begun).Milliseconds()}
	for _, st := range s.app.Status(ctx).Servers {
		if st.Server == server {
			done.PID = st.PID
		}
	}
	return done
}

// SetLogLevel implements control.Operator.
func (s *ownProcess) SetLogLevel(l control.LogLevel) (*control.LogLevel, *control.Failure) {
	if err := s.app.SetLogLevel(l.Server, l.Level); err != nil {
		return nil, &control.Failure{Error: terminal.ErrorOf(err)}
	}
	s.inv.Log.Info("the level of the log is another one until the process ends",
		"level", l.Level, "of", cmp.Or(l.Server, "the process"))
	l.Instance = strconv.Itoa(os.Getpid())
	return &l, nil
}

// stopping records that the process ends. Further calls do nothing.
func (s *ownProcess) stopping() {
	s.ending.Do(func() { s.app.AnnounceProcess(event.ProcessStopping) })
}

// View implements control.Process.
func (s *ownProcess) View(ctx context.Context) *plan.View { return s.app.View(ctx) }

// Approvals implements control.Process.
func (s *ownProcess) Approvals() []control.Approval {
	return s.app.Approvals().Calls(personAtSocket(control.Answering{}), true)
}

// personAtSocket returns who answers on the control socket: the user who runs Junctor, for
// the person that the answer names, if it does.
func personAtSocket(a control.Answering) approval.Person {
	who := approval.Person{Principal: authn.Local(), Name: control.LocalUser, Operator: true, Relayed: a.By}
	if a.By != "" {
		who.Name = quotedBy(a.By) + ", through " + control.LocalUser
	}
	return who
}

// quotedBy returns the name of a person in quotes, if it could be read as more than a name.
func quotedBy(name string) string {
	plain := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(" ._@-+/:", r)
	}
	if strings.ContainsFunc(name, func(r rune) bool { return !plain(r) }) {
		return strconv.Quote(name)
	}
	return name
}

// Answer implements control.Process.
func (s *ownProcess) Answer(id string, a control.Answering) (*control.Approval, *control.Failure) {
	var done *control.Approval
	var err error
	if who := personAtSocket(a); a.Verb == "revoke" {
		done, err = s.app.Approvals().Revoke(id, who)
	} else {
		done, err = s.app.Approvals().Answer(id,
			approval.Answer{Person: who, Approve: a.Verb == "approve", Reason: a.Reason})
	}
	if err != nil {
		return nil, &control.Failure{Error: terminal.ErrorOf(err)}
	}
	return done, nil
}

// ConsoleLink implements control.Process.
func (s *ownProcess) ConsoleLink() (*control.ConsoleLink, *control.Failure) {
	link, err := s.app.ConsoleLink()
	if err != nil {
		return nil, &control.Failure{Error: terminal.ErrorOf(err)}
	}
	return link, nil
}

func diagnosticsJSON(diags source.Diagnostics) (all []json.RawMessage) {
	for _, d := range diags {
		if text, err := json.Marshal(invocation.DiagnosticOf(d)); err == nil {
			all = append(all, text)
		}
	}
	return all
}

// reload reads the configuration again. The log says what changed, or why the
// configuration in effect stays. by says who asked.
func (s *ownProcess) reload(ctx context.Context, by string) (*host.Reloaded, source.Diagnostics, error) {
	s.reloading.Lock()
	defer s.reloading.Unlock()
	content, diags, err := s.trusted(ctx)
	var changed *host.Reloaded
	if err == nil && !diags.HasErrors() {
		changed, diags, err = s.app.Reload(ctx, content, by)
	}
	if err == nil {
		err = diags.Err()
	}
	if err != nil {
		f := fault.As(err)
		s.app.AnnounceReload(nil, err)
		s.setFailed(&control.FailedReload{At: time.Now(), Error: terminal.ErrorOf(err)})
		s.inv.Log.Error("the configuration was not reloaded; the one before stays in effect",
			"error", err, "at", f.At, "hint", f.Hint)
		return nil, diags, err
	}
	diags = append(diags, doctor.MissingPrograms(doctor.ProgramsOf(s.app.Config()))...)
	s.setFailed(nil)
	s.app.AnnounceReload(changed, nil)
	s.logChanges(changed)
	for _, d := range diags {
		s.inv.Log.Warn(d.Summary, "at", d.At, "hint", d.Hint)
	}
	return changed, diags, nil
}

// trusted returns the content of the configuration that the process was started with, if
// it needs trust. Another configuration that has become the first one to be found is not
// read: it would get the secrets of the one in effect.
func (s *ownProcess) trusted(ctx context.Context) (*review.Content, source.Diagnostics, error) {
	return s.inv.Trusted(ctx, s.app.Location(), invocation.Needs{}, false)
}

// setFailed records whether the last reload failed.
func (s *ownProcess) setFailed(f *control.FailedReload) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed = f
	if f != nil {
		s.reloads.FailedReloads++
		return
	}
	now := time.Now()
	s.reloads.Reloads, s.reloads.LastReload = s.reloads.Reloads+1, &now
}

// logChanges logs what a reload changed.
func (s *ownProcess) logChanges(r *host.Reloaded) {
	s.inv.Log.Info("reloaded the configuration",
		"generation", r.Generation, "added", r.Added, "changed", r.Changed, "removed", r.Removed)
	for _, p := range r.Pending {
		s.inv.Log.Warn("a setting takes effect after a restart only", "setting", p.Setting, "effect", p.Effect)
	}
}
