//go:build unix

package main

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
)

// policyOf is a configuration whose policy allows the tool publish, or denies it.
func policyOf(allows bool) string {
	effect := map[bool]string{true: "allow", false: "deny"}[allows]
	return publishers("news", "legacy", "") +
		fmt.Sprintf("policy {\n  default = \"allow\"\n  %s {\n    tools = [\"publish\"]\n  }\n}\n", effect)
}

// TestReloadedPolicyDecides replaces the policy again and again under load. A call that
// begins after the reload has answered is decided by the new policy.
func TestReloadedPolicyDecides(t *testing.T) {
	t.Parallel()
	reloads, _ := reloadRounds()
	d := newReloadDir(t)
	rewriteConfig(t, d.path, policyOf(true))
	s := d.serveHTTP()
	// The reload that has answered last: a round and whether its policy allows. Odd rounds
	// deny. While a reload goes on it is negative, and nothing is compared.
	var round atomic.Int64
	round.Store(2)
	done := make(chan struct{})
	var work sync.WaitGroup
	var compared [2]atomic.Int64
	for _, legacy := range []bool{true, false, false} {
		c := &reloadClient{url: s.url}
		if legacy {
			c.initialize(t)
		}
		work.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				before := round.Load()
				m, err := c.request("tools/call",
					map[string]any{"name": "news__publish", "arguments": map[string]any{}})
				if err != nil {
					t.Error(err)
					return
				}
				if after := round.Load(); before < 0 || after != before {
					continue // a reload went on
				}
				compared[before%2].Add(1)
				if allowed := m.Result != nil; allowed != (before%2 == 0) {
					t.Errorf("round %d: allowed %v: %s %s", before, allowed, m.Result, m.Error)
				}
			}
		})
	}
	for n := int64(3); n < 3+2*int64(reloads); n++ {
		round.Store(-n)
		rewriteConfig(t, d.path, policyOf(n%2 == 0))
		s.hangup("reloaded the configuration")
		round.Store(n)
		for compared[n%2].Swap(0); compared[n%2].Load() < 3 && !t.Failed(); {
			_, _ = (&reloadClient{url: s.url}).request("tools/list", nil)
		}
	}
	close(done)
	work.Wait()
}
