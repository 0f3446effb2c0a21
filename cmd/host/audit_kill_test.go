//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/host/audit"
)

// maxLost is the number of answered calls whose rows a killed process may lose with
// sync = "normal": one batch.
const maxLost = 500

// A killPlan says how many calls are recorded while processes are killed.
type killPlan struct {
	sync      string
	processes int // that write one file
	clients   int // of each process
	files     int // one after the other, so that a check of the chain stays short
	calls     int // of each file
	pause     func(*rand.Rand) (time.Duration, int)
}

// killPlans returns the plans of a run. A short run kills a process after some hundred
// calls, a long one every two to five seconds.
func killPlans() map[string]killPlan {
	soon := func(r *rand.Rand) (time.Duration, int) { return reloadPatience, 100 + r.IntN(300) }
	plans := map[string]killPlan{"full": {"full", 1, 16, 1, 1000, soon},
		"normal": {"normal", 1, 16, 1, 1000, soon}, "three processes": {"full", 3, 8, 1, 1000, soon}}
	if os.Getenv("JUNCTOR_SOAK") != "" {
		later := func(r *rand.Rand) (time.Duration, int) {
			return 2*time.Second + time.Duration(r.Int64N(int64(3*time.Second))), 1 << 30
		}
		plans = map[string]killPlan{"full": {"full", 1, 64, 4, 100_000, later},
			"normal": {"normal", 1, 64, 4, 100_000, later}, "three processes": {"full", 3, 32, 2, 100_000, later}}
	}
	return plans
}

// TestKilledServeKeepsAuditRows kills processes with SIGKILL at random times while clients
// call a server. Each answered call has exactly one row, but for one batch with
// sync = "normal", and every row is unchanged after each restart.
func TestKilledServeKeepsAuditRows(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	for name, plan := range killPlans() {
		t.Run(name, func(t *testing.T) {
			if os.Getenv("JUNCTOR_SOAK") == "" {
				t.Parallel()
			}
			t.Logf("seed %d", seed)
			for n := range plan.files {
				newKillSite(t, plan).run(seed + uint64(n))
			}
		})
	}
}

// A killSite is a configuration with an audit log, whose processes are killed.
type killSite struct {
	*reloadDir
	plan killPlan
	file string
	left atomic.Int64 // calls that are still to be sent

	mu             sync.Mutex
	answered, rows int           // guarded by mu
	kills          int           // guarded by mu
	lost, worst    int           // guarded by mu; answered calls without a row: in total, and of one kill
	verifying      time.Duration // guarded by mu
	slowest        time.Duration // guarded by mu; of the checks of the chain
}

func newKillSite(t *testing.T, plan killPlan) *killSite {
	t.Helper()
	s := &killSite{reloadDir: newReloadDir(t), plan: plan}
	s.file = filepath.Join(s.site.dir, "audit.db")
	s.left.Store(int64(plan.calls))
	rewriteConfig(t, s.path,
		fmt.Sprintf("%saudit {\n  file = \"audit.db\"\n  sync = %q\n}\n", demoServers("", false), plan.sync))
	s.trust()
	return s
}

// run kills processes until all calls are sent, and reports.
func (s *killSite) run(seed uint64) {
	begun := time.Now()
	var work sync.WaitGroup
	for n := range s.plan.processes {
		random := rand.New(rand.NewPCG(seed, uint64(n)))
		work.Go(func() {
			for round := 0; s.left.Load() > 0 && !s.t.Failed(); round++ {
				s.round(fmt.Sprintf("p%dr%d", n, round), random)
			}
		})
	}
	work.Wait()
	s.t.Logf("sync = %q, %d processes: %d calls answered, %d rows, %d kills, %d rows lost, at most %d with one kill (bar %d); %s in total, of which %s were checks of the chain, the longest of %s",
		s.plan.sync, s.plan.processes, s.answered, s.rows, s.kills, s.lost, s.worst, s.allowed(),
		time.Since(begun).Round(time.Millisecond), s.verifying.Round(time.Millisecond),
		s.slowest.Round(time.Millisecond))
	if s.kills < 3 || s.answered != s.plan.calls {
		s.t.Errorf("%d kills and %d answers, want 3 and %d", s.kills, s.answered, s.plan.calls)
	}
}

// allowed returns the number of rows that a kill may lose.
func (s *killSite) allowed() int {
	if s.plan.sync == "full" {
		return 0
	}
	return maxLost
}

// round starts a process, checks the chain that it goes on with, calls it, kills it, and
// compares the answers with the rows.
func (s *killSite) round(name string, random *rand.Rand) {
	before := s.lastRow()
	v := startVictim(s.t, s.reloadDir)
	if v == nil {
		return
	}
	s.verify()
	clients := make([]*killedClient, s.plan.clients)
	pause, calls := s.plan.pause(random)
	enough, over := make(chan struct{}), make(chan struct{})
	var answers atomic.Int64
	var calling sync.WaitGroup
	for i := range clients {
		c := &killedClient{name: fmt.Sprintf("%sc%d", name, i), victim: v, answer: func() {
			if answers.Add(1) == int64(calls) {
				close(enough)
			}
		}}
		clients[i] = c
		calling.Go(func() {
			if err := c.callUntilKilled(&s.left); err != nil {
				s.t.Errorf("client %s: %v", c.name, err)
			}
		})
	}
	go func() {
		calling.Wait()
		close(over)
	}()
	select {
	case <-time.After(pause):
	case <-enough:
	case <-over:
	}
	v.kill()
	<-over
	s.compare(name, before, clients)
}

// lastRow returns the number of the last row, or 0 if there is no file yet.
func (s *killSite) lastRow() int64 {
	if _, err := os.Stat(s.file); err != nil {
		return 0
	}
	r, err := audit.OpenReader(s.file)
	if err != nil { // another process creates the file
		return 0
	}
	defer r.Close()
	last, err := r.Last()
	if err != nil {
		s.t.Errorf("the last row cannot be read: %v", err)
	}
	return last
}

// verify runs junctor audit verify.
func (s *killSite) verify() {
	begun := time.Now()
	out, err := s.command("audit", "verify", "--text").CombinedOutput()
	took := time.Since(begun)
	if err != nil || !strings.Contains(string(out), "every row is unchanged") {
		s.t.Errorf("verify: %v: %s", err, out)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.verifying, s.slowest = s.verifying+took, max(s.slowest, took)
}

// compare checks that the rows of a round are those of its answered calls. The calls of a
// client come one after the other, so its rows are numbered without gaps.
func (s *killSite) compare(name string, before int64, clients []*killedClient) {
	stored := map[string]int{}
	r, err := audit.OpenReader(s.file)
	if err != nil {
		s.t.Error(err)
		return
	}
	defer r.Close()
	err = r.Each(s.t.Context(), audit.Filter{After: before, Method: "tools/call"}, false, func(row audit.Row) bool {
		client, number, _ := strings.Cut(row.RequestID, "-")
		if !strings.HasPrefix(client, name+"c") {
			return true // of another process
		}
		stored[client]++
		if number != fmt.Sprint(stored[client]) || row.Outcome != audit.OK {
			s.t.Errorf("row %d is %s of %s, and should be its call %d",
				row.Seq, row.Outcome, row.RequestID, stored[client])
		}
		return !s.t.Failed()
	})
	if err != nil {
		s.t.Error(err)
	}
	var answered, rows, lost int
	for _, c := range clients {
		n := stored[c.name]
		if n > c.answered+1 {
			s.t.Errorf("client %s has %d answers and %d rows", c.name, c.answered, n)
		}
		answered, rows, lost = answered+c.answered, rows+n, lost+max(0, c.answered-n)
	}
	if lost > s.allowed() {
		s.t.Errorf("round %s: %d of %d answered calls have no row", name, lost, answered)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answered, s.rows, s.kills, s.lost, s.worst = s.answered+answered, s.rows+rows, s.kills+1, s.lost+lost,
		max(s.worst, lost)
}
