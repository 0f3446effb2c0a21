package feed

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func lengthOf(s string) int { return len(s) }

// rest returns what a reader gets without waiting, and how many entries it missed.
func rest(r *Reader[string]) (all []string, missed uint64) {
	for {
		item, ok := r.Next()
		if !ok {
			return all, missed
		}
		all, missed = append(all, item.Value), missed+item.Missed
	}
}

// TestFeedKeepsNewestEntries fills a feed beyond each of its limits.
func TestFeedKeepsNewestEntries(t *testing.T) {
	for name, c := range map[string]struct {
		add  []string
		want string
	}{
		"empty":                  {nil, "[]"},
		"within the limits":      {[]string{"a", "b", "c"}, "[a b c]"},
		"too many entries":       {[]string{"a", "b", "c", "d"}, "[b c d]"},
		"too many bytes":         {[]string{"aaaaaaaa", "bbbb"}, "[bbbb]"},
		"several make room":      {[]string{"a", "b", "cccccccccc"}, "[cccccccccc]"},
		"one above the limit":    {[]string{"a", "bbbbbbbbbbbbbbbbb"}, "[bbbbbbbbbbbbbbbbb]"},
		"next after a large one": {[]string{"bbbbbbbbbbbbbbbbb", "c"}, "[c]"},
	} {
		f := New(3, 10, lengthOf)
		for _, v := range c.add {
			f.Add(v)
		}
		if got, missed := rest(f.Read()); fmt.Sprint(got) != c.want || missed != 0 {
			t.Errorf("%s: %v, %d missed, want %s", name, got, missed, c.want)
		}
	}
}

// TestSlowReaderLearnsWhatItMissed adds more than the feed keeps while a reader pauses.
func TestSlowReaderLearnsWhatItMissed(t *testing.T) {
	f := New(3, 100, lengthOf)
	f.Add("1")
	slow := f.Read()
	if item, ok := slow.Next(); !ok || item.Value != "1" || item.Number != 1 {
		t.Fatalf("%+v", item)
	}
	for n := 2; n <= 10; n++ {
		f.Add(fmt.Sprint(n))
	}
	item, ok := slow.Next()
	if !ok || item.Value != "8" || item.Number != 8 || item.Missed != 6 {
		t.Errorf("%+v, %v", item, ok)
	}
	if all, missed := rest(slow); fmt.Sprint(all) != "[9 10]" || missed != 0 {
		t.Errorf("%v, %d missed", all, missed)
	}
}

// TestWaitEnds: a reader waits for an entry, and no longer than its context.
func TestWaitEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := New(3, 100, lengthOf)
		ctx, cancel := context.WithCancel(t.Context())
		var work sync.WaitGroup
		for range 3 {
			work.Go(func() {
				r := f.Read()
				if item, err := r.Wait(ctx); err != nil || item.Value != "x" {
					t.Errorf("%+v, %v", item, err)
				}
				if item, err := r.Wait(ctx); err == nil {
					t.Errorf("%+v after the end", item)
				}
			})
		}
		synctest.Wait()
		f.Add("x")
		synctest.Wait()
		cancel()
		work.Wait()
	})
}

// TestFeedIsWithinItsLimits: after any entries, the kept ones are the newest, within both
// limits, and entries that were read or missed add up.
func TestFeedIsWithinItsLimits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := New(rapid.IntRange(1, 8).Draw(t, "entries"), rapid.IntRange(1, 40).Draw(t, "bytes"), lengthOf)
		r := f.Read()
		added, seen := 0, uint64(0)
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "add") {
				f.Add(rapid.StringN(0, 20, 20).Draw(t, "entry"))
				added++
			} else if item, ok := r.Next(); ok {
				seen += item.Missed + 1
			}
			if kept := f.kept(); kept > f.maxEntries || kept > 1 && f.bytes > f.maxBytes {
				t.Fatalf("%d entries, %d bytes", kept, f.bytes)
			}
		}
		all, missed := rest(r)
		if seen += missed + uint64(len(all)); seen != uint64(added) {
			t.Fatalf("%d of %d entries", seen, added)
		}
	})
}

// TestReadersWhileAdding runs readers beside writers, for the race detector.
func TestReadersWhileAdding(t *testing.T) {
	f := New(10, 1000, lengthOf)
	const each = 1000
	var writers, readers sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for range 4 {
		r := f.Read()
		readers.Go(func() {
			for seen := uint64(0); seen < 2*each; {
				item, err := r.Wait(ctx)
				if err != nil {
					t.Error(err)
					return
				}
				seen += item.Missed + 1
			}
		})
	}
	for range 2 {
		writers.Go(func() {
			for n := range each {
				f.Add(fmt.Sprint(n))
			}
		})
	}
	writers.Wait()
	readers.Wait()
}
