package trust

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
)

func TestStoreKeepsOneRecordPerPath(t *testing.T) {
	s := Store{Dir: filepath.Join(t.TempDir(), "trust")}
	if r, err := s.Get("/a"); r != nil || err != nil {
		t.Fatalf("%v, %v before anything is trusted", r, err)
	}
	if all, err := s.List(); len(all) != 0 || err != nil {
		t.Fatalf("%v, %v before anything is trusted", all, err)
	}
	for _, r := range []Record{{Path: "/b", Digest: "1"}, {Path: "/a", Digest: "2"},
		{Path: "/a", Digest: "3", At: time.Unix(1, 0).UTC()}} {
		if err := s.Put(r); err != nil {
			t.Fatal(err)
		}
	}
	all, err := s.List()
	if err != nil || len(all) != 2 || all[0].Path != "/a" || all[0].Digest != "3" || all[1].Path != "/b" {
		t.Fatalf("%v, %v", all, err)
	}
	if was, err := s.Remove("/a"); !was || err != nil {
		t.Fatal(was, err)
	}
	if was, err := s.Remove("/a"); was || err != nil {
		t.Fatal(was, err)
	}
	info, err := os.Stat(s.file("/b"))
	if err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Fatalf("%v, %v: others can read it", info.Mode(), err)
	}
}

func TestStoreRejectsDamagedRecords(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	large := `{"path":"/a","digest":"` + strings.Repeat("x", maxRecord) + `"}`
	for name, text := range map[string]string{
		"no JSON": "{", "empty": "", "a list": "[]", "another path": `{"path":"/b","digest":"1"}`,
		"too large": large, "another type": `{"path":1}`,
	} {
		if err := os.WriteFile(s.file("/a"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if r, err := s.Get("/a"); r != nil || !fault.Is(err, fault.ConfigUntrusted) {
			t.Errorf("%s: %v, %v", name, r, err)
		}
	}
}

func TestStoreWithoutDirectory(t *testing.T) {
	var s Store
	if r, err := s.Get("/a"); r != nil || err != nil {
		t.Error(r, err)
	}
	if err := s.Put(Record{Path: "/a", Digest: "1"}); !fault.Is(err, fault.ConfigUntrusted) ||
		!strings.Contains(fault.As(err).Hint, "JUNCTOR_TRUST=/a:1") {
		t.Error(err)
	}
}

func TestLargeRecordIsKeptWithoutItems(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	if err := s.Put(Record{Path: "/a", Digest: "1", Items: []string{strings.Repeat("x", maxRecord)}}); err != nil {
		t.Fatal(err)
	}
	if r, err := s.Get("/a"); err != nil || r == nil || r.Digest != "1" || len(r.Items) != 0 {
		t.Fatal(r, err)
	}
}

func TestStoreRejectsRecordsOfOtherUsers(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no mode bits")
	}
	s := Store{Dir: filepath.Join(t.TempDir(), "data", "trust")}
	if err := s.Put(Record{Path: "/a", Digest: "1"}); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{s.file("/a"), s.Dir, filepath.Dir(s.Dir)} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		for mode, want := range map[os.FileMode]bool{info.Mode().Perm(): true, 0o777: false} {
			if err := os.Chmod(path, mode); err != nil {
				t.Fatal(err)
			}
			if r, err := s.Get("/a"); (r != nil && err == nil) != want ||
				!want && !fault.Is(err, fault.ConfigUntrusted) {
				t.Errorf("%s of mode %v: %v, %v", path, mode, r, err)
			}
		}
		if err := os.Chmod(path, info.Mode().Perm()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestStoreRejectsLinksToRecords(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	if err := s.Put(Record{Path: "/a", Digest: "1"}); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(s.file("/a"), s.file("/b")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(s.file("/b"), s.file("/a")); err != nil {
		t.Skip(err)
	}
	if r, err := s.Get("/a"); r != nil || !fault.Is(err, fault.ConfigUntrusted) {
		t.Errorf("%v, %v", r, err)
	}
}
