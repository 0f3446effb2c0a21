package main

import (
	"context"
	"strings"
	"sync"
	"time"
)

// aloneTime is how long a list waits for the other requests to end, and they for it.
const aloneTime = 3 * time.Second

// overlaps records which requests are open at the same time. Some servers without sessions
// process one request at a time, and answer others with status 500. A list that failed
// like that is sent again when no other request is open. Listen requests do not count.
// The goroutine of each call calls begin, and end after it.
type overlaps struct {
	mu    sync.Mutex
	open  int           // guarded by mu; requests sent whose response has not ended
	begun uint64        // guarded by mu; requests sent so far
	alone *call         // guarded by mu; no other request is sent beside it
	news  chan struct{} // guarded by mu; closed when the waiting requests may look again
}

// begin records that the request is sent. It first waits for the other requests if k is to be
// sent alone, and otherwise for one that is. It waits for a limited time.
func (o *overlaps) begin(k *call) {
	var late context.Context
	for {
		o.mu.Lock()
		blocked := o.alone != nil || k.alone && o.open > 0
		if !blocked || late != nil && late.Err() != nil {
			k.beside = o.open > 0
			o.open++
			o.begun++
			k.number = o.begun
			if k.alone {
				o.alone = k
			}
			o.mu.Unlock()
			return
		}
		if o.news == nil {
			o.news = make(chan struct{})
		}
		news := o.news
		o.mu.Unlock()
		if late == nil {
			var end context.CancelFunc
			late, end = context.WithTimeout(k.ctx, aloneTime)
			defer end()
		}
		select {
		case <-news:
		case <-late.Done():
		}
	}
}

// end records that the response of the request has ended.
func (o *overlaps) end(k *call) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.open--
	was := o.alone == k
	if was {
		o.alone = nil
	}
	if o.news != nil && (was || o.open == 0) {
		close(o.news)
		o.news = nil
	}
}

// disturbed reports whether the request is a list and other requests were open at the same
// time.
func (o *overlaps) disturbed(k *call) bool {
	if k.alone || !strings.HasSuffix(k.Method, "/list") {
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return k.beside || o.begun > k.number
}
