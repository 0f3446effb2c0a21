package secret

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/filelock"
)

// warnings collects warnings.
type warnings []string

func (w *warnings) warn(msg, hint string) { *w = append(*w, msg+" ("+hint+")") }

func newFile(t *testing.T, path string) (*File, *warnings) {
	t.Helper()
	h := new(warnings)
	return OpenFile(FileOptions{Path: path, Password: fixedPassword("correct horse"), Warn: h.warn}), h
}

func secretsPath(t *testing.T) string { return filepath.Join(t.TempDir(), "secrets", "secrets.age") }

func mustSet(t *testing.T, s Store, key, value string) {
	t.Helper()
	if err := s.SetSecret(t.Context(), key, []byte(value), "label"); err != nil {
		t.Fatal(err)
	}
}

func mustHave(t *testing.T, s Store, key, want string) {
	t.Helper()
	got, found, err := s.Secret(t.Context(), key)
	if err != nil || !found || string(got) != want {
		t.Fatalf("%s is %q, %v, %v; want %q", key, got, found, err, want)
	}
}

func wantCode(t *testing.T, err error, code fault.Code) {
	t.Helper()
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Code != code || f.Hint == "" {
		t.Fatalf("%v (%v), want %s and a hint", err, f, code)
	}
}

func TestFileStoresSecrets(t *testing.T) {
	path := secretsPath(t)
	f, warned := newFile(t, path)
	mustSet(t, f, "a", "hunter2-canary")
	mustSet(t, f, "b", "")
	mustSet(t, f, "a", "hunter3-canary")
	again, _ := newFile(t, path)
	mustHave(t, again, "a", "hunter3-canary")
	mustHave(t, again, "b", "")
	if err := again.DeleteSecret(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	if keys, err := f.Keys(t.Context()); err != nil || !slices.Equal(keys, []string{"a"}) {
		t.Fatalf("%q, %v", keys, err)
	}
	text, err := os.ReadFile(path)
	if err != nil || bytes.Contains(text, []byte("canary")) || bytes.Contains(text, []byte("label")) {
		t.Fatalf("%v, or it contains plaintext: %q", err, text)
	}
	for at, want := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700 | os.ModeDir} {
		if info, err := os.Stat(at); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v; want %v", at, info.Mode(), err, want)
		}
	}
	if len(*warned) > 0 {
		t.Errorf("warned: %q", *warned)
	}
}

// TestFileAsksForPasswordOnce: the password is asked for once, and never while there are
// no secrets.
func TestFileAsksForPasswordOnce(t *testing.T) {
	var asked []bool
	f := OpenFile(FileOptions{Path: secretsPath(t), Password: func(_ context.Context, fresh bool) ([]byte, error) {
		asked = append(asked, fresh)
		return []byte("pw"), nil
	}})
	if _, found, err := f.Secret(t.Context(), "a"); found || err != nil {
		t.Fatal(found, err)
	}
	if err := f.DeleteSecret(t.Context(), "a"); err != nil || len(asked) > 0 {
		t.Fatal(err, asked)
	}
	mustSet(t, f, "a", "1")
	again := OpenFile(f.opts)
	mustHave(t, again, "a", "1")
	mustHave(t, again, "a", "1")
	mustSet(t, again, "b", "2")
	if !slices.Equal(asked, []bool{true, false}) {
		t.Errorf("asked %v; want once to make it and once to open it", asked)
	}
}

func TestFileCachesItsKey(t *testing.T) {
	scryptWorkFactor = workFactor(false)
	defer func() { scryptWorkFactor = workFactor(true) }()
	if scryptWorkFactor != 15 {
		t.Errorf("a program derives keys with the work factor %d", scryptWorkFactor)
	}
	path := secretsPath(t)
	f, _ := newFile(t, path)
	mustSet(t, f, "a", "1")
	again, _ := newFile(t, path)
	began := time.Now()
	mustHave(t, again, "a", "1")
	first := time.Since(began)
	for range 100 {
		mustHave(t, again, "a", "1")
	}
	if rest := time.Since(began) - first; rest > 10*first {
		t.Errorf("the first reading took %v, the next hundred %v", first, rest)
	}
	t.Logf("opened in %v", first)
}

func TestFileWrongPassword(t *testing.T) {
	path := secretsPath(t)
	f, _ := newFile(t, path)
	mustSet(t, f, "a", "1")
	before, _ := os.ReadFile(path)
	for name, try := range map[string]func(*File) error{
		"read":   func(f *File) error { _, _, err := f.Secret(t.Context(), "a"); return err },
		"list":   func(f *File) error { _, err := f.Keys(t.Context()); return err },
		"write":  func(f *File) error { return f.SetSecret(t.Context(), "b", []byte("2"), "") },
		"delete": func(f *File) error { return f.DeleteSecret(t.Context(), "a") },
	} {
		wrong := OpenFile(FileOptions{Path: path, Password: fixedPassword("wrong")})
		wantCode(t, try(wrong), fault.SecretPassword)
		if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
			t.Fatalf("%s changed the file", name)
		}
		wrong.opts.Password = fixedPassword("correct horse") // the user types it again
		mustHave(t, wrong, "a", "1")
	}
	wantCode(t, OpenFile(FileOptions{Path: path, Password: fixedPassword("")}).SetSecret(t.Context(), "b", nil, ""),
		fault.SecretLocked)
}

func TestDamagedFileIsMovedAside(t *testing.T) {
	path := secretsPath(t)
	f, _ := newFile(t, path)
	mustSet(t, f, "a", "1")
	good, _ := os.ReadFile(path)
	flipped := func(at int) []byte { b := bytes.Clone(good); b[at] ^= 1; return b }
	for name, bad := range map[string][]byte{
		"empty":              {},
		"one byte":           good[:1],
		"the first line":     good[:bytes.IndexByte(good, '\n')+1],
		"half":               good[:len(good)/2],
		"without its end":    good[:len(good)-1],
		"longer":             append(bytes.Clone(good), 0),
		"the digest":         flipped(len(magic) + 5),
		"the head":           flipped(120),
		"the secrets":        flipped(len(good) - 3),
		"a page of zeros":    make([]byte, 4096),
		"another format":     []byte("token = \"abc\"\n"),
		"version nothing":    bytes.Replace(good, []byte(magic+"1 "), []byte(magic+"0 "), 1),
		"version of letters": bytes.Replace(good, []byte(magic+"1 "), []byte(magic+"x "), 1),
	} {
		for verb, use := range map[string]func(*File) error{
			"read":  func(f *File) error { _, _, err := f.Secret(t.Context(), "a"); return err },
			"write": func(f *File) error { return f.SetSecret(t.Context(), "b", []byte("2"), "") },
		} {
			t.Run(name+", "+verb, func(t *testing.T) { damage(t, bad, use) })
		}
	}
}

// damage checks that a damaged file is moved aside with an error, and that the next
// process warns about it.
func damage(t *testing.T, bad []byte, use func(*File) error) {
	path := secretsPath(t)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, bad, 0o600)); err != nil {
		t.Fatal(err)
	}
	f, warned := newFile(t, path)
	err := use(f)
	wantCode(t, err, fault.SecretDamaged)
	kept, _ := filepath.Glob(path + damagedSuffix + "*")
	if len(kept) != 1 || !strings.Contains(err.Error(), kept[0]) {
		t.Fatalf("kept %q, said %v", kept, err)
	}
	if text, err := os.ReadFile(kept[0]); err != nil || !bytes.Equal(text, bad) {
		t.Fatalf("what was kept is not what was there: %v", err)
	}
	next, warnedNext := newFile(t, path)
	for range 2 {
		if _, found, err := next.Secret(t.Context(), "a"); found || err != nil {
			t.Fatal(found, err)
		}
	}
	if len(*warned) != 0 || len(*warnedNext) != 1 || !strings.Contains((*warnedNext)[0], kept[0]) {
		t.Fatalf("warned %q and then %q", *warned, *warnedNext)
	}
}

// TestUnsealDamagedMessage: the first line of the file is valid and the age message is
// not.
func TestUnsealDamagedMessage(t *testing.T) {
	p, err := newPassphrase([]byte("correct horse"))
	if err != nil {
		t.Fatal(err)
	}
	good, err := seal(&content{Items: map[string]item{"a": {Value: []byte("1")}}}, p)
	if err != nil {
		t.Fatal(err)
	}
	_, message, _ := bytes.Cut(good, []byte("\n"))
	for name, c := range map[string]struct {
		message []byte
		want    error
	}{
		"a byte of the end": {append(bytes.Clone(message[:len(message)-1]), message[len(message)-1]^1), errDamaged},
		"no message":        {nil, errDamaged},
		"too much work":     {bytes.Replace(message, []byte(" 10\n"), []byte(" 30\n"), 1), errDamaged},
		"another salt":      {bytes.Replace(message, []byte(" 10\n"), []byte(" 11\n"), 1), errPassword},
	} {
		if _, err := unseal(c.message, p); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

func TestFileRejectsUnsafePaths(t *testing.T) {
	good := secretsPath(t)
	f, _ := newFile(t, good)
	mustSet(t, f, "a", "1")
	text, _ := os.ReadFile(good)
	newer := bytes.Replace(text, []byte(magic+"1 "), []byte(magic+"2 "), 1)
	for name, prepare := range map[string]func(path string) error{
		"of a newer version":   func(path string) error { return os.WriteFile(path, newer, 0o600) },
		"a link":               func(path string) error { return os.Symlink(good, path) },
		"a directory":          func(path string) error { return os.Mkdir(path, 0o700) },
		"in a place for all":   func(path string) error { return os.Chmod(filepath.Dir(path), 0o777) },
		"in a place for group": func(path string) error { return os.Chmod(filepath.Dir(path), 0o770) },
		"below a file": func(path string) error {
			return errors.Join(os.Remove(filepath.Dir(path)), os.WriteFile(filepath.Dir(path), nil, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := secretsPath(t)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), prepare(path)); err != nil {
				t.Fatal(err)
			}
			before, _ := os.ReadFile(path)
			f, _ := newFile(t, path)
			wantCode(t, f.SetSecret(t.Context(), "b", []byte("2"), ""), fault.SecretStore)
			if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
				t.Error("it was changed")
			}
		})
	}
}

func TestFileBecomesPrivate(t *testing.T) {
	path := secretsPath(t)
	f, warned := newFile(t, path)
	mustSet(t, f, "a", "1")
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	mustHave(t, f, "a", "1")
	mustHave(t, f, "a", "1")
	if info, _ := os.Stat(path); info.Mode() != 0o600 || len(*warned) != 1 || !strings.Contains((*warned)[0], "0644") {
		t.Errorf("%v, warned %q", info.Mode(), *warned)
	}
}

// TestFileWaitsForLock: a call waits for the lock no longer than its context.
func TestFileWaitsForLock(t *testing.T) {
	f, _ := newFile(t, secretsPath(t))
	mustSet(t, f, "a", "1")
	release, err := filelock.Lock(t.Context(), f.opts.Path+".lock")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := f.SetSecret(ctx, "a", []byte("2"), ""); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	mustHave(t, f, "a", "1") // readers take no lock
	release()
	mustSet(t, f, "a", "2")
	if _, _, err := f.Secret(ctx, "a"); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

func TestFileTooLarge(t *testing.T) {
	f, _ := newFile(t, secretsPath(t))
	mustSet(t, f, "a", "1")
	err := f.rewrite(func(now *content) bool {
		now.Items["large"] = item{Value: make([]byte, maxFile)}
		return true
	})
	wantCode(t, err, fault.SecretTooLarge)
	mustHave(t, f, "a", "1")
}

func TestGlobQuote(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a[b]*?c")
	if err := errors.Join(os.MkdirAll(dir, 0o700),
		os.WriteFile(filepath.Join(dir, "f"+damagedSuffix+"1"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if found, err := filepath.Glob(globQuote(filepath.Join(dir, "f")) + damagedSuffix + "*"); err != nil ||
		len(found) != 1 {
		t.Error(fmt.Sprint(found, err))
	}
}
