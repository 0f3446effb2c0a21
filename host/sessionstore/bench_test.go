//go:build unix

package sessionstore

import (
	"bufio"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// benchStreams is the number of streams that are written at a time.
const benchStreams = 50

// cpu returns the CPU time that this process has used.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// diskUse returns the bytes of all files in a directory.
func diskUse(b *testing.B, dir string) (n int64) {
	b.Helper()
	if err := filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if info, statErr := e.Info(); err == nil && statErr == nil && !e.IsDir() {
			n += info.Size()
		}
		return err
	}); err != nil {
		b.Fatal(err)
	}
	return n
}

// BenchmarkStreams writes to 50 streams, each of which a client reads live. A writer
// waits for its reader after the events of one burst.
func BenchmarkStreams(b *testing.B) {
	for _, burst := range []int{1, 16} {
		for _, size := range []int{400, 8 << 10} {
			name := fmt.Sprintf("burst=%d/bytes=%d", burst, size)
			b.Run(name, func(b *testing.B) { benchmarkStreams(b, burst, size) })
		}
	}
}

func benchmarkStreams(b *testing.B, burst, size int) {
	dir := b.TempDir()
	s, err := Open(Options{Path: filepath.Join(dir, "sessions")})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	var all []*Session
	for range benchStreams {
		x, err := s.New("ann", []byte("{}"))
		if err != nil {
			b.Fatal(err)
		}
		all = append(all, x)
	}
	parts := [][]byte{make([]byte, size)}
	b.ResetTimer()
	used, begun := cpu(b), time.Now()
	var clients sync.WaitGroup
	for _, x := range all {
		clients.Go(func() {
			var after uint64
			for sent := 0; sent < b.N; sent += burst {
				for range burst {
					x.Log().Append(Common, Event{Data: parts})
				}
				for want := after + uint64(burst); after < want; {
					changed := x.Log().Changed(Common)
					events, err := x.Log().Read(Common, after, true, 0)
					if err != nil {
						b.Error(err)
						return
					}
					if len(events) == 0 {
						<-changed
						continue
					}
					after = events[len(events)-1].Seq
				}
			}
		})
	}
	clients.Wait()
	took, n := time.Since(begun), float64(b.N*benchStreams)
	used = cpu(b) - used
	b.StopTimer()
	b.ReportMetric(n/took.Seconds(), "events/s")
	b.ReportMetric(float64(used.Nanoseconds())/n/1000, "cpu-µs/event")
	b.ReportMetric(float64(diskUse(b, dir))/(1<<20), "MiB-on-disk")
}

// BenchmarkRestore measures how long a store needs for 1000 sessions of 50 events each
// after its process was killed: until it is open, and until all are in memory.
func BenchmarkRestore(b *testing.B) {
	var open, find time.Duration
	for b.Loop() {
		b.StopTimer()
		path := filepath.Join(b.TempDir(), "sessions")
		ids := fillAndKill(b, path)
		b.ReportMetric(float64(diskUse(b, filepath.Dir(path)))/(1<<20), "MiB-on-disk")
		b.StartTimer()
		begun := time.Now()
		s, err := Open(Options{Path: path})
		if err != nil {
			b.Fatal(err)
		}
		open += time.Since(begun)
		for _, id := range ids {
			x, err := s.Find(id, "ann")
			if err != nil {
				b.Fatal(err)
			}
			if got, err := x.Log().Read(1, 0, false, 0); len(got) != 50 {
				b.Fatal(len(got), err)
			}
		}
		find += time.Since(begun)
		b.StopTimer()
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
	b.ReportMetric(float64(open.Microseconds())/float64(b.N)/1000, "ms-to-open")
	b.ReportMetric(float64(find.Microseconds())/float64(b.N)/1000, "ms-to-restore")
}

func fillAndKill(b *testing.B, path string) (ids []string) {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childFill+"="+path)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		b.Fatal(err)
	}
	for scan := bufio.NewScanner(out); scan.Scan() && !strings.HasPrefix(scan.Text(), "filled"); {
		ids = append(ids, scan.Text())
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if len(ids) != benchSessions {
		b.Fatalf("%d sessions", len(ids))
	}
	return ids
}
