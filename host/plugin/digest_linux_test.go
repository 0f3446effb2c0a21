package plugin

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
)

// settledHost returns a host that stores digests at once, a private copy of the plugin,
// and its digest, which is stored.
func settledHost(t *testing.T) (h *testHost, path, digest string) {
	t.Helper()
	h = newHost(t, storesAtOnce)
	path = h.copied("")
	s := h.another()
	storesAtOnce(&testHost{Supervisor: s})
	_, digest, err := s.DescribeUnverified(h.soon(), path, "")
	if err != nil {
		t.Fatal(err)
	}
	return h, path, digest
}

func storesAtOnce(h *testHost) { h.limits.settled = -time.Minute }

// storeDigest replaces the stored digest of a program, which stays the same version.
func (h *testHost) storeDigest(path, digest string) {
	h.t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		h.t.Fatal(err)
	}
	version, _ := fileVersion(info)
	text, err := json.Marshal(knownDigest{File: version, SHA256: digest})
	if err != nil {
		h.t.Fatal(err)
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		h.t.Fatal(err)
	}
	h.opts.Cache.Write(digestName(real), text)
}

// TestStoredDigest checks that an unchanged program is hashed only before it runs.
func TestStoredDigest(t *testing.T) {
	h, path, digest := settledHost(t)
	if _, got, err := h.DescribeUnverified(h.soon(), path, ""); err != nil || got != digest {
		t.Fatalf("%s, %v", got, err)
	}
	b := h.programs.of(path).program
	if b.hashed {
		t.Error("the program was hashed to describe it")
	}
	r := h.request("", "", "")
	r.Spec.Path = path
	h.mustOpen(r).echoes(t)
	if !b.hashed {
		t.Error("the program was not hashed before it ran")
	}

	replace(t, path, func(b []byte) { b[len(b)-1] ^= 0xff })
	if _, got, err := h.another().DescribeUnverified(h.soon(), path, ""); err != nil || got == digest {
		t.Errorf("changed: %s, %v", got, err)
	}
}

// TestFalseStoredDigest checks that a program does not run, and is not described as
// verified, if the cache has another digest for it. The digest is forgotten.
func TestFalseStoredDigest(t *testing.T) {
	h, path, digest := settledHost(t)
	manifest, ok := h.opts.Cache.Read(filepath.Join("manifests", digest+".json"))
	if !ok {
		t.Fatal("there is no manifest in the cache")
	}
	other := strings.Repeat("0", len(digest))
	h.opts.Cache.Write(filepath.Join("manifests", other+".json"), manifest)

	for name, use := range map[string]func(*testHost) error{
		"start": func(h *testHost) error {
			r := h.request("", "", "")
			r.Spec.Path = path
			_, err := h.Open(h.soon(), r)
			return err
		},
		"describe": func(h *testHost) error {
			_, _, err := h.Describe(h.soon(), path, "")
			return err
		},
		"pinned start": func(h *testHost) error {
			if _, _, err := h.DescribeUnverified(h.soon(), path, ""); err != nil {
				return err
			}
			r := h.request("", "", "")
			r.Spec.Path, r.Spec.SHA256 = path, other
			_, err := h.Open(h.soon(), r)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			h.storeDigest(path, other)
			with := &testHost{Supervisor: h.another(), t: t, dir: h.dir, env: h.env, logs: h.logs}
			mustFail(t, use(with), fault.PluginChecksum, digest)
			if _, got, err := h.another().DescribeUnverified(h.soon(), path, ""); err != nil || got != digest {
				t.Errorf("afterwards: %s, %v", got, err)
			}
		})
	}

	h.storeDigest(path, other)
	_, _, err := h.another().DescribeUnverified(h.soon(), path, other)
	mustFail(t, err, fault.PluginChecksum, digest)
}

// TestInvalidStoredDigest checks that an invalid digest is ignored. It would be part of a
// file name.
func TestInvalidStoredDigest(t *testing.T) {
	h, path, digest := settledHost(t)
	for _, bad := range []string{"", "../x", strings.ToUpper(digest), digest[2:], digest + "00"} {
		h.storeDigest(path, bad)
		if _, got, err := h.another().DescribeUnverified(h.soon(), path, ""); err != nil || got != digest {
			t.Errorf("%q: %s, %v", bad, got, err)
		}
	}
}

// TestRecentProgramIsNotStored checks that the digest of a program that has just changed
// is not stored: the next change could have the same time.
func TestRecentProgramIsNotStored(t *testing.T) {
	h := newHost(t, func(h *testHost) { h.limits.settled = time.Hour })
	path := h.copied("")
	if _, _, err := h.DescribeUnverified(h.soon(), path, ""); err != nil {
		t.Fatal(err)
	}
	if stored, _ := filepath.Glob(filepath.Join(h.dir, "cache", "programs", "*")); len(stored) > 0 {
		t.Errorf("stored: %q", stored)
	}
}
