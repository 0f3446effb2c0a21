package audit

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
)

// writeKeys writes a pair of keys and returns their paths.
func writeKeys(t *testing.T) (private, public string) {
	t.Helper()
	pub, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, kind string, der []byte, err error) string {
		path := filepath.Join(t.TempDir(), name)
		if err == nil {
			err = os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	private = write("key.pem", "PRIVATE KEY", der, err)
	der, err = x509.MarshalPKIXPublicKey(pub)
	return private, write("key.pub", "PUBLIC KEY", der, err)
}

// TestSignedHeadsFindChangedChain makes a chain again, which only the signed heads show.
func TestSignedHeadsFindChangedChain(t *testing.T) {
	private, public := writeKeys(t)
	key, err := LoadSignKey(private)
	if err != nil {
		t.Fatal(err)
	}
	pub, err := LoadPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	_, other := writeKeys(t)
	stranger, err := LoadPublicKey(other)
	if err != nil {
		t.Fatal(err)
	}
	path := newPath(t)
	l := newLog(t, Settings{File: path, SignKey: key})
	record := func(from, to int) {
		for n := from; n <= to; n++ {
			e := sample(n)
			_, _ = l.Begin()
			l.End(&e)
		}
		l.Close()
	}
	record(1, 20)
	heads, bad, err := SignedHeads(path, pub)
	if err != nil || len(bad) > 0 || len(heads) != 1 || !strings.HasPrefix(heads[0], "20:") {
		t.Fatalf("%v, %v, %v", heads, bad, err)
	}
	verified(t, path, heads...)
	if heads, bad, err := SignedHeads(path, stranger); err != nil || len(heads) > 0 || len(bad) != 2 {
		t.Errorf("with another key: %v, %v, %v", heads, bad, err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	l = newLog(t, Settings{File: path}) // without the key
	record(2, 30)
	if verified(t, path); t.Failed() {
		t.Fatal("a whole new chain shows without heads")
	}
	all, err := VerifyAll(t.Context(), path, heads)
	if err != nil || len(all[0].Findings) != 1 || all[0].Findings[0].Problem != "altered" {
		t.Errorf("%+v, %v", all[0], err)
	}
	if _, _, err := SignedHeads(newPath(t), pub); err == nil {
		t.Error("a log without signed heads is verified with a key")
	}
}

// TestHeadsAreLoggedHourly sets the time of the last line back.
func TestHeadsAreLoggedHourly(t *testing.T) {
	var said bytes.Buffer
	l := New(Options{Log: hclog.New(&hclog.LoggerOptions{Output: &said})})
	l.settings.Store(&Settings{})
	w := &writer{log: l, sink: &lines{to: &bytes.Buffer{}}}
	for _, c := range []struct {
		ago  time.Duration
		rows int
		want int
	}{{59 * time.Minute, 1, 0}, {time.Hour, 1, 1}, {time.Hour, 0, 0}, {2 * time.Hour, 3, 1}} {
		said.Reset()
		w.said = time.Now().Add(-c.ago)
		for range c.rows {
			w.commit([]entry{{Event: sample(1)}})
		}
		w.logHeadLater() // as the tick does
		if got := strings.Count(said.String(), "head="); got != c.want {
			t.Errorf("%v after the last line, %d rows: %d lines, want %d", c.ago, c.rows, got, c.want)
		}
	}
}

// TestKeysOfHeadsAreChecked refuses files that are no key, or that other users can read.
func TestKeysOfHeadsAreChecked(t *testing.T) {
	private, public := writeKeys(t)
	if _, err := LoadPublicKey(private); err == nil {
		t.Error("a private key is taken for a public one")
	}
	if _, err := LoadSignKey(public); err == nil {
		t.Error("a public key is taken for a private one")
	}
	if _, err := LoadSignKey(private + ".missing"); err == nil {
		t.Error("a missing file is a key")
	}
	if err := os.Chmod(private, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadSignKey(private); writableBits && (err == nil || !strings.Contains(err.Error(), "other users")) {
		t.Errorf("a key that others can read: %v", err)
	}
}
