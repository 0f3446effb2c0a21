package plugintest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/wire"
)

// commonChecks returns the checks that apply to every plugin.
func commonChecks() []check {
	return []check{
		{"describe", checkDescribe},
		{"documentation", checkDocumentation},
		{"by hand", checkByHand},
		{"grease", checkGrease},
		{"lifeline", checkLifeline},
	}
}

// manifest returns the plugin's manifest, decoded as a host does.
func (s *subject) manifest(t testing.TB) sdk.Manifest {
	t.Helper()
	var m sdk.Manifest
	if err := json.Unmarshal(s.describe(t), &m); err != nil {
		t.Fatalf("the manifest is not JSON: %v", err)
	}
	return m
}

// A component is a transport, auth provider or secret store of a plugin.
type component struct{ kind, name string }

func (s *subject) schema(t testing.TB, c component) sdk.Schema {
	t.Helper()
	m := s.manifest(t)
	schema, ok := m.Transports[c.name]
	switch c.kind {
	case "auth":
		schema, ok = m.Auths[c.name]
	case "secret_store":
		schema, ok = m.SecretStores[c.name]
	}
	if !ok {
		t.Fatalf("the plugin has no %s %q", c.kind, c.name)
	}
	return schema
}

// checkDescribe checks that the manifest is stable, complete, small and quickly
// available.
func checkDescribe(t testing.TB, s *subject) {
	quick(t, "describe", describeTime, func() time.Duration {
		begun := time.Now()
		s.describe(t)
		return time.Since(begun)
	})
	first, second := s.describe(t), s.describe(t)
	if !bytes.Equal(first, second) {
		t.Error("two manifests of the plugin differ")
	}
	if len(first) > describeSize {
		t.Errorf("the manifest has %d bytes, the limit is %d", len(first), describeSize)
	}
	m := s.manifest(t)
	if m.Name == "" || m.Version == "" || !slices.Contains(m.Protocols, wire.Major) ||
		len(m.Transports)+len(m.Auths)+len(m.SecretStores) == 0 {
		t.Errorf("the manifest is incomplete: %+v", m)
	}
	if l := s.start(t, nil); !bytes.Equal(l.manifest, first) {
		t.Error("the running plugin reports a manifest that differs from the one it describes")
	}
}

// checkDocumentation checks that every setting has a description.
func checkDocumentation(t testing.TB, s *subject) {
	m := s.manifest(t)
	for name, schema := range m.Transports {
		documented(t, "transport "+name, schema)
	}
	for name, schema := range m.Auths {
		documented(t, "auth "+name, schema)
	}
	for name, schema := range m.SecretStores {
		documented(t, "secret store "+name, schema)
	}
}

func documented(t testing.TB, path string, s sdk.Schema) {
	for _, a := range s.Attributes {
		if a.Description == "" {
			t.Errorf("%s: %s has no description", path, a.Name)
		}
	}
	for _, b := range s.Blocks {
		if b.Schema.Description == "" {
			t.Errorf("%s: block %s has no description", path, b.Name)
		}
		documented(t, path+": "+b.Name, b.Schema)
	}
}

// checkByHand checks that the program explains itself when a user starts it.
func checkByHand(t testing.TB, s *subject) {
	if s.path == "" {
		t.Skip("not a program")
	}
	stdout, stderr, status := output(t, s.path)
	if status == 0 || stdout != "" || stderr == "" {
		t.Errorf(
			"started by hand: status %d, stdout %q, stderr %q; want a non-zero status and a message on stderr only",
			status, stdout, stderr,
		)
	}
}

// laterAttach is wire.AttachArgs with the fields of an imaginary later version.
type laterAttach struct {
	Call        wire.Call
	HostVersion string
	Features    []string
	LogLevel    string
	Later       map[string]string
	More        []wire.Diagnostic
}

// checkGrease checks that the plugin tolerates unknown fields, methods,
// components and settings.
func checkGrease(t testing.TB, s *subject) {
	l := s.start(t, nil)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var attached wire.AttachReply
	l.call(t, "Attach", laterAttach{
		HostVersion: "999.0.0", Features: append([]string{"grease-5f0c"}, wire.Features...), LogLevel: "no such level",
		Later: map[string]string{"a": "b"}, More: []wire.Diagnostic{{Path: "x"}},
	}, &attached)
	if attached.Status.Code != "" || attached.Services == 0 {
		t.Errorf("attaching a host of a later version: %+v", attached.Status)
	} else if conn, err := l.broker.Dial(attached.Services); err == nil {
		_ = conn.Close()
	}
	if err := l.rpc.Call("Plugin.Later", wire.HealthArgs{}, new(wire.Reply)); err == nil {
		t.Error("calling a method that does not exist succeeded")
	}
	for what, err := range map[string]error{
		"validating for an unknown transport": l.Validate(ctx, "transport", "grease-5f0c", []byte("{}")),
		"validating for an unknown provider":  l.Validate(ctx, "auth", "grease-5f0c", []byte("{}")),
		"validating for an unknown store":     l.Validate(ctx, "secret_store", "grease-5f0c", []byte("{}")),
		"opening an unknown store": l.StoreOpen(ctx,
			wire.StoreOpenArgs{Component: "grease-5f0c", Handle: "h"}),
		"starting an unknown provider": l.AuthStart(ctx, wire.AuthStartArgs{Component: "grease-5f0c", Handle: "h"}),
		"opening an unknown transport": opening(l.Open(ctx, wire.OpenArgs{Component: "grease-5f0c", Instance: "i"})),
	} {
		if l.note(err); sdk.CodeOf(err) != sdk.Unimplemented {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := l.Close(ctx, "never opened", 0); err != nil {
		t.Errorf("closing a connection that is not open: %v", err)
	}
	l.call(t, "Cancel", wire.CancelArgs{ID: 1 << 62}, new(wire.Reply))
	m := s.manifest(t)
	for kind, names := range map[string]map[string]sdk.Schema{"transport": m.Transports,
		"auth": m.Auths, "secret_store": m.SecretStores} {
		for name := range names {
			for _, settings := range []string{"", "\x00", "[]", `"x"`, strings.Repeat("[", 1000), `{"":{}}`,
				`{"a":` + strings.Repeat("9", 400) + `}`} {
				if err := l.note(l.Validate(ctx, kind, name, []byte(settings))); sdk.CodeOf(err) == sdk.Panicked {
					t.Errorf("the settings %.20q make %s %s panic", settings, kind, name)
				}
			}
		}
	}
	if err := l.Health(ctx); err != nil {
		t.Errorf("health after these calls: %v", err)
	}
}

func opening(s *wire.Stream, err error) error {
	if s != nil {
		_ = s.Close()
	}
	return err
}

// call calls a method without the checks of wire.Client.
func (l *link) call(t testing.TB, method string, args, reply any) {
	t.Helper()
	if err := within(t, method, func() error { return l.rpc.Call("Plugin."+method, args, reply) }); err != nil {
		t.Errorf("%s: %v", method, err)
	}
}

// checkLifeline checks that the program ends soon after its lifeline.
func checkLifeline(t testing.TB, s *subject) {
	if s.path == "" {
		t.Skip("not a program")
	}
	quick(t, "ending after the host", time.Second, func() time.Duration {
		l := s.start(t, nil)
		begun := time.Now()
		_ = l.process.stdin.Close()
		if !l.process.endsWithin(patience) {
			t.Fatal("the program outlives its host")
		}
		return time.Since(begun)
	})
}

// checkRefusals checks that settings are rejected with the right paths.
func checkRefusals(t testing.TB, s *subject, c component, refused []Refusal) {
	schema := s.schema(t, c)
	refused = append(slices.Clip(refused),
		Refusal{Settings: `{"no_such_setting_5f0c":true}`, Paths: []string{"no_such_setting_5f0c"}})
	var required []string
	for _, a := range schema.Attributes {
		if a.Required {
			required = append(required, a.Name)
		}
	}
	if len(required) > 0 {
		refused = append(refused, Refusal{Settings: "{}", Paths: required})
	}
	l := s.start(t, nil)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for _, r := range refused {
		complaints := flatten(l.note(l.Validate(ctx, c.kind, c.name, []byte(r.Settings))))
		var paths []string
		for _, e := range complaints {
			paths = append(paths, e.Path)
			if e.Code != sdk.Invalid {
				t.Errorf("settings %s were rejected with the code %s: %v", r.Settings, e.Code, e)
			}
			if e.Message == "" {
				t.Errorf("settings %s were rejected without a message", r.Settings)
			}
			if !slices.Contains(r.Paths, e.Path) && !exists(&schema, e.Path) {
				t.Errorf("settings %s were rejected at %q, which is not a setting", r.Settings, e.Path)
			}
		}
		for _, want := range r.Paths {
			if !slices.Contains(paths, want) {
				t.Errorf("settings %s were not rejected at %q but at %q: %v", r.Settings, want, paths, complaints)
			}
		}
		if len(complaints) == 0 {
			t.Errorf("settings %s were not rejected", r.Settings)
		}
	}
}

// exists reports whether a schema has the setting that a path names. The empty
// path names the settings as a whole.
func exists(s *sdk.Schema, path string) bool {
	name, rest := path, ""
	if i := strings.IndexAny(path, ".["); i >= 0 {
		name, rest = path[:i], path[i:]
	}
	b := s.Block(name)
	switch {
	case path == "":
		return true
	case s.Attribute(name) != nil:
		return rest == "" || strings.HasPrefix(rest, "[")
	case b == nil:
		return false
	}
	if b.List && strings.HasPrefix(rest, "[") {
		var n int
		if _, err := fmt.Sscanf(rest, "[%d]", &n); err != nil {
			return false
		}
		_, rest, _ = strings.Cut(rest, "]")
	}
	inner, below := strings.CutPrefix(rest, ".")
	return rest == "" || below && (inner == b.Label || exists(&b.Schema, inner))
}
