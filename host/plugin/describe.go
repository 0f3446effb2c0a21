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
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/process"
	"github.com/junctor-mcp/junctor/sdk/wire"
)

const (
	describeTime = 5 * time.Second
	describeSize = 1 << 20
)

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
	text, err := s.runDescribe(ctx, b)
	if err != nil {
		return sdk.Manifest{}, err
	}
	m, err := parseManifest(text)
	if err != nil {
		return sdk.Manifest{}, fault.Because(fault.PluginDescribe, err, "%s printed what is not a manifest", b.path)
	}
	s.opts.Cache.Write(name, text)
	return m, nil
}

// runDescribe runs the program, bounded in time and output.
func (s *Supervisor) runDescribe(ctx context.Context, b *program) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, describeTime)
	defer cancel()
	outR, outW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer outR.Close()
	p, err := process.Start(process.Command{
		Path: b.path, File: b.file, Args: []string{b.path, "describe"},
		Env: s.environment(nil), Dir: os.TempDir(), Stdout: outW,
	})
	_ = outW.Close()
	if err != nil {
		return nil, cannotRun(b, err)
	}
	defer func() { p.Kill(); <-p.Done() }()

	type output struct {
		text []byte
		err  error
	}
	read := make(chan output, 1)
	go func() {
		text, err := io.ReadAll(io.LimitReader(outR, describeSize+1))
		read <- output{text, err}
	}()
	select {
	case <-ctx.Done():
		return nil, fault.New(fault.PluginDescribe, "%s did not describe itself within %s", b.path, describeTime)
	case out := <-read:
		if out.err != nil {
			return nil, fault.Because(fault.PluginDescribe, out.err, "reading what %s printed", b.path)
		}
		if len(out.text) > describeSize {
			return nil, fault.New(fault.PluginDescribe, "%s printed more than %d bytes to describe itself", b.path, describeSize)
		}
		if len(bytes.TrimSpace(out.text)) == 0 {
			p.Wait(describeTime)
			return nil, fault.New(fault.PluginDescribe, "%s printed nothing to describe itself and %s", b.path, p.Ended()).
				WithHint("is it a Junctor plugin?")
		}
		return out.text, nil
	}
}

// parseManifest reads a manifest and refuses one that cannot be used.
func parseManifest(text []byte) (sdk.Manifest, error) {
	var m sdk.Manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return m, errors.New("it is not JSON of the expected shape")
	}
	if m.Name == "" || m.Version == "" || len(m.Transports)+len(m.Auths) == 0 {
		return m, errors.New("it lacks a name, a version or an offer")
	}
	return m, nil
}

// speaks refuses a plugin that has no protocol in common with this host,
// before it is started.
func speaks(m sdk.Manifest) error {
	for _, ours := range wire.Majors() {
		if slices.Contains(m.Protocols, ours) {
			return nil
		}
	}
	return fault.New(fault.PluginProtocol, "plugin %s %s speaks protocol %s, this host speaks %s",
		m.Name, m.Version, majors(m.Protocols), majors(wire.Majors())).
		WithHint("rebuild the plugin with a current SDK, or use the Junctor it was made for")
}
