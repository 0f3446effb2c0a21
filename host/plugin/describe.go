package plugin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/process"
	"github.com/junctor-mcp/junctor/sdk/wire"
)

// describeSize bounds a manifest.
const describeSize = 1 << 20

// known is a program and what it said about itself. Whoever needs it first
// finds out, the others wait.
type known struct {
	learning sync.Mutex // held while finding out, which is as long as the program takes

	program  *program     // guarded by learning and, for those who only look, Supervisor.mu
	manifest sdk.Manifest // likewise
	before   []*program   // likewise; the same program in files that were replaced
}

// Describe returns what the program at path says about itself, and its digest.
// It does not start it as a plugin.
func (s *Supervisor) Describe(ctx context.Context, path, pin string) (m sdk.Manifest, digest string, err error) {
	b, m, err := s.learn(ctx, path, pin)
	if err != nil {
		return sdk.Manifest{}, "", err
	}
	return m, b.digest, nil
}

// learn returns the program at path, which has the digest pin, and what it says
// about itself.
func (s *Supervisor) learn(ctx context.Context, path, pin string) (*program, sdk.Manifest, error) {
	k := s.known(path)
	k.learning.Lock()
	defer k.learning.Unlock()
	if s.ctx.Err() != nil {
		return nil, sdk.Manifest{}, shuttingDown()
	}
	if k.program == nil {
		b, err := openProgram(path)
		if err != nil {
			return nil, sdk.Manifest{}, err
		}
		m, err := s.agreed(ctx, b, pin)
		if err != nil {
			b.close()
			return nil, sdk.Manifest{}, err
		}
		s.mu.Lock()
		k.program, k.manifest = b, m
		s.mu.Unlock()
	}
	return k.program, k.manifest, pinned(k.program, pin)
}

func (s *Supervisor) known(path string) *known {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.programs[path]
	if k == nil {
		k = new(known)
		s.programs[path] = k
	}
	return k
}

// agreed describes a program, but runs none that is not the one agreed on.
func (s *Supervisor) agreed(ctx context.Context, b *program, pin string) (sdk.Manifest, error) {
	if err := pinned(b, pin); err != nil {
		return sdk.Manifest{}, err
	}
	return s.describe(ctx, b)
}

func pinned(b *program, pin string) error {
	if pin == "" || strings.EqualFold(pin, b.digest) {
		return nil
	}
	return fault.New(fault.PluginChecksum, "%s has sha256 %s, the configuration wants %s", b.path, b.digest, pin).
		WithHint("if you replaced the program on purpose, update sha256; otherwise do not run it")
}

// describe returns the manifest of a program: from the cache, or by running it
// with the argument "describe". The cache is keyed by what was run, so it
// never grows stale.
func (s *Supervisor) describe(ctx context.Context, b *program) (sdk.Manifest, error) {
	name := filepath.Join("manifests", b.digest+".json")
	if text, ok := s.opts.Cache.Read(name); ok {
		if m, err := parseManifest(text); err == nil {
			return m, nil
		}
		// Something else stands there; what is written below replaces it.
	}
	said := &journal{conceal: s.conceal}
	text, err := s.runDescribe(ctx, b, said)
	if err == nil {
		var m sdk.Manifest
		if m, err = parseManifest(text); err == nil {
			s.opts.Cache.Write(name, text)
			return m, nil
		}
		err = noManifest(b.path, text, err)
	}
	if f, ok := errors.AsType[*fault.Error](err); ok {
		f.Output = said.last(tailShown)
		if len(f.Output) > 0 && f.Hint == notOurs {
			f.Hint = "" // it knows what it is asked for, and says what is wrong
		}
	}
	return sdk.Manifest{}, err
}

const notOurs = "is it a Junctor plugin?"

// noManifest says what a program printed instead of a manifest, or beside it.
func noManifest(path string, text []byte, err error) *fault.Error {
	const hint = "a plugin prints nothing to standard output before serve.Main; standard error is for messages"
	if object := bytes.TrimSpace(text); json.Valid(object) && object[0] == '{' {
		return fault.Because(fault.PluginDescribe, err, "%s printed what is not a manifest", path)
	}
	var manifest json.RawMessage
	after := json.NewDecoder(bytes.NewReader(text))
	if after.Decode(&manifest) == nil && len(manifest) > 1 && manifest[0] == '{' {
		return fault.New(fault.PluginDescribe, "%s printed more than a manifest: behind it stands %s", path, beginning(text[after.InputOffset():])).
			WithHint(hint)
	}
	return fault.New(fault.PluginDescribe, "%s printed what is not a manifest: it begins with %s", path, beginning(text)).WithHint(hint)
}

// beginning quotes the first line of a text, or as much of it as says enough.
func beginning(text []byte) string {
	const enough = 60
	line, _, _ := strings.Cut(strings.TrimSpace(string(text[:min(len(text), describeSize)])), "\n")
	letters := []rune(strings.TrimSpace(plain(line)))
	if len(letters) > enough {
		return fmt.Sprintf("%q ...", string(letters[:enough]))
	}
	return fmt.Sprintf("%q", string(letters))
}

// runDescribe runs the program, bounded in time and output. What it says on
// standard error goes to a journal.
func (s *Supervisor) runDescribe(ctx context.Context, b *program, said *journal) ([]byte, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	var pipes [4]*os.File
	for i := 0; i < len(pipes); i += 2 {
		var err error
		if pipes[i], pipes[i+1], err = os.Pipe(); err != nil {
			closeFiles(pipes[:])
			return nil, err
		}
	}
	outR, outW, errR, errW := pipes[0], pipes[1], pipes[2], pipes[3]
	p, err := process.Start(process.Command{
		Path: b.path, File: b.file, Args: []string{b.path, "describe"},
		Env: s.environment(nil), Dir: os.TempDir(), Stdout: outW, Stderr: errW,
	})
	closeFiles([]*os.File{outW, errW})
	if err != nil {
		closeFiles([]*os.File{outR, errR})
		return nil, cannotRun(b, err)
	}
	var reading sync.WaitGroup
	defer reading.Wait()
	defer func() { p.Kill(); <-p.Done() }()
	reading.Go(func() { readLines(errR, s.limits.last, said) })
	reading.Go(func() { hearOut(p, outR, errR) })

	read := make(chan []byte, 1)
	reading.Go(func() {
		text, _ := io.ReadAll(io.LimitReader(process.LastWords(outR, s.limits.last), describeSize+1))
		read <- text
		_ = outR.Close()
	})
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(s.limits.describe):
		return nil, fault.New(fault.PluginDescribe, "%s did not describe itself within %s", b.path, s.limits.describe)
	case text := <-read:
		return text, s.checkDescribed(b, p, text)
	}
}

func (s *Supervisor) checkDescribed(b *program, p *process.Process, text []byte) error {
	switch {
	case len(text) > describeSize:
		return fault.New(fault.PluginDescribe, "%s printed more than %d bytes to describe itself", b.path, describeSize)
	case len(bytes.TrimSpace(text)) > 0:
		return nil
	case !p.Wait(s.limits.describe):
		return fault.New(fault.PluginDescribe, "%s printed nothing to describe itself and does not end", b.path)
	}
	return fault.New(fault.PluginDescribe, "%s printed nothing to describe itself and %s", b.path, p.Ended()).
		WithHint(notOurs)
}

// parseManifest reads a manifest and refuses one that cannot be used.
func parseManifest(text []byte) (sdk.Manifest, error) {
	var m sdk.Manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return m, errors.New("it is not JSON of the expected shape")
	}
	if m.Name == "" || m.Version == "" || len(m.Transports)+len(m.Auths)+len(m.SecretStores) == 0 {
		return m, errors.New("it lacks a name, a version or an offer")
	}
	return m, nil
}

// describes reports whether text says what m does. What this host does not know
// of either counts for nothing.
func describes(text []byte, m sdk.Manifest) bool {
	said, err := parseManifest(text)
	return err == nil && bytes.Equal(said.JSON(), m.JSON())
}

// speaks refuses a plugin that has no protocol in common with this host,
// before it is started.
func speaks(m sdk.Manifest) error {
	for _, ours := range wire.Majors() {
		if slices.Contains(m.Protocols, ours) {
			return nil
		}
	}
	if len(m.Protocols) == 0 {
		return fault.New(fault.PluginProtocol, "plugin %s %s names no protocol", m.Name, m.Version).WithHint("%s", rebuild)
	}
	return fault.New(fault.PluginProtocol, "plugin %s %s speaks protocol %s, this host speaks %s",
		m.Name, m.Version, majors(m.Protocols), majors(wire.Majors())).
		WithHint("%s", agree(slices.Min(m.Protocols)))
}

const rebuild = "rebuild the plugin with a current SDK, or install a later version of it"

// agree is what to do about a plugin that speaks no protocol before theirs.
func agree(theirs int) string {
	if theirs > slices.Max(wire.Majors()) {
		return "update junctor: the plugin was built for a later one"
	}
	return rebuild
}

// Check refuses the plugin that a configuration asks for by a name, when the
// program at path describes another one, or one that this host cannot run.
// source is as in [Find].
func Check(m sdk.Manifest, source, name, path string) error {
	if builtin, ok := strings.CutPrefix(source, BuiltinSource); ok {
		name = builtin
	}
	if m.Name != name {
		return fault.New(fault.PluginNotFound, "%s is the plugin %q, not %q", path, m.Name, name).
			WithHint("name it %q in plugins { required } and in transport, auth and secret_store blocks", m.Name)
	}
	return speaks(m)
}
