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
// disk failed a client may have seen events that are not in the file. Their
// positions must not be given to other events.
const restartGap = 1 << 20

// openDisk opens the file, lists its sessions and starts the writer.
func (s *Store) openDisk() error {
	f, aside, err := openFile(s.o.Path)
	if err != nil {
		return err
	}
	if aside != "" {
		s.o.Log.Error("the session store is not usable: its file was moved aside, and all sessions in it are lost", "file", s.o.Path, "aside", aside)
	}
	s.disk = &disk{
		store: s, path: s.o.Path, log: s.o.Log, file: f,
		work: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{}), token: make(chan struct{}, 1),
	}
	s.disk.token <- struct{}{}
	if err := s.list(f); err != nil && !isCorrupt(err) {
		_ = f.close() // nothing was written
		return fmt.Errorf("reading the session store %s: %w", s.o.Path, err)
	} else if err != nil {
		s.disk.broken.Store(true)
		s.disk.wake() // the writer replaces the file
	}
	go s.disk.run()
	return nil
}

// list adds a slot for each session in the file, most recently used first. It
// discards expired sessions and those above the limit.
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
		sl.born, sl.used = localTime(now, born), localTime(now, used+s.slack().Milliseconds())
		s.disk.row = max(s.disk.row, sl.row)
		if s.due(now, sl.born, sl.used) != "" || !s.o.Quota.Count(s.o.Owner(sl.owner), 1) {
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

// localTime converts a time of the file to this process's clock, and never returns
// a time in the future.
func localTime(now time.Time, milliseconds int64) time.Time {
	return now.Add(-max(0, now.Sub(time.UnixMilli(milliseconds))))
}

// restore loads a session from the file and publishes it. The caller has set
// slot.loading.
func (s *Store) restore(id string, sl *slot) (*Session, error) {
	x := &Session{ID: id, Owner: sl.owner, store: s, done: make(chan struct{}), born: sl.born, used: sl.used}
	x.disk = &diskState{disk: s.disk, session: x, row: sl.row, mayHaveRows: true, written: true}
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
	lost := isCorrupt(err)
	if lost && s.slots[id] == sl {
		s.drop(id)
	}
	s.mu.Unlock()
	x.log.close(true)
	if lost {
		s.o.Log.Error("a session is lost, because the session store is damaged", "file", s.o.Path, "error", err)
		s.disk.broken.Store(true)
		s.disk.discard(sl.row)
		return nil, ErrUnknown
	}
	if err == ErrUnknown {
		return nil, err
	}
	return nil, fmt.Errorf("reading the session store %s: %w", s.o.Path, err)
}

// read reads the session, which is not published yet.
func (s *Session) read(f *file) error {
	l := s.log
	l.mu.Lock()
	defer l.mu.Unlock()
	err := f.conn.QueryRowContext(context.Background(), `SELECT state, head, last, floor FROM sessions WHERE no = ?`, s.disk.row).
		Scan(&s.state, &l.head, &l.last, &l.floor)
	if errors.Is(err, sql.ErrNoRows) {
		return ErrUnknown
	}
	if err != nil {
		return err
	}
	ended, err := s.readStreams(f)
	if err != nil {
		return err
	}
	l.visible, s.disk.committed = l.head, l.head
	if err := s.readEvents(f); err != nil {
		return err
	}
	for _, number := range ended {
		if st := l.streams[number]; st != nil && !st.ended {
			st.ended = true
			l.empty = append(l.empty, number) // its last event was dropped
		}
	}
	for _, st := range l.streams {
		st.last = max(st.last, st.dropped)
		st.head = st.last
	}
	slices.Sort(l.empty)
	l.gap = span{l.head, l.head + restartGap + 1}
	l.head += restartGap
	l.visible, s.disk.committed = l.head, l.head
	return nil
}

// readStreams reads the streams and returns the numbers of the ended ones. They
// are marked as ended after their events were read.
func (s *Session) readStreams(f *file) (done []uint32, err error) {
	rows, err := f.conn.QueryContext(context.Background(), `SELECT stream, request, ended, dropped, missed FROM streams WHERE session = ?`, s.disk.row)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var number uint32
		var ended bool
		st := &stream{}
		if err := rows.Scan(&number, &st.request, &ended, &st.dropped, &st.missed); err != nil {
			return nil, err
		}
		s.log.streams[number] = st
		if ended {
			done = append(done, number)
		}
	}
	return done, rows.Err()
}

// readEvents reads the events. The log drops those above its bounds.
func (s *Session) readEvents(f *file) error {
	rows, err := f.conn.QueryContext(context.Background(), `SELECT seq, stream, last, data FROM events WHERE session = ? ORDER BY seq`, s.disk.row)
	if err != nil {
		return err
	}
	defer rows.Close()
	l := s.log
	for rows.Next() {
		var e entry
		var data []byte
		if err := rows.Scan(&e.Seq, &e.stream, &e.Last, &data); err != nil {
			return err
		}
		e.Data = [][]byte{data}
		st := l.streams[e.stream]
		if st == nil {
			continue // the stream was removed, and the row would be pruned next
		}
		st.last, st.ended = e.Seq, st.ended || e.Last
		st.kept++
		l.kept.push(e)
		l.trim()
	}
	return rows.Err()
}

// dropUnloaded removes the sessions that were only in a file that is gone.
func (s *Store) dropUnloaded() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, slot := range s.slots {
		if slot.session == nil && slot.loading == nil {
			s.drop(id)
		}
	}
}

// reset records that the file has no rows of the session.
func (d *diskState) reset() {
	l := d.session.log
	l.mu.Lock()
	d.written = false
	d.committed, d.pending = 0, l.kept.bytes
	d.prunable, d.prunableSize, d.forgotten = 0, 0, nil
	for number, s := range l.streams {
		if number != Common || s.dropped > 0 {
			d.markUnsaved(number, s)
		}
	}
	d.bypass(l)
	l.mu.Unlock()
	d.enqueue()
}
