package discover

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestCacheDependsOnProgramAndOptions checks that a cached result is used until
// the program or the options change.
func TestCacheDependsOnProgramAndOptions(t *testing.T) {
	f := newFake(t, nested)
	dir := filepath.Join(t.TempDir(), "made", "when", "needed")
	in := func(o *Options) { o.CacheDir = dir }
	first := f.run(in)
	asked := len(f.calls())
	if again := f.run(in); fmt.Sprint(names(again), again.Version, again.Digest) != fmt.Sprint(names(first),
		first.Version, first.Digest) || len(f.calls()) != asked {
		t.Errorf("%q, asked %q", names(again), f.calls())
	}
	for _, change := range []func(*Options){
		func(o *Options) { o.Depth = 1 },
		func(o *Options) { o.Only = []string{"status"} },
		func(o *Options) { o.Except = []string{"status"} },
		func(o *Options) { o.Command = append(o.Command, "--") },
	} {
		before := len(f.calls())
		f.run(in, change)
		if len(f.calls()) == before {
			t.Error("another question has the same answer")
		}
	}
	f.write(strings.ReplaceAll(nested, "store", "bring"))
	if p := f.run(in); names(p)[2] != "image bring" || p.Digest == first.Digest {
		t.Errorf("after the program changed: %q", names(p))
	}
}

// TestInvalidCacheFilesAreIgnored also checks that only this user can read the
// files.
func TestInvalidCacheFilesAreIgnored(t *testing.T) {
	f := newFake(t, nested)
	dir := t.TempDir()
	in := func(o *Options) { o.CacheDir = dir }
	f.run(in)
	files, _ := filepath.Glob(filepath.Join(dir, resultPrefix+"*"))
	if len(files) != 1 {
		t.Fatalf("%q", files)
	}
	for _, file := range append(files, filepath.Join(dir, digestFile)) {
		if info, err := os.Stat(file); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: %v, %v", file, info, err)
		}
	}
	good, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string]string{
		"empty": "", "no JSON": "{", "half": string(good[:len(good)/2]),
		"nothing": "{}", "null": "null", "a list": "[]",
		"of another key": strings.Replace(string(good), `"Key":"`, `"Key":"x`, 1),
		"no root":        `{"Key":"` + key(files[0]) + `","Program":{}}`,
	} {
		for _, file := range append(files, filepath.Join(dir, digestFile)) {
			if err := os.WriteFile(file, []byte(bad), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		before := len(f.calls())
		if p := f.run(in); len(names(p)) != 4 || len(f.calls()) == before {
			t.Errorf("%s: %q", name, names(p))
		}
	}
	// Opening a named pipe would block.
	_ = os.Remove(files[0])
	if err := os.Mkdir(files[0], 0o700); err != nil {
		t.Fatal(err)
	}
	if p := f.run(in); len(names(p)) != 4 {
		t.Errorf("%q", names(p))
	}
}

func key(file string) string {
	return strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), resultPrefix), ".json")
}

func TestCacheIsBounded(t *testing.T) {
	dir := t.TempDir()
	c := cache{dir: dir}
	foreign := filepath.Join(dir, "somebody-else.json")
	if err := os.WriteFile(foreign, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p := newFake(t, nested).run()
	for i := range maxCached + 10 {
		name := fmt.Sprintf("%064d", i)
		c.store(name, p)
		old := time.Now().Add(time.Duration(i-1000) * time.Hour)
		if err := os.Chtimes(filepath.Join(dir, resultPrefix+name+".json"), old, old); err != nil {
			t.Fatal(err)
		}
	}
	c.store("last", p)
	files, _ := filepath.Glob(filepath.Join(dir, resultPrefix+"*"))
	_, oldest := c.load(fmt.Sprintf("%064d", 5))
	_, newest := c.load("last")
	if len(files) != maxCached || oldest || !newest {
		t.Errorf("%d files, the oldest exists: %t, the newest exists: %t", len(files), oldest, newest)
	}
	if _, err := os.Stat(foreign); err != nil {
		t.Error(err)
	}
	// Without a directory, and with one that is not writable.
	for _, dir := range []string{"", foreign, filepath.Join(foreign, "x")} {
		c := cache{dir: dir}
		c.store("k", p)
		if _, ok := c.load("k"); ok {
			t.Errorf("a cache in %q keeps results", dir)
		}
	}
}

// TestDigestIsReadAgainOnlyAfterAChange also changes the remembered digest, to
// see that it is used.
func TestDigestIsReadAgainOnlyAfterAChange(t *testing.T) {
	dir := t.TempDir()
	c := cache{dir: filepath.Join(dir, "cache")}
	file, link := filepath.Join(dir, "prog"), filepath.Join(dir, "link")
	if err := os.WriteFile(file, []byte("one"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	one, err := c.digest(link)
	if again, _ := c.digest(file); err != nil || len(one) != 64 || again != one {
		t.Fatalf("%q, %q, %v", one, again, err)
	}
	// A changed digest in the file comes back, because the program is not read
	// again.
	text, _ := c.read(digestFile)
	forged := strings.Repeat("0", 64)
	c.write(digestFile, []byte(strings.Replace(string(text), one, forged, 1)))
	if got, _ := c.digest(file); got != forged {
		t.Errorf("the file was read again: %q", got)
	}
	if err := os.WriteFile(file, []byte("two!"), 0o600); err != nil {
		t.Fatal(err)
	}
	if two, _ := c.digest(file); two == forged || two == one || len(two) != 64 {
		t.Errorf("after a change: %q", two)
	}
	if _, err := c.digest(filepath.Join(dir, "absent")); err == nil {
		t.Error("an absent file has a digest")
	}
}
