//go:build unix

package ownership

import (
	"os"
	"path/filepath"
	"testing"
)

func TestExposedChecksMode(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for mode, want := range map[os.FileMode]bool{0o600: false, 0o644: false, 0o664: false, 0o666: true, 0o602: true,
		0o777: true, 0o666 | os.ModeSticky: true} {
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
		if why, command := Exposed(file); (why != "") != want || (command != "") != want {
			t.Errorf("file of mode %v: %q, %q", mode, why, command)
		}
	}
	for mode, want := range map[os.FileMode]bool{0o700: false, 0o755: false, 0o775: false, 0o777: true,
		0o777 | os.ModeSticky: false} {
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		if why, _ := Exposed(dir); (why != "") != want {
			t.Errorf("directory of mode %v: %q", mode, why)
		}
	}
}

func TestExposedChecksOwner(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give files away")
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(file, 4242, 4242); err != nil {
		t.Fatal(err)
	}
	if why, command := Exposed(file); why != "belongs to the user 4242" || command != "chown 0" {
		t.Errorf("%q, %q", why, command)
	}
}

func TestExposedReportsMissingFile(t *testing.T) {
	if why, _ := Exposed(filepath.Join(t.TempDir(), "gone")); why == "" {
		t.Error("a missing file is not exposed")
	}
}

func TestReadableChecksMode(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for mode, want := range map[os.FileMode]bool{0o600: false, 0o400: false, 0o700: false, 0o640: true, 0o604: true,
		0o620: true, 0o601: true} {
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
		if why, command := Readable(file); (why != "") != want || (command != "") != want {
			t.Errorf("file of mode %v: %q, %q", mode, why, command)
		}
	}
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{link, filepath.Join(dir, "gone"), os.DevNull} {
		if why, _ := Readable(path); why == "" {
			t.Errorf("%s is not reported", path)
		}
	}
}
