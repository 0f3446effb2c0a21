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

// catchHangup returns a channel that holds a SIGHUP until reloadOnHangup takes it. From
// now on the signal does not end the process.
func catchHangup() chan os.Signal {
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	return hangups
}

// reloadOnHangup reloads the configuration for each signal until stop is called.
func (s *serving) reloadOnHangup(ctx context.Context, hangups chan os.Signal) (stop func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range hangups {
			_, _, _ = s.reload(ctx) // the log has the error
		}
	}()
	return func() {
		signal.Stop(hangups)
		close(hangups)
		<-done
	}
}

// isTrusted reports whether the configuration may be used as it is now.
func (s *serving) isTrusted(ctx context.Context) bool {
	_, _, _, err := s.e.locate(ctx, false)
	return err == nil
}

// watchConfig reloads the configuration when its content differs from the one that was
// loaded, until stop is called.
func (s *serving) watchConfig(ctx context.Context) (stop func(), err error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	dir := filepath.Dir(s.app.Config().Path)
	if info, err := os.Stat(s.app.Config().Path); err == nil && info.IsDir() {
		dir = s.app.Config().Path
	}
	if err := w.Add(dir); err != nil {
		s.e.log.Warn("changes of the configuration are noticed by polling only", "every", watchPoll, "error", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	known, untrusted := s.e.loaded, false
	var work sync.WaitGroup
	work.Go(func() {
		// The first comparison is for changes since the configuration was loaded.
		poll, debounce := time.NewTicker(watchPoll), time.NewTimer(watchDebounce)
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
				s.e.log.Debug("watching the configuration", "error", err)
				continue
			case <-debounce.C:
			case <-poll.C:
			}
			now := s.e.contentDigest(s.app.Config().Path)
			if now == known && !(untrusted && s.isTrusted(ctx)) {
				continue
			}
			known = now
			_, _, err := s.reload(ctx)
			untrusted = fault.Is(err, fault.ConfigUntrusted)
		}
	})
	return func() {
		cancel()
		_ = w.Close()
		work.Wait()
	}, nil
}

// watch is watchConfig if on is set.
func (s *serving) watch(ctx context.Context, on bool) (stop func(), err error) {
	if !on {
		return func() {}, nil
	}
	return s.watchConfig(ctx)
}

// contentDigest returns a text that changes with the content of the configuration at a
// path.
func (e *env) contentDigest(path string) string {
	content, diags := config.ReadContent(path, e.lookup)
	if content == nil {
		return "invalid: " + diags.Err().Error()
	}
	return content.Digest()
}
