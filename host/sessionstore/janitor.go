package sessionstore

import "time"

// janitor ends due sessions periodically, and shrinks all logs when they exceed
// their bounds together. It runs on a goroutine of its own from Open to Close.
func (s *Store) janitor() {
	defer close(s.done)
	tick := time.NewTicker(s.expiryInterval())
	defer tick.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-tick.C:
			s.expire()
			if n := s.limits.droppedUnread.Swap(0); n > 0 {
				s.o.Log.Warn("large messages were dropped before their clients read them: "+
					"the event logs of all sessions reached their limit",
					"messages", n, "bytes", s.limits.bounds.Load().maxBytes)
			}
		case <-s.relimits:
			tick.Reset(s.expiryInterval())
			for _, x := range s.loaded() {
				x.log.shrink()
			}
		case <-s.limits.shrink:
			for _, x := range s.loaded() {
				x.log.shrink()
			}
		}
	}
}

// expiryInterval returns the interval at which due sessions are ended.
func (s *Store) expiryInterval() time.Duration {
	l := s.current.Load()
	return min(30*time.Second, max(10*time.Millisecond, min(l.Idle, l.Life)/10))
}

// expire ends every session that is due.
func (s *Store) expire() {
	now := time.Now()
	for _, x := range s.loaded() {
		x.endIfDue(now)
		x.disk.refresh(now, s.slack())
	}
	s.expireUnloaded(now)
}

// expireUnloaded ends the due sessions that are only in the file.
func (s *Store) expireUnloaded(now time.Time) {
	s.mu.Lock()
	var gone []*diskState
	for id, slot := range s.slots {
		if slot.session == nil && slot.loading == nil && s.due(now, slot.born, slot.used) != "" {
			s.drop(id)
			gone = append(gone, s.disk.ended(slot.file))
		}
	}
	s.mu.Unlock()
	if len(gone) > 0 {
		s.disk.push(gone...)
	}
}
