package sessionstore

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/host/filelock"
)

// restartGap is how far positions jump when a session is restored. While the
// disk failed a client may have seen events that are not in the file. Their
// positions must not be given to other events.
const restartGap = 1 << 20

// lockTimeout is how long a store waits for the previous process, which may be
// about to exit.
const lockTimeout = time.Second

// openDisk locks the directory, lists its sessions and starts the writer. Open calls it, before
// the store is used.
func (s *Store) openDisk() error {
	path := s.o.Path
	unlock, err := lockDirectory(path)
	if err != nil {
		return err
	}
	s.removeSQLite()
	s.disk = &disk{
		store: s, path: path, log: s.o.Log, unlock: unlock, buffer: bufio.NewWriterSize(nil, 64<<10),
		open: func(path string, flag int) (writable, error) { return os.OpenFile(path, flag, 0o600) },
		work: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{}),
		token: make(chan struct{}, 1),
	}
	s.disk.token <- struct{}{}
	if err := s.list(); err != nil {
		unlock()
		return fmt.Errorf("reading the session store %s: %w", path, err)
	}
	go s.disk.run()
	return nil
}

// lockDirectory creates the directory if necessary, ensures that only this user can
// access it, and locks it.
func lockDirectory(path string) (unlock func(), err error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, err
	}
	if info, err := os.Lstat(path); err != nil || !info.IsDir() {
		return nil, errors.Join(err, fmt.Errorf("%s is not a directory", path))
	}
	if err := os.Chmod(path, 0o700); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), lockTimeout)
	defer cancel()
	if unlock, err = filelock.Lock(ctx, filepath.Join(path, "lock")); errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("another process uses the session store %s", path)
	}
	return unlock, err
}

// removeSQLite removes the SQLite file of an earlier version.
func (s *Store) removeSQLite() {
	path := s.o.Path + ".sqlite"
	if os.Remove(path) != nil {
		return // most often there is none
	}
	for _, end := range []string{"-wal", "-shm", "-journal"} {
		_ = removeFile(path + end)
	}
	s.o.Log.Info("the sessions of an earlier version were removed, and their clients begin again", "file", path)
}

// list adds a slot for each session in the directory, most recently used first.
// It removes the files of expired sessions and of those above the limit.
func (s *Store) list() error {
	entries, err := os.ReadDir(s.o.Path)
	if err != nil {
		return err
	}
	var all []*slot
	ids, now := map[*slot]string{}, time.Now()
	for _, e := range entries {
		path := filepath.Join(s.o.Path, e.Name())
		if strings.HasSuffix(path, partSuffix) {
			err = removeFile(path)
		}
		if err == nil && strings.HasSuffix(path, fileSuffix) {
			sl := &slot{file: e.Name()}
			if ids[sl], err = s.readSlot(path, now, sl); err == nil {
				all = append(all, sl)
			} else if errors.Is(err, errDamaged) {
				s.moveAside(path, err)
				err = nil
			} else if err == errTorn { // of a process that was killed: no client knows the session
				err = removeFile(path)
			}
		}
		if err != nil {
			return err
		}
	}
	slices.SortFunc(all, func(a, b *slot) int { return b.used.Compare(a.used) })
	for _, sl := range all {
		if s.due(now, sl.born, sl.used) != "" || !s.o.Quota.Count(s.o.Owner(sl.owner), 1) {
			s.disk.push(s.disk.ended(sl.file))
		} else {
			s.slots[ids[sl]] = sl
		}
	}
	return nil
}

// readSlot reads the record of the owner of a session's file, and its time.
func (s *Store) readSlot(path string, now time.Time, sl *slot) (id string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	for most := int64(4096); ; most *= 16 { // the owner's name may be long
		b, err := io.ReadAll(io.NewSectionReader(f, 0, most))
		if err != nil {
			return "", err
		}
		rec, _, err := firstRecord(b)
		if err == errTorn && most < info.Size() {
			continue
		}
		if err != nil {
			return "", err
		}
		born, n := int64(rec.numbers[0]), rec.numbers[1]
		sl.owner, sl.born = string(rec.bytes[n:]), localTime(now, time.UnixMilli(born))
		sl.used = localTime(now, info.ModTime().Add(s.slack()))
		return string(rec.bytes[:n]), nil
	}
}

// moveAside renames a session's file that cannot be used.
func (s *Store) moveAside(path string, why error) {
	aside := path + time.Now().UTC().Format(".aside-20060102T150405.000000000")
	if err := os.Rename(path, aside); err != nil {
		why, aside = fmt.Errorf("%w, and renaming its file failed: %v", why, err), path
	}
	s.o.Log.Error("a session is lost: its file is not usable and was moved aside",
		"file", path, "aside", aside, "error", why)
}

// localTime converts a time of a file to this process's clock, and never returns
// a time in the future.
func localTime(now, t time.Time) time.Time { return now.Add(-max(0, now.Sub(t))) }

// ended returns the state of an ended session that is only in a file.
func (d *disk) ended(name string) *diskState {
	x := d.newState(nil, name)
	x.deleted.Store(true)
	return x
}

// restore loads a session from its file and publishes it. The caller has set
// slot.loading. It reads a file on the goroutine of Find, without a lock.
func (s *Store) restore(id string, sl *slot) (*Session, error) {
	x := &Session{ID: id, Owner: sl.owner, store: s, done: make(chan struct{}), born: sl.born, used: sl.used}
	x.disk = s.disk.newState(x, sl.file)
	x.disk.mayHaveFile = true
	x.log = newLog(s.limits, x.disk)
	err := ErrUnknown
	if s.due(time.Now(), sl.born, sl.used) == "" {
		x.used = time.Now()
		err = s.disk.use(x.read)
	}
	if err == nil {
		return s.publish(x)
	}
	s.mu.Lock()
	close(sl.loading)
	sl.loading = nil
	lost := errors.Is(err, errDamaged) || errors.Is(err, fs.ErrNotExist)
	if lost && s.slots[id] == sl {
		s.drop(id)
	}
	s.mu.Unlock()
	x.log.close(true)
	if lost {
		s.moveAside(x.disk.path, err)
		return nil, ErrUnknown
	}
	if err == ErrUnknown {
		return nil, err
	}
	return nil, fmt.Errorf("reading the session store %s: %w", s.o.Path, err)
}

// read reads the session, which is not published yet. No client could read the
// events of a last record that is not whole.
func (s *Session) read() error {
	b, err := os.ReadFile(s.disk.path)
	if err != nil {
		return err
	}
	l := s.log
	l.mu.Lock()
	defer l.mu.Unlock()
	_, at, err := firstRecord(b)
	if err != nil {
		return errDamaged
	}
	for size := 0; err == nil && at < len(b); at += size {
		var rec record
		if rec, size, err = nextRecord(b[at:]); err == nil {
			s.apply(rec)
		}
	}
	if err != nil && err != errTorn {
		return err
	}
	s.disk.written, s.disk.size, s.disk.base = err == nil, int64(at), int64(at)
	l.settle()
	return nil
}

// apply adds a record to the log of a session that is being read. The caller holds the log's
// mu.
func (s *Session) apply(rec record) {
	l, n := s.log, rec.numbers
	switch rec.kind {
	case recordHeads:
		l.head, l.last, l.floor = n[0], uint32(n[1]), n[2]
	case recordState:
		s.state = bytes.Clone(rec.bytes)
	case recordStream:
		number := uint32(n[0])
		if l.streams[number] == nil {
			l.streams[number] = &stream{request: bytes.Clone(rec.bytes)}
		}
		st := l.streams[number]
		st.ended, st.dropped, st.missed = st.ended || n[1] == 1, n[2], n[3]
		l.last = max(l.last, number)
	case recordForget:
		if st := l.streams[uint32(n[0])]; st != nil {
			l.floor = max(l.floor, st.dropped)
			delete(l.streams, uint32(n[0]))
		}
	case recordEvent:
		e := entry{Event{Seq: n[0], Data: [][]byte{rec.bytes}, Last: n[2] == 1}, uint32(n[1])}
		l.head = max(l.head, e.Seq)
		if st := l.streams[e.stream]; st != nil {
			st.last, st.ended = e.Seq, st.ended || e.Last
			l.kept.push(e)
		}
	}
}

// settle removes the events that the log had dropped, and those above its bounds.
// The caller holds the log's mu.
func (l *Log) settle() {
	all := l.kept
	l.kept = ring{}
	for i := range all.n {
		if e := all.at(i); l.streams[e.stream] != nil && e.Seq > l.streams[e.stream].dropped {
			l.streams[e.stream].kept++
			e.Data = [][]byte{bytes.Clone(e.Data[0])} // frees the rest of the file
			l.kept.push(*e)
		}
	}
	for number, st := range l.streams {
		st.last = max(st.last, st.dropped)
		st.head = st.last
		if st.ended && st.kept == 0 {
			l.empty = append(l.empty, number) // its last event was dropped
		}
	}
	slices.Sort(l.empty)
	l.gap = span{l.head, l.head + restartGap + 1}
	l.head += restartGap
	l.visible, l.disk.committed = l.head, l.head
	l.trim()
}
