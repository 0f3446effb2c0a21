// Package bubble lets time pass in the synctest bubbles of tests, where it passes at once.
package bubble

import "time"

// realTime is before every test that runs outside of a bubble, and after those in one: the clock
// of a bubble starts at the beginning of the year 2000.
var realTime = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)

// Sleep pauses the goroutine for a time of its bubble. It panics outside of a bubble, where a
// test should wait for what it expects, and not for a time.
func Sleep(d time.Duration) {
	if time.Now().After(realTime) {
		panic("bubble.Sleep is called outside of a synctest bubble")
	}
	time.Sleep(d)
}
