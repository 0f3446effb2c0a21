package session

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
	}
	s.expireAsleep(now)
}
