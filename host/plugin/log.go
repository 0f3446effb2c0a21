package plugin

import (
	"os"
	"path/filepath"
	"sync"

	"github.com/hashicorp/go-hclog"
)

// maxLog is the size at which a plugin's log file is rotated, in bytes. One previous
// file is kept.
const maxLog = 1 << 20

// LogFile returns the path of a plugin's log file.
func LogFile(dir, name string) string { return filepath.Join(dir, "plugin-"+name+".log") }

// logs holds the open log files of a supervisor. A Supervisor has one and closes it. It may be
// used concurrently.
type logs struct {
	mu    sync.Mutex
	files map[string]*logFile // guarded by mu; by plugin
}

func (l *logs) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.files {
		f.close()
	}
}

// pluginLog returns the logger that writes a plugin's log file as JSON.
func (s *Supervisor) pluginLog(name string) hclog.Logger {
	if s.opts.LogDir == "" {
		return hclog.NewNullLogger()
	}
	s.logs.mu.Lock()
	defer s.logs.mu.Unlock()
	f := s.logs.files[name]
	if f == nil {
		f = &logFile{path: LogFile(s.opts.LogDir, name)}
		if s.logs.files == nil {
			s.logs.files = map[string]*logFile{}
		}
		s.logs.files[name] = f
	}
	return hclog.New(&hclog.LoggerOptions{Name: "plugin." + name, Level: hclog.Debug, Output: f, JSONFormat: true})
}

// A logFile is opened at the first write. Several hosts may append to the same file,
// because each line is a single write. Its methods may be called concurrently.
type logFile struct {
	path string

	mu   sync.Mutex
	file *os.File // guarded by mu
	size int64    // guarded by mu
	dead bool     // guarded by mu; the file is closed or unusable
}

func (f *logFile) Write(line []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file != nil && f.size > maxLog {
		_ = f.file.Close()
		_ = os.Rename(f.path, f.path+".1")
		f.file, f.size = nil, 0
	}
	if f.file == nil && !f.dead {
		f.open()
	}
	if f.dead {
		return len(line), nil // log failures are ignored
	}
	n, err := f.file.Write(line)
	f.size += int64(n)
	return n, err
}

// open opens the file. The caller holds mu.
func (f *logFile) open() {
	if os.MkdirAll(filepath.Dir(f.path), 0o700) == nil {
		if file, err := os.OpenFile(f.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
			f.file = file
			if info, err := file.Stat(); err == nil {
				f.size = info.Size()
			}
			return
		}
	}
	f.dead = true
}

func (f *logFile) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file != nil {
		_ = f.file.Close()
	}
	f.file, f.dead = nil, true
}
