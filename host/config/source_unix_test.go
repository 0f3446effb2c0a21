//go:build unix

package config

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/junctor-mcp/junctor/host/config/source"
)

// TestReadRejectsIrregularFiles checks that such a file neither blocks nor is read.
func TestReadRejectsIrregularFiles(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	write := func(name string, text []byte) string {
		if err := os.WriteFile(path(name), text, 0o600); err != nil {
			t.Fatal(err)
		}
		return path(name)
	}
	if err := syscall.Mkfifo(path("fifo.hcl"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/zero", path("zero.hcl")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("loop.hcl", path("loop.hcl")); err != nil {
		t.Fatal(err)
	}
	many := path("many")
	if err := os.Mkdir(many, 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range source.MaxFiles + 1 {
		write(fmt.Sprintf("many/%03d.hcl", i), nil)
	}
	large := bytes.Repeat([]byte("# x\n"), source.MaxFile/4)
	for i := range 9 {
		if i == 0 {
			if err := os.Mkdir(path("heavy"), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		write(fmt.Sprintf("heavy/%d.hcl", i), large)
	}
	for _, c := range []struct{ path, says string }{
		{path("gone.hcl"), "no such file"},
		{path("fifo.hcl"), "not a regular file"},
		{path("zero.hcl"), "not a regular file"},
		{path("loop.hcl"), "cannot read"},
		{path("many"), "more than 256"},
		{path("heavy"), "larger than 8 MiB together"},
		{write("large.hcl", append(large, '\n')), "larger than 1024 KiB"},
		{write("latin1.hcl", []byte("# caf\xe9\n")), "not valid UTF-8"},
		{write("fifo.include.hcl", []byte(`locals { x = file("fifo.hcl") }`)), "not a regular file"},
		{write("large.include.hcl", []byte(`locals { x = file("large.hcl") }`)), "larger than 64 KiB"},
		{write("latin1.include.hcl", []byte(`locals { x = file("latin1.hcl") }`)), "not valid UTF-8"},
	} {
		conf, ds := Load(context.Background(), Options{Path: c.path, Lookup: fakeLookup})
		if conf != nil || !ds.HasErrors() || !strings.Contains(rendered(ds), c.says) {
			t.Errorf("%s: %s", c.path, rendered(ds))
		}
	}
	if _, ds := Load(context.Background(),
		Options{Path: write("bom.hcl", []byte("\ufeffservr {\n}\n"))}); !strings.Contains(rendered(ds), `"servr"`) {
		t.Error(rendered(ds))
	}
}
