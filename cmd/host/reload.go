package main

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/fault"
)

const (
	// watchDebounce is the wait for further changes of files after the first one.
	// Editors write a file in several steps.
	watchDebounce = 200 * time.Millisecond
	// watchPoll is the interval at which the content is compared without an event:
	// network file systems report none, nor do files that file() names elsewhere.
	watchPoll = 10 * time.Second
)

// reloadOnHangup reloads the configuration on SIGHUP until stop is called.
func (e *env) reloadOnHangup(ctx context.Context, app *host.App) (stop func()) {
	hangups, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(hangups, syscall.SIGHUP)
	go func() {
		defer close(done)
		for range hangups {
			_ = e.reload(ctx, app) // the log has the error
		}
	}()
	return func() {
		signal.Stop(hangups)
		close(hangups)
		<-done
	}
}

// reload reads the configuration again. The log says what changed, or why the
// configuration in effect stays.
func (e *env) reload(ctx context.Context, app *host.App) error {
	at, content, diags, err := e.locate(ctx, false)
	var changed *host.Reloaded
	if err == nil && !diags.HasErrors() {
		changed, diags, err = app.Reload(ctx, at, content)
	}
	if err == nil {
		err = diags.Err()
	}
	if err != nil || changed == nil {
		f := fault.As(err)
		e.log.Error("the configuration was not reloaded; the one before stays in effect", "error", err, "at", f.At, "hint", f.Hint)
		return err
	}
	e.log.Info("reloaded the configuration", "added", changed.Added, "changed", changed.Changed, "removed", changed.Removed)
	for _, name := range changed.Ignored {
		e.log.Warn("a changed setting takes effect after a restart only", "setting", name)
	}
	return nil
}

// isTrusted reports whether the configuration may be used as it is now.
func (e *env) isTrusted(ctx context.Context) bool {
	_, _, _, err := e.locate(ctx, false)
	return err == nil
}

// watchConfig reloads the configuration when its content has changed, until stop is
// called.
func (e *env) watchConfig(ctx context.Context, app *host.App) (stop func(), err error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	dir := filepath.Dir(app.Config().Path)
	if info, err := os.Stat(app.Config().Path); err == nil && info.IsDir() {
		dir = app.Config().Path
	}
	if err := w.Add(dir); err != nil {
		e.log.Warn("changes of the configuration are noticed by polling only", "every", watchPoll, "error", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	known, untrusted := e.contentDigest(app), false
	var work sync.WaitGroup
	work.Go(func() {
		poll, debounce := time.NewTicker(watchPoll), time.NewTimer(time.Hour)
		defer poll.Stop()
		defer debounce.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-w.Events:
				debounce.Reset(watchDebounce)
				continue
			case err := <-w.Errors:
				e.log.Debug("watching the configuration", "error", err)
				continue
			case <-debounce.C:
			case <-poll.C:
			}
			now := e.contentDigest(app)
			if now == known && !(untrusted && e.isTrusted(ctx)) {
				continue
			}
			known = now
			untrusted = fault.Is(e.reload(ctx, app), fault.ConfigUntrusted)
		}
	})
	return func() {
		cancel()
		_ = w.Close()
		work.Wait()
	}, nil
}

// watch is watchConfig if on is set.
func (e *env) watch(ctx context.Context, app *host.App, on bool) (stop func(), err error) {
	if !on {
		return func() {}, nil
	}
	return e.watchConfig(ctx, app)
}

// contentDigest returns a text that changes with the content of the configuration.
func (e *env) contentDigest(app *host.App) string {
	content, diags := config.ReadContent(app.Config().Path, e.lookup)
	if content == nil {
		return "invalid: " + diags.Err().Error()
	}
	return content.Digest()
}
