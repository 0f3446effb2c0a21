package serve

import (
	"context"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/fault"
)

const (
	// watchDebounce is the wait after the latest change of files. Editors write a file in
	// several steps.
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
func (s *ownProcess) reloadOnHangup(ctx context.Context, hangups chan os.Signal) (stop func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range hangups {
			_, _, _ = s.reload(ctx, "the signal SIGHUP") // the log has the error
		}
	}()
	return func() {
		signal.Stop(hangups)
		close(hangups)
		<-done
	}
}

// A configWatch reloads the configuration when its content changes.
type configWatch struct {
	*ownProcess
	files     *fsnotify.Watcher
	known     string // ContentDigest of the content that was tried last
	untrusted bool   // that content was not trusted
}

// watchConfig reloads the configuration when its content differs from the content that was
// tried last, until stop is called.
func (s *ownProcess) watchConfig(ctx context.Context) (stop func(), err error) {
	files, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	for _, dir := range watchedDirs(s.app.Config()) {
		if err := files.Add(dir); err != nil {
			s.inv.Log.Warn("changes of the configuration are noticed by polling only",
				"directory", dir, "every", watchPoll, "error", err)
		}
	}
	w := &configWatch{ownProcess: s, files: files, known: s.read}
	ctx, cancel := context.WithCancel(ctx)
	var work sync.WaitGroup
	work.Go(func() { w.run(ctx) })
	return func() {
		cancel()
		_ = files.Close()
		work.Wait()
	}, nil
}

// run compares the content after events and at intervals, until ctx ends.
func (w *configWatch) run(ctx context.Context) {
	// The first comparison is for changes since the configuration was loaded.
	poll, debounce := time.NewTicker(watchPoll), time.NewTimer(watchDebounce)
	defer poll.Stop()
	defer debounce.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.files.Events:
			debounce.Reset(watchDebounce)
		case err := <-w.files.Errors:
			w.inv.Log.Debug("watching the configuration", "error", err)
		case <-debounce.C:
			w.check(ctx)
		case <-poll.C:
			w.check(ctx)
		}
	}
}

// check reloads the configuration if its content differs from the content that was tried
// last, or if that content has become trusted.
func (w *configWatch) check(ctx context.Context) {
	now := w.inv.ContentDigest(w.app.Location())
	if now == w.known && !(w.untrusted && w.isTrusted(ctx)) {
		return
	}
	w.known = now
	_, _, err := w.reload(ctx, "serve --watch")
	w.untrusted = fault.Is(err, fault.ConfigUntrusted)
}

// isTrusted reports whether the configuration may be used as it is now.
func (w *configWatch) isTrusted(ctx context.Context) bool {
	_, _, err := w.trusted(ctx)
	return err == nil
}

// watch is watchConfig if on is set.
func (s *ownProcess) watch(ctx context.Context, on bool) (stop func(), err error) {
	if !on {
		return func() {}, nil
	}
	return s.watchConfig(ctx)
}

// watchedDirs returns the directories of the files of a configuration, with those of its
// layers and modules.
func watchedDirs(c *config.Config) []string {
	dirs := map[string]bool{}
	for _, path := range slices.Concat(c.Files, c.Under, []string{c.Path}) {
		dir := filepath.Dir(path)
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			dir = path
		}
		dirs[dir] = true
	}
	return slices.Sorted(maps.Keys(dirs))
}
