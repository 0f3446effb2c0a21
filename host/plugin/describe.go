package plugin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/truncate"
	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/process"
	"github.com/junctor-mcp/junctor/sdk/wire"
)

// describeSize is the maximum size of a manifest, in bytes.
const describeSize = 1 << 20

// described returns the manifest of the program at path, and its digest.
func (s *knownPrograms) described(ctx context.Context, path, pin string) (m sdk.Manifest, digest string, err error) {
	b, m, err := s.describedProgram(ctx, path, pin)
	if err != nil {
		return sdk.Manifest{}, "", err
	}
	defer s.release(b)
	if err := b.verify(s.opts.Cache); err != nil {
		return sdk.Manifest{}, "", err
	}
	return m, b.digest, nil
}

// describedUnverified is described, and may take the digest of a program without a pin from
// the cache. The program is hashed before it runs.
func (s *knownPrograms) describedUnverified(ctx context.Context, path, pin string) (
	m sdk.Manifest, digest string, err error,
) {
	b, m, err := s.describedProgram(ctx, path, pin)
	if err != nil {
		return sdk.Manifest{}, "", err
	}
	defer s.release(b)
	if s.opts.OneShot { // most commands are about to start the program
		s.verifyEarly(b)
	}
	return m, b.digest, nil
}

// describedProgram returns the program that is at path now, and its manifest. It fails if pin is
// set and is not the digest of the program. Callers for one path wait for each other. The caller
// releases the program.
func (s *knownPrograms) describedProgram(ctx context.Context, path, pin string) (*program, sdk.Manifest, error) {
	k := s.of(path)
	k.learning.Lock()
	defer k.learning.Unlock()
	if s.ctx.Err() != nil {
		return nil, sdk.Manifest{}, shuttingDown()
	}
	if k.program == nil || !k.program.current(path) {
		b, err := s.openFor(path, pin)
		if err != nil {
			return nil, sdk.Manifest{}, err
		}
		m, err := s.describePinned(ctx, b, pin)
		if err != nil {
			b.close()
			return nil, sdk.Manifest{}, err
		}
		s.put(k, b, m)
	}
	if err := s.checkVerifiedPin(k.program, pin); err != nil {
		return nil, sdk.Manifest{}, err
	}
	return s.use(k.program), k.manifest, nil
}

// checkVerifiedPin is checkPin for a program that was perhaps opened without a pin.
func (s *knownPrograms) checkVerifiedPin(b *program, pin string) error {
	if pin != "" {
		if err := b.verify(s.opts.Cache); err != nil {
			return err
		}
	}
	return checkPin(b, pin)
}

// openFor opens a program. Its digest is computed if there is a pin, and otherwise may be
// from the cache.
func (s *knownPrograms) openFor(path, pin string) (*program, error) {
	if pin != "" {
		return openProgram(path)
	}
	return s.openRemembered(path)
}

// describePinned describes a program after checking its digest.
func (s *knownPrograms) describePinned(ctx context.Context, b *program, pin string) (sdk.Manifest, error) {
	if err := checkPin(b, pin); err != nil {
		return sdk.Manifest{}, err
	}
	return s.describe(ctx, b)
}

// checkPin fails if pin is set and differs from the digest of the program.
func checkPin(b *program, pin string) error {
	if pin == "" || strings.EqualFold(pin, b.digest) {
		return nil
	}
	return fault.New(fault.PluginChecksum, "%s has sha256 %s, the configuration requires %s", b.path, b.digest, pin).
		WithHint("if you replaced the program intentionally, update sha256; otherwise do not run it")
}

// describe returns the manifest of a program from the cache, or by running the program
// with the argument "describe". The cache key is the digest, so entries stay valid.
func (s *knownPrograms) describe(ctx context.Context, b *program) (sdk.Manifest, error) {
	name := filepath.Join("manifests", b.digest+".json")
	if text, ok := s.opts.Cache.Read(name); ok {
		if m, err := parseManifest(text); err == nil {
			return m, nil
		}
		// The cached file is invalid and is replaced below.
	}
	if err := b.verify(s.opts.Cache); err != nil {
		return sdk.Manifest{}, err
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
		f.Output = said.last(outputLines)
		if len(f.Output) > 0 && f.Hint == notPluginHint {
			f.Hint = "" // the program explains the failure itself
		}
	}
	return sdk.Manifest{}, err
}

const notPluginHint = "check that the file is a Junctor plugin; a plugin prints a manifest when it runs with the argument describe"

// noManifest returns the fault for output that is not exactly a manifest.
func noManifest(path string, text []byte, err error) *fault.Error {
	const hint = "a plugin must not write to standard output before serve.Main; use standard error for messages"
	if object := bytes.TrimSpace(text); json.Valid(object) && object[0] == '{' {
		return fault.Because(fault.PluginDescribe, err, "%s printed an invalid manifest", path)
	}
	var manifest json.RawMessage
	after := json.NewDecoder(bytes.NewReader(text))
	if after.Decode(&manifest) == nil && len(manifest) > 1 && manifest[0] == '{' {
		return fault.New(fault.PluginDescribe, "%s printed text after its manifest, which begins with %s",
			path, beginning(text[after.InputOffset():])).
			WithHint(hint)
	}
	return fault.New(fault.PluginDescribe, "%s did not print a manifest: its output begins with %s",
		path, beginning(text)).WithHint(hint)
}

// beginning quotes the first line of a text, up to 60 characters.
func beginning(text []byte) string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(text[:min(len(text), describeSize)])), "\n")
	return strconv.Quote(truncate.Runes(strings.TrimSpace(plain(line)), 60))
}

// runDescribe runs the program with limits on time and output. Its standard error
// goes to a journal. It blocks, and returns when the process has ended and its output is read.
func (s *knownPrograms) runDescribe(ctx context.Context, b *program, said *journal) ([]byte, error) {
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
		Env: s.opts.environment(nil), Dir: os.TempDir(), Stdout: outW, Stderr: errW,
	})
	closeFiles([]*os.File{outW, errW})
	if err != nil {
		closeFiles([]*os.File{outR, errR})
		return nil, startError(b, err)
	}
	var reading sync.WaitGroup
	defer reading.Wait()
	defer func() { p.Kill(); <-p.Done() }()
	reading.Go(func() { readLines(errR, s.limits.lastOutput, said) })
	reading.Go(func() { interruptReads(p, outR, errR) })

	read := make(chan []byte, 1)
	reading.Go(func() {
		text, _ := io.ReadAll(io.LimitReader(process.LastWords(outR, s.limits.lastOutput), describeSize+1))
		read <- text
		_ = outR.Close()
	})
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(s.limits.describe):
		return nil, fault.New(fault.PluginDescribe, "%s did not describe itself within %s", b.path, s.limits.describe).
			WithHint(notPluginHint)
	case text := <-read:
		return text, s.checkDescribed(b, p, text)
	}
}

func (s *knownPrograms) checkDescribed(b *program, p *process.Process, text []byte) error {
	switch {
	case len(text) > describeSize:
		return fault.New(fault.PluginDescribe, "%s printed more than %d bytes as its manifest", b.path, describeSize).
			WithHint(notPluginHint)
	case len(bytes.TrimSpace(text)) > 0:
		return nil
	case !p.Wait(s.limits.describe):
		return fault.New(fault.PluginDescribe, "%s printed no manifest and did not exit", b.path).
			WithHint(notPluginHint)
	}
	return fault.New(fault.PluginDescribe, "%s printed no manifest and %s", b.path, p.Ended()).
		WithHint(notPluginHint)
}

// parseManifest decodes a manifest and rejects an unusable one.
func parseManifest(text []byte) (sdk.Manifest, error) {
	var m sdk.Manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return m, errors.New("it is not JSON of the expected structure")
	}
	if m.Name == "" || m.Version == "" || len(m.Transports)+len(m.Auths)+len(m.SecretStores) == 0 {
		return m, errors.New("it lacks a name, a version or a component")
	}
	return m, nil
}

// describes reports whether text is equivalent to the manifest m. It ignores members
// that this host does not know.
func describes(text []byte, m sdk.Manifest) bool {
	said, err := parseManifest(text)
	return err == nil && bytes.Equal(said.JSON(), m.JSON())
}

// checkProtocol fails if the plugin has no protocol version in common with this host.
// It is called before the plugin starts.
func checkProtocol(m sdk.Manifest) error {
	for _, ours := range wire.Majors() {
		if slices.Contains(m.Protocols, ours) {
			return nil
		}
	}
	if len(m.Protocols) == 0 {
		return fault.New(fault.PluginProtocol, "plugin %s %s names no protocol version", m.Name, m.Version).
			WithHint("%s", rebuild)
	}
	return fault.New(fault.PluginProtocol, "plugin %s %s speaks protocol %s, this host speaks %s",
		m.Name, m.Version, majors(m.Protocols), majors(wire.Majors())).
		WithHint("%s", protocolHint(slices.Min(m.Protocols)))
}

const rebuild = "rebuild the plugin with a current SDK, or install a later version of the plugin"

// protocolHint returns the hint for a plugin whose oldest protocol version is theirs.
func protocolHint(theirs int) string {
	if theirs > slices.Max(wire.Majors()) {
		return "update junctor: the plugin was built for a later version"
	}
	return rebuild
}

// Check validates the plugin that a configuration requires by name. It fails if the
// program at path describes another plugin, or one that this host cannot run. source
// is as in [Find].
func Check(m sdk.Manifest, source, name, path string) error {
	if builtin, ok := strings.CutPrefix(source, BuiltinSource); ok {
		name = builtin
	}
	if m.Name != name {
		return fault.New(fault.PluginNotFound, "%s is the plugin %q, not %q", path, m.Name, name).
			WithHint("name it %q in plugins { required } and in transport, auth and secret_store blocks", m.Name)
	}
	return checkProtocol(m)
}

// describedCached returns the cached manifest of the program at path, and its digest.
func (s *knownPrograms) describedCached(path, pin string) (sdk.Manifest, string, error) {
	b, err := s.openFor(path, pin)
	if err != nil {
		return sdk.Manifest{}, "", err
	}
	defer b.close()
	if err := checkPin(b, pin); err != nil {
		return sdk.Manifest{}, "", err
	}
	if text, ok := s.opts.Cache.Read(filepath.Join("manifests", b.digest+".json")); ok {
		if m, err := parseManifest(text); err == nil {
			return m, b.digest, nil
		}
	}
	return sdk.Manifest{}, "", fault.New(fault.PluginDescribe, "there is no cached description of %s", path).
		WithHint("run `junctor validate` once")
}
