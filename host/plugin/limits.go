package plugin

import "time"

// limits are how long a supervisor waits for what, and how often it tries.
type limits struct {
	start    time.Duration // from the first byte to a plugin that can be asked
	describe time.Duration // for a program to describe itself
	last     time.Duration // for the last words of a process that ended
	exit     time.Duration // for a process to end once its lifeline was cut, or a connection broke
	hangUp   time.Duration // for a plugin to end the stream of a connection that was closed

	healthEvery time.Duration
	healthTime  time.Duration // for one answer
	misses      int           // in a row, before the process is ended

	idle time.Duration // without connections, before the process is stopped

	backoffFirst time.Duration
	backoffMost  time.Duration
	calm         time.Duration // of running, before the backoff begins anew
	crashes      int           // within that many ...
	within       time.Duration // ... the plugin is left alone

	groups    int           // of servers that are isolated; each has a process
	trial     time.Duration // without a crash, before a server may return to the shared process
	trialMost time.Duration // trial doubles up to this
}

// oneShotHangUp is hangUp of a host that ends when it has an answer.
const oneShotHangUp = 300 * time.Millisecond

var defaults = limits{
	start: 10 * time.Second, describe: 5 * time.Second,
	last: 100 * time.Millisecond, exit: 500 * time.Millisecond, hangUp: 3 * time.Second,
	healthEvery: 5 * time.Second, healthTime: 2 * time.Second, misses: 3,
	idle:         10 * time.Minute,
	backoffFirst: 100 * time.Millisecond, backoffMost: 30 * time.Second, calm: 60 * time.Second,
	crashes: 5, within: 10 * time.Minute,
	groups: 16, trial: 10 * time.Minute, trialMost: 24 * time.Hour,
}
