package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/host/audit"
)

// A fullSite is a process whose audit log is on a small file system.
type fullSite struct {
	*reloadSite
	dir  string // the file system
	sent int
}

// newFullSite mounts a file system and starts a process that writes its audit log there.
// Only root can mount.
func newFullSite(t *testing.T, onFull string) *fullSite {
	t.Helper()
	d := newReloadDir(t)
	dir := filepath.Join(d.site.dir, "disk")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=32m,mode=700"); errors.Is(err, os.ErrPermission) {
		t.Skip("this user cannot mount a file system")
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // after the end of the process
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	rewriteConfig(t, d.path,
		fmt.Sprintf("%saudit {\n  file = \"disk/audit.db\"\n  sync = \"full\"\n  on_full = %q\n}\n",
			demoServers("", false), onFull))
	return &fullSite{reloadSite: d.serveHTTP(), dir: dir}
}

// fill writes a file until the file system is full.
func (s *fullSite) fill() {
	s.t.Helper()
	f, err := os.Create(filepath.Join(s.dir, "ballast"))
	if err != nil {
		s.t.Fatal(err)
	}
	defer f.Close()
	for block := make([]byte, 4096); err == nil; {
		_, err = f.Write(block)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		s.t.Fatal(err)
	}
}

// empty gives the space back.
func (s *fullSite) empty() {
	s.t.Helper()
	if err := os.Remove(filepath.Join(s.dir, "ballast")); err != nil {
		s.t.Fatal(err)
	}
}

// call sends calls of several clients and returns the ids of those with a result, and the
// answers of the others.
func (s *fullSite) call(calls int) (ok []string, refused []string) {
	s.t.Helper()
	address := strings.TrimSuffix(strings.TrimPrefix(s.url, "http://"), "/mcp")
	var left atomic.Int64
	left.Store(int64(calls))
	var mu sync.Mutex
	var work sync.WaitGroup
	for range 16 {
		s.sent++
		name := fmt.Sprintf("client%d", s.sent)
		work.Go(func() {
			conn, err := net.Dial("tcp", address)
			if err != nil {
				s.t.Error(err)
				return
			}
			defer conn.Close()
			in := bufio.NewReader(conn)
			for n := 1; left.Add(-1) >= 0; n++ {
				body, err := exchange(conn, in, auditedCall(address, "/mcp", name, n))
				if err != nil {
					s.t.Error(err)
					return
				}
				mu.Lock()
				if isSum(body, n) {
					ok = append(ok, fmt.Sprintf("%s-%d", name, n))
				} else {
					refused = append(refused, string(body))
				}
				mu.Unlock()
			}
		})
	}
	work.Wait()
	return ok, refused
}

// await asks GET /readyz until it has a status and a text.
func (s *fullSite) await(status int, text string) {
	s.t.Helper()
	for end := time.Now().Add(reloadPatience); ; {
		resp, err := http.Get(strings.TrimSuffix(s.url, "mcp") + "readyz")
		if err != nil {
			s.t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil {
			s.t.Fatal(err)
		}
		if resp.StatusCode == status && bytes.Contains(body, []byte(text)) {
			return
		}
		if time.Now().After(end) {
			s.t.Fatalf("readyz has status %d: %s", resp.StatusCode, body)
		}
		<-time.After(20 * time.Millisecond)
	}
}

// rows returns the number of rows of each call, and the number of rows that are missing as
// the log says.
func (s *fullSite) rows() (of map[string]int, missing int) {
	s.t.Helper()
	of = map[string]int{}
	r, err := audit.OpenReader(filepath.Join(s.dir, "audit.db"))
	if err != nil {
		s.t.Fatal(err)
	}
	defer r.Close()
	err = r.Each(s.t.Context(), audit.Filter{}, false, func(row audit.Row) bool {
		if row.Kind == audit.Loss {
			missing += row.Count
		}
		if row.Method == "tools/call" && row.Outcome == audit.OK {
			of[row.RequestID]++
		}
		return true
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return of, missing
}

// status returns the line about the audit log in junctor status.
func (s *fullSite) status() string {
	s.t.Helper()
	out, errs, exit := s.junctor("status", "--text")
	if exit != 0 {
		s.t.Fatal(exit, errs)
	}
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "audit log: ") {
			return line
		}
	}
	s.t.Fatalf("the status says nothing of the audit log: %s", out)
	return ""
}

// awaitDrained waits until no event waits to be written.
func (s *fullSite) awaitDrained() {
	s.t.Helper()
	for end := time.Now().Add(reloadPatience); ; {
		waiting := s.reloadSite.status().Audit.Backlog
		if waiting == 0 {
			return
		}
		if time.Now().After(end) {
			s.t.Fatalf("%d events wait to be written", waiting)
		}
	}
}

// verify checks the chain with junctor audit verify.
func (s *fullSite) verify() {
	s.t.Helper()
	if out, errs, exit := s.junctor("audit", "verify", "--text"); exit != 0 ||
		!strings.Contains(out, "every row is unchanged") {
		s.t.Errorf("verify: status %d: %s%s", exit, out, errs)
	}
}

// TestFullDiskRefusesCalls fills the disk of a log with on_full = "refuse": calls are
// refused, the process is not ready, and both end when there is space.
func TestFullDiskRefusesCalls(t *testing.T) {
	t.Parallel()
	s := newFullSite(t, "refuse")
	done, refused := s.call(100)
	if len(refused) > 0 {
		t.Fatal(refused[0])
	}
	s.await(http.StatusOK, `"audit":true`)
	s.fill()
	late, refused := s.call(2000) // the first ones still have space in the file
	s.await(http.StatusServiceUnavailable, `"audit":false`)
	if len(refused) == 0 {
		t.Fatal("no call is refused")
	}
	for _, text := range refused {
		if !strings.Contains(text, `"reason":"audit_unavailable"`) || !strings.Contains(text, "-31011") {
			t.Fatal(text)
		}
	}
	if more, _ := s.call(20); len(more) > 0 {
		t.Errorf("%d calls have results while the log cannot be written", len(more))
	}
	if line := s.status(); !strings.Contains(line,
		"which cannot be written; requests are refused; events that wait: ") {
		t.Error(line)
	}
	s.empty()
	s.await(http.StatusOK, `"audit":true`)
	again, refused := s.call(100)
	if len(refused) > 0 {
		t.Error(refused[0])
	}
	rows, missing := s.rows()
	for _, id := range append(append(done, late...), again...) {
		if rows[id] != 1 {
			t.Errorf("call %s has a result and %d rows", id, rows[id])
		}
	}
	if missing > 0 {
		t.Errorf("%d rows are missing", missing)
	}
	s.verify()
}

// TestFullDiskDropsRows fills the disk of a log with on_full = "drop": calls go on, as many
// rows as the buffer has are written later, and a row says how many are missing.
func TestFullDiskDropsRows(t *testing.T) {
	t.Parallel()
	s := newFullSite(t, "drop")
	s.fill()
	done, refused := s.call(6000)
	if len(refused) > 0 {
		t.Fatal(refused[0])
	}
	s.await(http.StatusOK, `"audit":false`)
	line := s.status()
	if !strings.Contains(line, "which cannot be written; events that wait: 4096; events that are missing: ") {
		t.Error(line)
	}
	s.empty()
	s.await(http.StatusOK, `"audit":true`)
	s.awaitDrained() // until then calls find the buffer full
	again, _ := s.call(100)
	s.awaitDrained()
	rows, missing := s.rows()
	stored := 0
	for _, id := range done {
		if rows[id] > 1 {
			t.Errorf("call %s has %d rows", id, rows[id])
		}
		stored += rows[id]
	}
	for _, id := range again {
		if rows[id] != 1 {
			t.Errorf("call %s after the end of the fault has %d rows", id, rows[id])
		}
	}
	t.Logf("%d calls, %d rows, %d missing", len(done), stored, missing)
	if missing == 0 || stored < 4000 || stored+missing < len(done) {
		t.Errorf("of %d calls there are %d rows, and %d are missing", len(done), stored, missing)
	}
	s.verify()
}
