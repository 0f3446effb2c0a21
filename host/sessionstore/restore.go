package sessionstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"
)

// restartGap is how far positions jump when a session is restored. While the
// disk failed a client may have seen events that are not in the file; the
// positions of those must not become those of other events.
const restartGap = 1 << 20

// openDisk opens the file and finds the sessions in it.
func (s *Store) openDisk() error {
	f, aside, err := openFile(s.o.Path)
	if err != nil {
		return err
	}
	if aside != "" {
		s.o.Log.Error("the session store cannot be used and was put aside; it starts empty", "file", s.o.Path, "aside", aside)
	}
	s.disk = &disk{
		store: s, path: s.o.Path, log: s.o.Log, file: f,
		work: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{}), token: make(chan struct{}, 1),
	}
	s.disk.token <- struct{}{}
	if err := s.list(f); err != nil && !damaged(err) {
		_ = f.close() // it was only read
		return fmt.Errorf("reading the session store %s: %w", s.o.Path, err)
	} else if err != nil {
		s.disk.broken.Store(true)
		s.disk.wake() // the writer replaces it
	}
	go s.disk.run()
	return nil
}

// list finds the sessions in the file, those that were used last first, and
// what is to be deleted: what has expired, and what there is no room for.
func (s *Store) list(f *file) error {
	rows, err := f.conn.QueryContext(context.Background(), `SELECT no, id, owner, born, used FROM sessions ORDER BY used DESC`)
	if err != nil {
		return err
	}
	defer rows.Close()
	now := time.Now()
	for rows.Next() {
		var id string
		var born, used int64
		sl := &slot{}
		if err := rows.Scan(&sl.row, &id, &sl.owner, &born, &used); err != nil {
			return err
		}
		sl.born, sl.used = since(now, born), since(now, used+s.slack().Milliseconds())
		s.disk.row = max(s.disk.row, sl.row)
		if len(s.slots) >= s.o.Max || s.due(now, sl.born, sl.used) != "" {
			s.disk.discard(sl.row)
		} else {
			s.slots[id] = sl
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return s.disk.listGarbage(f)
}

func (d *disk) listGarbage(f *file) error {
	rows, err := f.conn.QueryContext(context.Background(), `SELECT session FROM garbage`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var row int64
		if err := rows.Scan(&row); err != nil {
			return err
		}
		d.garbage = append(d.garbage, row)
		d.row = max(d.row, row)
	}
	return rows.Err()
}

// since is a time of the file on this process's clock, and not in the future.
func since(now time.Time, milliseconds int64) time.Time {
	return now.Add(-max(0, now.Sub(time.UnixMilli(milliseconds))))
}

// restore makes a session of what is in the file. Nobody else does that with
// the same one.
func (s *Store) restore(id string, sl *slot) (*Session, error) {
	x := &Session{ID: id, Owner: sl.owner, store: s, done: make(chan struct{}), born: sl.born, used: sl.used}
	x.disk = &follower{disk: s.disk, x: x, row: sl.row, taken: true, written: true}
	x.log = newLog(s.limits, x.disk)
	err := ErrUnknown
	if s.due(time.Now(), sl.born, sl.used) == "" {
		x.used = time.Now()
		err = s.disk.use(x.read)
	}
	if err == nil {
		return s.wake(x)
	}
	s.mu.Lock()
	close(sl.woken)
	sl.woken = nil
	lost := damaged(err)
	if lost && s.slots[id] == sl {
		delete(s.slots, id)
	}
	s.mu.Unlock()
	x.log.close(true)
	if lost {
		s.o.Log.Error("a session is lost: the session store is damaged", "file", s.o.Path, "error", err)
		s.disk.broken.Store(true)
		s.disk.discard(sl.row)
		return nil, ErrUnknown
	}
	if err == ErrUnknown {
		return nil, err
	}
	return nil, fmt.Errorf("reading the session store %s: %w", s.o.Path, err)
}

// read reads the session, which nobody else has yet.
func (x *Session) read(f *file) error {
	l := x.log
	l.mu.Lock()
	defer l.mu.Unlock()
	err := f.conn.QueryRowContext(context.Background(), `SELECT state, head, last, floor FROM sessions WHERE no = ?`, x.disk.row).
		Scan(&x.state, &l.head, &l.last, &l.floor)
	if errors.Is(err, sql.ErrNoRows) {
		return ErrUnknown
	}
	if err != nil {
		return err
	}
	ended, err := x.readStreams(f)
	if err != nil {
		return err
	}
	l.visible, x.disk.committed = l.head, l.head
	if err := x.readEvents(f); err != nil {
		return err
	}
	for _, number := range ended {
		if s := l.streams[number]; s != nil && !s.ended {
			s.ended = true
			l.gone = append(l.gone, number) // its last event was dropped before
		}
	}
	for _, s := range l.streams {
		s.last = max(s.last, s.dropped)
		s.head = s.last
	}
	slices.Sort(l.gone)
	l.hole = span{l.head, l.head + restartGap + 1}
	l.head += restartGap
	l.visible, x.disk.committed = l.head, l.head
	return nil
}

// readStreams reads the streams, and says which have ended: they count as that
// when their events have been read.
func (x *Session) readStreams(f *file) (done []uint32, err error) {
	rows, err := f.conn.QueryContext(context.Background(), `SELECT stream, request, ended, dropped, missed FROM streams WHERE session = ?`, x.disk.row)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var number uint32
		var ended bool
		s := &stream{}
		if err := rows.Scan(&number, &s.request, &ended, &s.dropped, &s.missed); err != nil {
			return nil, err
		}
		x.log.streams[number] = s
		if ended {
			done = append(done, number)
		}
	}
	return done, rows.Err()
}

// readEvents reads the events. What is more than may be kept is dropped as if
// it had just been sent.
func (x *Session) readEvents(f *file) error {
	rows, err := f.conn.QueryContext(context.Background(), `SELECT seq, stream, last, data FROM events WHERE session = ? ORDER BY seq`, x.disk.row)
	if err != nil {
		return err
	}
	defer rows.Close()
	l := x.log
	for rows.Next() {
		var e entry
		var data []byte
		if err := rows.Scan(&e.Seq, &e.stream, &e.Last, &data); err != nil {
			return err
		}
		e.Data = [][]byte{data}
		s := l.streams[e.stream]
		if s == nil {
			continue // forgotten: the row would be pruned next
		}
		s.last, s.ended = e.Seq, s.ended || e.Last
		s.kept++
		l.kept.push(e)
		l.trim()
	}
	return rows.Err()
}

// dropAsleep forgets the sessions of a file that is no longer there.
func (s *Store) dropAsleep() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, slot := range s.slots {
		if slot.session == nil && slot.woken == nil {
			delete(s.slots, id)
		}
	}
}

// reset takes note that the file has nothing of the session.
func (f *follower) reset() {
	l := f.x.log
	l.mu.Lock()
	f.written = false
	f.committed, f.pending = 0, l.kept.bytes
	f.prunable, f.prunableSize, f.forgotten = 0, 0, nil
	for number, s := range l.streams {
		if number != Common || s.dropped > 0 {
			f.mark(number, s)
		}
	}
	f.lapse(l)
	l.mu.Unlock()
	f.touch()
}
