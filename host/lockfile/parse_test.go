package lockfile

import (
	"fmt"
	"maps"
	"math/rand"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"
)

const someDigest = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// reread fails the test if the text of a lock does not say the same as the lock.
func reread(t *testing.T, lock *File) {
	t.Helper()
	text := string(lock.HCL())
	again, problems := Parse(Name, []byte(text))
	if len(problems) > 0 {
		t.Fatalf("%v\n%.2000s", problems, text)
	}
	if !reflect.DeepEqual(again.Servers, lock.Servers) || !reflect.DeepEqual(again.Plugins, lock.Plugins) {
		t.Errorf("%q\nbecame %q\nby %.2000s", lock, again, text)
	}
	if second := string(again.HCL()); second != text {
		t.Errorf("%.2000s\nbecame\n%.2000s", text, second)
	}
}

// hostileNames are names that a server may give its tools.
var hostileNames = []string{
	"", "for", "null", "true", "in", "if", "each", "sha256", "tool", "server", "1", "-", "a b", "a.b",
	"a/b", "a-b", "a__b",
	"${x}", "$${x}", "$$${x}", "${", "$", "$$", "%{if}", "%%{if}", "%{", "%", "%%", "}", "{", "~}", "${~ x ~}",
	`"`, `\`, `\"`, `\n`, `\u0041`, `\\`, "'", "`", "<<EOT", "<<-EOT\nx\nEOT\n", "#", "//", "/* x", "*/",
	"=", ",",
	"a\nb", "\n", "\r\n", "\t", "\x00", "\x7f", "\u202egnp", "\ufeff", "\u200b", "\u0301", "e\u0301",
	"\u00e9", "\u212b", "\U0001f600",
	"x\" { sha256 = \"" + someDigest + "\" } tool \"y", strings.Repeat("x", 128), strings.Repeat("${", 64),
	strings.Repeat("%{", 512), strings.Repeat(`"`, 1024),
}

// TestLockFileKeepsHostileNames reads what was written of names that mean something in HCL.
func TestLockFileKeepsHostileNames(t *testing.T) {
	for _, name := range hostileNames {
		lock := New(Name)
		lock.Servers[name] = map[string]string{name: someDigest}
		lock.Plugins[name] = Plugin{Version: norm.NFC.String(name), SHA256: map[string]string{name: someDigest}}
		if reread(t, lock); t.Failed() {
			t.Fatalf("name %q", name)
		}
	}
	lock := New(Name)
	lock.Servers["a"] = map[string]string{}
	for _, name := range hostileNames {
		lock.Servers["a"][name] = someDigest // two of them differ in their normal form only
	}
	reread(t, lock)
	random := rand.New(rand.NewSource(1))
	one := func() string { return hostileNames[random.Intn(len(hostileNames))] }
	for range 200 {
		lock := New(Name)
		for range random.Intn(4) {
			tools := map[string]string{}
			for range random.Intn(8) {
				tools[one()+one()] = someDigest
			}
			lock.Servers[one()] = tools
		}
		if reread(t, lock); t.Failed() {
			t.Fatal("a random lock file")
		}
	}
}

// TestLockFileThatFitsCanBeReadAgain fills lock files with names that have many tokens of HCL.
func TestLockFileThatFitsCanBeReadAgain(t *testing.T) {
	if testing.Short() {
		t.Skip("slow with the race detector, and uses one goroutine only")
	}
	fitted := 0
	for _, part := range []string{"x", "$", "é"} {
		for _, tools := range []int{100, 4000} {
			name := strings.Repeat(part, 1024/len(part))
			lock, pins := New(Name), map[string]string{}
			for i := range tools {
				pins[fmt.Sprint(name, i)] = someDigest
			}
			lock.Servers["a"] = pins
			_, problems := Parse(Name, lock.HCL())
			if lock.Fits() {
				fitted++
			}
			if lock.Fits() != (len(problems) == 0) {
				t.Errorf("%d names of %q: Fits is %t:\n%v", tools, part, lock.Fits(), problems)
			}
		}
	}
	if fitted < 3 {
		t.Errorf("only %d lock files fit", fitted)
	}
}

// FuzzParse checks that a lock file that can be read says the same when it is written again.
func FuzzParse(f *testing.F) {
	for _, name := range hostileNames {
		lock := New(Name)
		lock.Servers["a"] = map[string]string{name: someDigest}
		f.Add(lock.HCL())
	}
	paths, err := filepath.Glob("../../testdata/config/*lock*/" + Name)
	if err != nil || len(paths) < 5 {
		f.Fatalf("%q, %v", paths, err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		lock, problems := Parse(Name, text)
		for _, sum := range digestsOf(lock) {
			if len(sum) != 64 {
				t.Errorf("digest %q", sum)
			}
		}
		if len(problems) == 0 && lock.Fits() {
			reread(t, lock)
		}
	})
}

// digestsOf returns all digests of a lock.
func digestsOf(lock *File) (all []string) {
	for _, tools := range lock.Servers {
		for sum := range maps.Values(tools) {
			all = append(all, sum)
		}
	}
	for _, p := range lock.Plugins {
		for sum := range maps.Values(p.SHA256) {
			all = append(all, sum)
		}
	}
	return all
}
