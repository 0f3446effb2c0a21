package pins

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/cache"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/lockfile"
)

// A process is a Store as one of several processes has it.
type process struct {
	*Store
	log *bytes.Buffer
}

// newProcess returns a Store of a process that loads the lock file now. All processes share the
// directory of locks and the cache beside the directory of the lock file.
func newProcess(t *testing.T, of *config.Server, more ...func(*Options)) *process {
	t.Helper()
	var log bytes.Buffer
	o := Options{
		Log:   hclog.New(&hclog.LoggerOptions{Output: &log}),
		Locks: filepath.Join(filepath.Dir(of.Lock), "..", "locks"),
		Cache: cache.Dir(filepath.Join(filepath.Dir(of.Lock), "..", "cache")),
	}
	for _, f := range more {
		f(&o)
	}
	p := &process{New(o), &log}
	p.reload(of)
	return p
}

// reload applies the configuration with the lock file as it is now.
func (p *process) reload(of *config.Server) (changed []string) {
	lock, _ := config.ReadLock(of.Lock)
	return p.Apply(&config.Config{Servers: []*config.Server{of}, Locks: map[string]*lockfile.File{of.Lock: lock}})
}

// newServer returns a server whose lock file is in a directory of its own.
func newServer(t *testing.T, definitions string) *config.Server {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "project")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return &config.Server{Name: "a", Enabled: true, Definitions: definitions, Lock: filepath.Join(dir, lockfile.Name)}
}

// tool returns a definition.
func tool(name, description string) []byte {
	return fmt.Appendf(nil, `{"name":%q,"description":%q}`, name, description)
}

// tools returns definitions by name: those of the names, with a description.
func tools(description string, names ...string) map[string][]byte {
	all := map[string][]byte{}
	for _, name := range names {
		all[name] = tool(name, description)
	}
	return all
}

func digests(definitions map[string][]byte) map[string]string {
	all := map[string]string{}
	for name, definition := range definitions {
		all[name] = catalog.DefinitionDigest(definition)
	}
	return all
}

// inFile returns the digests in the lock file.
func inFile(t *testing.T, of *config.Server) map[string]string {
	t.Helper()
	lock, diags := config.ReadLock(of.Lock)
	if diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	return lock.Servers[of.Name]
}

// expect checks the digests in use and in the file.
func expect(t *testing.T, p *process, of *config.Server, use, file map[string]string) {
	t.Helper()
	if got := p.Digests(of); !maps.Equal(got, use) {
		t.Errorf("in use: %v\nwant %v", got, use)
	}
	if got := inFile(t, of); !maps.Equal(got, file) {
		t.Errorf("in the file: %v\nwant %v", got, file)
	}
}

// held returns definitions as the catalog holds them back.
func held(p *process, of *config.Server, definitions map[string][]byte) (all []catalog.Held) {
	pinned := p.Of(of)
	for _, name := range slices.Sorted(maps.Keys(definitions)) {
		digest := catalog.DefinitionDigest(definitions[name])
		if was := pinned.Digests()[name]; was != digest && (was != "" || pinned.Strict()) {
			all = append(all, catalog.Held{Tool: name, Pinned: was, Digest: digest, Definition: definitions[name]})
		}
	}
	return all
}

// TestFirstUsePinsOnce checks that only the first definition is pinned.
func TestFirstUsePinsOnce(t *testing.T) {
	of := newServer(t, config.DefinitionsFirstUse)
	p := newProcess(t, of)
	first := tools("first", "x", "y")
	p.Of(of).Seen(first)
	expect(t, p, of, digests(first), digests(first))
	before, err := os.Stat(of.Lock)
	if err != nil {
		t.Fatal(err)
	}
	p.Of(of).Seen(tools("second", "x", "y"))
	expect(t, p, of, digests(first), digests(first))
	if after, err := os.Stat(of.Lock); err != nil || !os.SameFile(before, after) {
		t.Errorf("the file was written again: %v", err)
	}
	p.Of(of).Seen(tools("first", "z"))
	first = tools("first", "x", "y", "z")
	expect(t, p, of, digests(first), digests(first))
	if strings.Contains(p.log.String(), "[WARN]") {
		t.Error(p.log)
	}
}

// TestLockedPinsNothing checks that tools of a server with definitions = "locked", and those that
// a person reviews, are not pinned by being seen.
func TestLockedPinsNothing(t *testing.T) {
	for definitions, more := range map[string]func(*Options){
		config.DefinitionsLocked:   func(*Options) {},
		config.DefinitionsFirstUse: func(o *Options) { o.HoldNew = true },
	} {
		of := newServer(t, definitions)
		p := newProcess(t, of, more)
		p.Of(of).Seen(tools("first", "x"))
		expect(t, p, of, nil, nil)
		if _, err := os.Stat(of.Lock); !errors.Is(err, os.ErrNotExist) || !p.Of(of).Strict() {
			t.Errorf("%s: %v, strict %t", definitions, err, p.Of(of).Strict())
		}
	}
	if p := newProcess(t, newServer(t, config.DefinitionsLocked)); p.Of(&config.Server{Name: "any"}) != nil {
		t.Error("a server without a lock file has pins")
	}
}

// TestTwoProcesses checks that two processes with one lock file lose no pins, and that the second
// one to see a tool holds another definition back.
func TestTwoProcesses(t *testing.T) {
	of := newServer(t, config.DefinitionsFirstUse)
	one, two := newProcess(t, of), newProcess(t, of)
	other := *of
	other.Name = "b"
	one.Of(of).Seen(tools("first", "x", "only_one"))
	two.Of(&other).Seen(tools("first", "of_b"))
	two.Of(of).Seen(tools("second", "x", "only_two"))
	all := digests(tools("first", "x", "only_one"))
	maps.Copy(all, digests(tools("second", "only_two")))
	expect(t, one, of, digests(tools("first", "x", "only_one")), all)
	want := digests(tools("second", "only_two"))
	want["x"] = all["x"]
	expect(t, two, of, want, all)
	if got := held(two, of, tools("second", "x", "only_two")); len(got) != 1 || got[0].Tool != "x" ||
		got[0].Pinned != all["x"] {
		t.Errorf("the second process holds back %v", got)
	}
	if got := inFile(t, &other); !maps.Equal(got, digests(tools("first", "of_b"))) {
		t.Errorf("the pins of the other server: %v", got)
	}
	if changed := one.reload(of); !slices.Equal(changed, []string{"a"}) {
		t.Errorf("after a reload changed %q", changed)
	}
	expect(t, one, of, all, all)
	if changed := one.reload(of); len(changed) > 0 {
		t.Errorf("without a change, after a reload changed %q", changed)
	}
}

// TestWhatAnotherProcessAcceptsCountsAfterReload checks that a digest in the file does not replace
// one that is in use.
func TestWhatAnotherProcessAcceptsCountsAfterReload(t *testing.T) {
	of := newServer(t, config.DefinitionsFirstUse)
	one := newProcess(t, of)
	one.Of(of).Seen(tools("first", "x"))
	two := newProcess(t, of)
	second := tools("second", "x")
	if err := two.Accept(of, digests(second), held(two, of, second)); err != nil {
		t.Fatal(err)
	}
	one.Of(of).Seen(tools("second", "x", "y"))
	if got := one.Of(of).Digests()["x"]; got != digests(tools("first", "x"))["x"] {
		t.Errorf("before the reload %s is in use", got)
	}
	if got := inFile(t, of)["x"]; got != digests(second)["x"] {
		t.Errorf("in the file is %s", got)
	}
	one.reload(of)
	if got := one.Of(of).Digests()["x"]; got != digests(second)["x"] {
		t.Errorf("after the reload %s is in use", got)
	}
}

// unwritable returns servers whose lock files cannot be written.
func unwritable(t *testing.T) map[string]*config.Server {
	absent, file, damaged := newServer(t, config.DefinitionsFirstUse), newServer(t, config.DefinitionsFirstUse),
		newServer(t, config.DefinitionsFirstUse)
	absent.Lock = filepath.Join(filepath.Dir(absent.Lock), "absent", lockfile.Name)
	inFile := filepath.Join(filepath.Dir(file.Lock), "file")
	if err := os.WriteFile(inFile, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	file.Lock = filepath.Join(inFile, lockfile.Name)
	if err := os.WriteFile(damaged.Lock, []byte("<<<<<<< ours\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return map[string]*config.Server{"no directory": absent, "a file as directory": file, "a damaged file": damaged}
}

// TestPinsWithoutFile checks that tools are pinned in memory if the file cannot be written, that
// this is said once, and that a reload keeps these pins.
func TestPinsWithoutFile(t *testing.T) {
	for name, of := range unwritable(t) {
		t.Run(name, func(t *testing.T) {
			dir := cache.Dir(t.TempDir())
			p := newProcess(t, of, func(o *Options) { o.Locks, o.Cache = t.TempDir(), dir })
			before, _ := os.ReadFile(of.Lock)
			first := tools("first", "x")
			p.Of(of).Seen(first)
			p.Of(of).Seen(tools("second", "x"))
			p.Of(of).Seen(tools("first", "y"))
			first = tools("first", "x", "y")
			if got := p.Digests(of); !maps.Equal(got, digests(first)) {
				t.Errorf("in use: %v", got)
			}
			if n := strings.Count(p.log.String(), "tools are pinned in this process only"); n != 1 ||
				!strings.Contains(p.log.String(), "hint=") {
				t.Errorf("warned %d times:\n%s", n, p.log)
			}
			p.reload(of)
			if got := p.Digests(of); !maps.Equal(got, digests(first)) {
				t.Errorf("after a reload: %v", got)
			}
			if after, _ := os.ReadFile(of.Lock); !bytes.Equal(before, after) {
				t.Errorf("the file became %q", after)
			}
			second := tools("second", "x")
			if err := p.Accept(of, digests(second), held(p, of, second)); !fault.Is(err, fault.LockFile) ||
				fault.As(err).Hint == "" {
				t.Errorf("accept: %v", err)
			}
			if err := p.Lock(of, digests(tools("first", "z")), []string{"y"}, tools("first", "x", "z")); !fault.Is(err,
				fault.LockFile) {
				t.Errorf("lock: %v", err)
			}
			if after, _ := os.ReadFile(of.Lock); !bytes.Equal(before, after) {
				t.Errorf("the file became %q", after)
			}
		})
	}
}

// TestPinsAreWrittenWhenTheyCan checks that the file wins over pins in memory.
func TestPinsAreWrittenWhenTheyCan(t *testing.T) {
	of := newServer(t, config.DefinitionsFirstUse)
	of.Lock = filepath.Join(filepath.Dir(of.Lock), "later", lockfile.Name)
	p := newProcess(t, of)
	p.Of(of).Seen(tools("first", "x", "y"))
	if err := os.Mkdir(filepath.Dir(of.Lock), 0o700); err != nil {
		t.Fatal(err)
	}
	lock := lockfile.New(of.Lock)
	lock.Servers["a"] = digests(tools("file", "x"))
	if err := os.WriteFile(of.Lock, lock.HCL(), 0o600); err != nil {
		t.Fatal(err)
	}
	if changed := p.reload(of); !slices.Equal(changed, []string{"a"}) {
		t.Errorf("changed %q", changed)
	}
	if p.Of(of).Digests()["x"] != digests(tools("file", "x"))["x"] ||
		p.Of(of).Digests()["y"] != digests(tools("first", "y"))["y"] {
		t.Errorf("in use: %v", p.Digests(of))
	}
	p.Of(of).Seen(tools("first", "z"))
	if got := inFile(t, of); got["x"] != digests(tools("file", "x"))["x"] || got["z"] == "" {
		t.Errorf("in the file: %v", got)
	}
	if err := p.Lock(of, nil, []string{"y"}, nil); err != nil {
		t.Fatal(err)
	}
	if p.reload(of); p.Of(of).Digests()["y"] != "" {
		t.Error("a tool that was forgotten is pinned again by a reload")
	}
}

// TestPinsOfOneServerAreLimited checks that tools beyond the limit are held back and not pinned.
func TestPinsOfOneServerAreLimited(t *testing.T) {
	if testing.Short() {
		t.Skip("slow with the race detector, and uses one goroutine only")
	}
	of := newServer(t, config.DefinitionsFirstUse)
	p := newProcess(t, of)
	var names []string
	for i := range maxTools + 2 {
		names = append(names, fmt.Sprintf("t%05d", i))
	}
	p.Of(of).Seen(tools("first", names[:maxTools-1]...))
	if p.Of(of).Strict() {
		t.Error("strict below the limit")
	}
	p.Of(of).Seen(tools("first", names...))
	want := digests(tools("first", names[:maxTools]...))
	expect(t, p, of, want, want)
	if got := held(p, of, tools("first", names...)); len(got) != 2 || got[0].Tool != names[maxTools] ||
		got[0].Pinned != "" {
		t.Errorf("%d tools are held back", len(got))
	}
	p.Of(of).Seen(tools("first", names...))
	expect(t, p, of, want, want)
	more := tools("first", names[maxTools])
	if err := p.Accept(of, digests(more), held(p, of, more)); !fault.Is(err, fault.LockFile) ||
		!strings.Contains(fault.As(err).Hint, "junctor lock a") {
		t.Errorf("accept: %v", err)
	}
	if err := p.Lock(of, digests(more), nil, tools("first", names...)); err != nil {
		t.Error(err)
	}
	expect(t, p, of, want, want)
	if err := p.Lock(of, digests(more), names[:1], nil); err != nil {
		t.Error(err)
	}
	delete(want, names[0])
	maps.Copy(want, digests(more))
	expect(t, p, of, want, want)
}

// TestToolsThatDoNotFitAreHeldBack: a server with long names must not keep its tools out of the
// lock file, and must leave space for other servers.
func TestToolsThatDoNotFitAreHeldBack(t *testing.T) {
	of := newServer(t, config.DefinitionsFirstUse)
	p := newProcess(t, of)
	p.Of(of).Seen(tools("first", "x"))
	want := digests(tools("first", "x"))
	names := []string{"x", "send"}
	for i := range 600 {
		names = append(names, strings.Repeat("漢", 336)+fmt.Sprintf("%04d", i))
	}
	for _, description := range []string{"first", "second"} {
		p.Of(of).Seen(tools(description, names...))
		expect(t, p, of, want, want)
	}
	if got := held(p, of, tools("first", names...)); len(got) != len(names)-1 {
		t.Errorf("%d tools are held back", len(got))
	}
	if n := strings.Count(p.log.String(),
		"the new tools of a server are held back, because they cannot be pinned"); n != 1 {
		t.Errorf("warned %d times:\n%s", n, p.log)
	}
	other := *of
	other.Name = "b"
	p.Of(&other).Seen(tools("first", "y"))
	if p.Of(&other).Strict() || p.Of(&other).Digests()["y"] == "" {
		t.Error("another server has no space")
	}
	if err := p.Lock(of, digests(tools("first", "send")), nil, nil); err != nil {
		t.Error(err)
	}
	if p.Of(of).Strict() {
		t.Error("new tools are held back after the operator pinned one")
	}
	p.Of(of).Seen(tools("first", names...))
	if p.reload(of); !p.Of(of).Strict() {
		t.Error("tools that do not fit are offered after a reload")
	}
	if p.Of(of).Seen(tools("first", "x", "send", "z")); p.Of(of).Strict() {
		t.Error("new tools are held back although they fit")
	}
	want = digests(tools("first", "x", "send", "z"))
	expect(t, p, of, want, want)
}

// TestAcceptNeedsTheDigestThatIsHeldBack refuses all of a request with one wrong digest.
func TestAcceptNeedsTheDigestThatIsHeldBack(t *testing.T) {
	of := newServer(t, config.DefinitionsFirstUse)
	p := newProcess(t, of)
	first, now := tools("first", "x", "y", "same"), tools("second", "x", "y")
	p.Of(of).Seen(first)
	now["same"] = first["same"]
	back := held(p, of, now)
	for _, test := range []struct {
		digests map[string]string
		code    fault.Code
	}{
		{digests(tools("third", "x")), fault.ToolHeld},
		{map[string]string{"x": ""}, fault.ToolHeld},
		{map[string]string{"x": digests(first)["x"]}, fault.ToolHeld},
		{digests(tools("first", "same")), fault.NameUnknown},
		{digests(tools("second", "absent")), fault.NameUnknown},
		{map[string]string{"absent": ""}, fault.NameUnknown},
		{merged(digests(tools("second", "x")), digests(tools("third", "y"))), fault.ToolHeld},
	} {
		if err := p.Accept(of, test.digests, back); !fault.Is(err, test.code) || fault.As(err).Hint == "" {
			t.Errorf("%v: %v, want %s", test.digests, err, test.code)
		}
		expect(t, p, of, digests(first), digests(first))
	}
	if err := p.Accept(of, digests(tools("second", "x")), back); err != nil {
		t.Fatal(err)
	}
	want := merged(digests(first), digests(tools("second", "x")))
	expect(t, p, of, want, want)
	if got := held(p, of, now); len(got) != 1 || got[0].Tool != "y" {
		t.Errorf("held back: %v", got)
	}
}

// TestLockAddsAndForgets checks that Lock never changes a digest.
func TestLockAddsAndForgets(t *testing.T) {
	of := newServer(t, config.DefinitionsLocked)
	p := newProcess(t, of)
	first := tools("first", "x", "y")
	if err := p.Lock(of, digests(first), nil, first); err != nil {
		t.Fatal(err)
	}
	expect(t, p, of, digests(first), digests(first))
	now := tools("second", "x", "z")
	if err := p.Lock(of, digests(now), []string{"y", "absent"}, now); err != nil {
		t.Fatal(err)
	}
	want := merged(digests(tools("second", "z")), digests(tools("first", "x")))
	expect(t, p, of, want, want)
	if err := p.Lock(of, nil, []string{"x", "z"}, nil); err != nil {
		t.Fatal(err)
	}
	expect(t, p, of, nil, nil)
	if text, err := os.ReadFile(of.Lock); err != nil || strings.Contains(string(text), "server") {
		t.Errorf("%v\n%s", err, text)
	}
}

// TestConcurrentPins uses one Store, and one more of another process, from many goroutines.
func TestConcurrentPins(t *testing.T) {
	of := newServer(t, config.DefinitionsFirstUse)
	one, two := newProcess(t, of), newProcess(t, of)
	one.Of(of).Seen(tools("first", "changed"))
	second := tools("second", "changed")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() { one.Of(of).Seen(tools("first", fmt.Sprint("one", i))) })
		wg.Go(func() { two.Of(of).Seen(tools("first", fmt.Sprint("two", i))) })
		wg.Go(func() {
			if err := one.Accept(of, digests(second),
				[]catalog.Held{{Tool: "changed", Digest: digests(second)["changed"],
					Definition: second["changed"]}}); err != nil {
				t.Error(err)
			}
			one.Differences(of, held(one, of, second), second)
			one.Of(of).Strict()
		})
		wg.Go(func() { two.reload(of) })
	}
	wg.Wait()
	want := digests(second)
	for i := range 8 {
		maps.Copy(want, digests(tools("first", fmt.Sprint("one", i), fmt.Sprint("two", i))))
	}
	if got := inFile(t, of); !maps.Equal(got, want) {
		t.Errorf("in the file: %v\nwant %v", got, want)
	}
	for i := range 8 {
		if one.Of(of).Digests()[fmt.Sprint("one", i)] == "" {
			t.Errorf("one%d is not in use", i)
		}
	}
	if one.Of(of).Digests()["changed"] != digests(second)["changed"] {
		t.Error("the accepted definition is not in use")
	}
}
