package plugin

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

func kept(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(text)
}

// TestLogFile checks that a log is created at the first write, private, and rotated at
// 1 MiB with one previous file. L15
func TestLogFile(t *testing.T) {
	path := LogFile(filepath.Join(t.TempDir(), "deep", "logs"), "acme")
	if filepath.Base(path) != "plugin-acme.log" {
		t.Errorf("path %s", path)
	}
	f := &logFile{path: path}
	defer f.close()
	if kept(t, path) != "" {
		t.Error("the file exists before the first write")
	}
	line := bytes.Repeat([]byte("x"), 1000)
	line[len(line)-1] = '\n'
	for range 3 * maxLog / len(line) {
		if n, err := f.Write(line); n != len(line) || err != nil {
			t.Fatal(n, err)
		}
	}
	now, before := kept(t, path), kept(t, path+".1")
	if len(now) > maxLog+2*len(line) || len(before) > maxLog+2*len(line) || len(before) < maxLog || len(now) == 0 {
		t.Errorf("%d and %d bytes are kept", len(now), len(before))
	}
	if _, err := os.Stat(path + ".2"); err == nil {
		t.Error("more than one previous file exists")
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// TestConcurrentLogs checks that several hosts write whole lines to one file.
func TestConcurrentLogs(t *testing.T) {
	path := LogFile(t.TempDir(), "acme")
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			f := &logFile{path: path}
			defer f.close()
			for range 200 {
				_, _ = f.Write([]byte("a line that is whole\n"))
			}
		})
	}
	all.Wait()
	if got := strings.Count(kept(t, path), "a line that is whole\n"); got != 800 || len(kept(t, path)) != 800*21 {
		t.Errorf("%d lines in %d bytes", got, len(kept(t, path)))
	}
}

// TestUnwritableLog checks that log failures are ignored.
func TestUnwritableLog(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f := &logFile{path: LogFile(filepath.Join(dir, "file"), "acme")}
	for range 2 {
		if n, err := f.Write([]byte("lost\n")); n != 5 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
	}
	f.close()
}

// TestLogClosed checks that a closed log writes nothing, because another host may use the
// file.
func TestLogClosed(t *testing.T) {
	path := LogFile(t.TempDir(), "acme")
	f := &logFile{path: path}
	_, _ = f.Write(bytes.Repeat([]byte("x"), maxLog+1))
	f.close()
	f.close()
	if n, err := f.Write([]byte("late\n")); n != 5 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if len(kept(t, path)) != maxLog+1 || kept(t, path+".1") != "" {
		t.Error("the file was written or renamed")
	}
	unused := &logFile{path: path + "unused"}
	unused.close()
	_, _ = unused.Write([]byte("late\n"))
	if kept(t, path+"unused") != "" {
		t.Error("the file was created")
	}
}
