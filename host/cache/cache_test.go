package cache

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
)

func TestWriteReplacesFile(t *testing.T) {
	d := Dir(filepath.Join(t.TempDir(), "made", "when", "needed"))
	if _, ok := d.Read("a/b.json"); ok {
		t.Error("Read found a file before Write")
	}
	d.Write("a/b.json", []byte("one"))
	d.Write("a/b.json", []byte("two"))
	if b, ok := d.Read("a/b.json"); !ok || string(b) != "two" {
		t.Errorf("%q, %t", b, ok)
	}
	entries, err := os.ReadDir(filepath.Join(string(d), "a"))
	if err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
	if runtime.GOOS != "windows" {
		for path, want := range map[string]os.FileMode{"a/b.json": 0o600, "a": 0o700 | os.ModeDir} {
			if info, err := os.Stat(filepath.Join(string(d), path)); err != nil || info.Mode() != want {
				t.Errorf("%s: %v, %v", path, info.Mode(), err)
			}
		}
	}
}

// TestUnusableDirIsIgnored writes to directories that cannot hold a file.
func TestUnusableDirIsIgnored(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, d := range []Dir{"", Dir(file), Dir(file + "/sub")} {
		d.Write("x", []byte("y"))
		if _, ok := d.Read("x"); ok {
			t.Errorf("Dir(%q) stored a file", d)
		}
	}
	// The file's path is a directory.
	d := Dir(t.TempDir())
	if err := os.MkdirAll(filepath.Join(string(d), "x", "y"), 0o700); err != nil {
		t.Fatal(err)
	}
	d.Write("x", []byte("y"))
	if entries, err := os.ReadDir(string(d)); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
}

func TestReadRejectsLargeFile(t *testing.T) {
	d := Dir(t.TempDir())
	path := filepath.Join(string(d), "x")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, MaxFile+1); err != nil {
		t.Fatal(err)
	}
	if _, ok := d.Read("x"); ok {
		t.Error("Read returned a file larger than MaxFile")
	}
}

// TestConcurrentWritesAreAtomic checks that readers never see a partial file.
func TestConcurrentWritesAreAtomic(t *testing.T) {
	d := Dir(t.TempDir())
	content := func(i int) []byte { return bytes.Repeat(fmt.Append(nil, i), 10_000) }
	d.Write("x", content(0))
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for range 20 {
				d.Write("x", content(i))
				if b, ok := d.Read("x"); !ok || len(b) != 10_000 || !bytes.Equal(b, bytes.Repeat(b[:1], 10_000)) {
					t.Errorf("%d bytes, %t", len(b), ok)
				}
			}
		})
	}
	wg.Wait()
}
