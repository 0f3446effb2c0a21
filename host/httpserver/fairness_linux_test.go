package httpserver

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// fairRate is the limit of one address in requests a second.
const fairRate = 500

// dialFrom dials from another address of this machine.
func dialFrom(ctx context.Context, address, at string) (net.Conn, error) {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}, Timeout: testTimeout}
	return d.DialContext(ctx, "tcp", at)
}

// callAtRate calls do perSecond times a second until ctx ends, on as many
// goroutines as it needs.
func callAtRate(ctx context.Context, perSecond, workers int, begin func() (do func() bool, end func())) {
	var next atomic.Int64
	begun := time.Now()
	var work sync.WaitGroup
	defer work.Wait()
	for range workers {
		work.Go(func() {
			do, end := begin()
			defer end()
			for ctx.Err() == nil {
				due := begun.Add(time.Duration(next.Add(1)) * time.Second / time.Duration(perSecond))
				time.Sleep(time.Until(due))
				if !do() {
					return
				}
			}
		})
	}
}

// floodFrom sends perSecond requests a second from one address. It returns how
// many were refused and how many were answered.
func floodFrom(ctx context.Context, t *testing.T, perSecond int, at string) (refused, taken int64) {
	var counts [2]atomic.Int64
	m, header := modernCall(1, "a__echo", `{}`)
	request := rawRequest(at, m, header...)
	callAtRate(ctx, perSecond, 8, func() (func() bool, func()) {
		conn, err := dialFrom(ctx, "127.0.0.2", at)
		if err != nil {
			t.Error(err)
			return func() bool { return false }, func() {}
		}
		stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
		in := bufio.NewReader(conn)
		return func() bool {
			if _, err := io.WriteString(conn, request); err != nil {
				return false
			}
			resp, err := http.ReadResponse(in, nil)
			if err != nil {
				return false
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			if resp.StatusCode == http.StatusTooManyRequests {
				counts[0].Add(1)
			} else {
				counts[1].Add(1)
			}
			return true
		}, func() { stop(); _ = conn.Close() }
	})
	return counts[0].Load(), counts[1].Load()
}

// p99 calls at half the allowed rate for a while and returns the 99th
// percentile of the latency. Every call must succeed.
func p99(t *testing.T, s *httpProcess, d time.Duration) time.Duration {
	t.Helper()
	v := newTestClient(t, "http://"+s.address+"/mcp", &http.Transport{MaxIdleConnsPerHost: 100, DialContext: func(ctx context.Context, _, at string) (net.Conn, error) {
		return dialFrom(ctx, "127.0.0.3", at)
	}})
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	var mu sync.Mutex
	var took []time.Duration
	callAtRate(ctx, fairRate/2, 4, func() (func() bool, func()) {
		return func() bool {
			m, header := modernCall(1, "a__echo", `{}`)
			begun := time.Now()
			status, text, _, err := v.post(m, header...)
			if err != nil || status != http.StatusOK || !strings.Contains(text, `"result"`) {
				t.Errorf("%d, %v: %s", status, err, text)
				return false
			}
			mu.Lock()
			defer mu.Unlock()
			took = append(took, time.Since(begun))
			return true
		}, func() {}
	})
	if len(took) == 0 {
		t.Fatal("no call was made")
	}
	slices.Sort(took)
	return took[len(took)*99/100]
}

// TestFloodCostsOthersNoMoreThanA429 measures the latency of a client beside
// another one at ten times the allowed rate. The reference is a bare handler
// that answers nine tenths of that with 429.
func TestFloodCostsOthersNoMoreThanA429(t *testing.T) {
	d := time.Second
	if soak() {
		d = 15 * time.Second
	}
	s := startHTTP(t, t.TempDir(), serverBlocks(t, "", "ok")+gatewayBlock(fmt.Sprintf("    per_ip {\n      rate = %d\n    }", fairRate)), "127.0.0.1:0")
	succeeds(t, s.newClient(t), "a__echo", 10)
	bare := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) }))
	defer bare.Close()
	beside := func(floods map[string]int) (_ time.Duration, refused, taken int64, lasted time.Duration) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		begun := time.Now()
		var work sync.WaitGroup
		for at, perSecond := range floods {
			work.Go(func() {
				no, yes := floodFrom(ctx, t, perSecond, at)
				atomic.AddInt64(&refused, no)
				atomic.AddInt64(&taken, yes)
			})
		}
		time.Sleep(d / 4)
		got := p99(t, s, d)
		cancel()
		work.Wait()
		return got, refused, taken, time.Since(begun)
	}
	alone := p99(t, s, d)
	baseline, refusedThere, takenThere, _ := beside(map[string]int{bare.Listener.Addr().String(): 9 * fairRate, s.address: fairRate})
	got, refused, taken, lasted := beside(map[string]int{s.address: 10 * fairRate})
	again := p99(t, s, d)
	fmt.Printf("p99 alone %s, beside a bare 429 %s, beside the flood %s, afterwards %s\n", alone, baseline, got, again)
	t.Logf("bare handler: %d refused and %d answered; junctor: %d and %d", refusedThere, takenThere, refused, taken)
	// A busy machine sends fewer requests than requested. The limit still
	// bounds the answered ones.
	if most := int64(fairRate*lasted.Seconds()) + 2*fairRate; taken > most {
		t.Errorf("%d requests were answered in %s, want at most %d", taken, lasted, most)
	}
	if soak() && refused < taken {
		t.Errorf("%d requests were refused, %d were answered", refused, taken)
	}
	ratio := float64(got) / float64(baseline)
	if soak() {
		fmt.Printf("%-46s %9.2f×  (bar 1.2×)\n", "p99 beside a flood, of that beside a bare 429", ratio)
		if ratio > 1.2 {
			t.Errorf("the ratio of the latencies is %.2f, want at most 1.2", ratio)
		}
	}
}
