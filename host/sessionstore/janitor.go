package sessionstore

import "time"

// janitor ends the sessions whose time has come, a little late at most, and
// makes all smaller when they are too large together.
func (s *Store) janitor() {
	defer close(s.done)
	tick := time.NewTicker(min(30*time.Second, max(10*time.Millisecond, min(s.o.Idle, s.o.Life)/10)))
	defer tick.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-tick.C:
			s.expire()
			if n := s.limits.lost.Swap(0); n > 0 {
				s.o.Log.Warn("large messages were dropped before their clients had read them: all sessions together had too much to keep", "messages", n, "bytes", s.limits.most)
			}
		case <-s.limits.squeeze:
			for _, x := range s.awake() {
				x.log.squeeze()
			}
		}
	}
}

// expire ends every session whose time has come.
func (s *Store) expire() {
	now := time.Now()
	for _, x := range s.awake() {
		x.expire(now)
		x.disk.refresh(now)
	}
	s.expireAsleep(now)
}

// expireAsleep ends the sessions in the file that nobody asked for in time.
func (s *Store) expireAsleep(now time.Time) {
	s.mu.Lock()
	var rows []int64
	for id, slot := range s.slots {
		if slot.session == nil && slot.woken == nil && s.due(now, slot.born, slot.used) != "" {
			delete(s.slots, id)
			rows = append(rows, slot.row)
		}
	}
	s.mu.Unlock()
	if len(rows) > 0 {
		s.disk.discard(rows...)
	}
}

// due is the reason for which a session that is not held must end, if there is
// one.
func (s *Store) due(now, born, used time.Time) string {
	switch {
	case now.Sub(born) >= s.o.Life:
		return ReasonMaxAge
	case now.Sub(used) >= s.o.Idle:
		return ReasonExpired
	}
	return ""
}

// slack is how much older the file's notion of the last use of a session may
// be than the truth.
func (s *Store) slack() time.Duration { return s.o.Idle / 4 }
