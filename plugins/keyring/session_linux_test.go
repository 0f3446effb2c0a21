package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/plugintest"
)

// session starts a session bus, runs a shell script in it and returns its
// address. The test's cleanup ends it. Without a GNOME key ring the test is
// skipped, unless JUNCTOR_REQUIRE_KEYRING is set.
func session(t *testing.T, home, script string) (address string) {
	t.Helper()
	for _, program := range []string{"dbus-run-session", "gnome-keyring-daemon"} {
		if _, err := exec.LookPath(program); err != nil {
			if os.Getenv("JUNCTOR_REQUIRE_KEYRING") != "" {
				t.Fatal(err)
			}
			t.Skip(err)
		}
	}
	c := exec.Command("dbus-run-session", "--", "sh", "-c",
		script+`; echo "address $DBUS_SESSION_BUS_ADDRESS"; exec cat`)
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_RUNTIME_DIR=" + home}
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close() // ends cat, which ends the session
		_ = c.Wait()
	})
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if address, ok := strings.CutPrefix(lines.Text(), "address "); ok {
			return address
		}
	}
	t.Fatal("the session did not start")
	return ""
}

const unlock = "printf pw | gnome-keyring-daemon --unlock --components=secrets"

func vaultAt(address string) *vault {
	v := newVault("secret-service", "login")
	v.bus, v.patience = address, 10*patience // the machine may be busy
	return v
}

func TestKeyRing(t *testing.T) {
	home := t.TempDir()
	t.Run("unlocked", func(t *testing.T) {
		v := vaultAt(session(t, home, unlock))
		if _, found, err := v.Secret(t.Context(), key); found || err != nil {
			t.Fatal(found, err)
		}
		for _, size := range []int{0, 10, sdk.MaxSecret} {
			if err := v.SetSecret(t.Context(), key, value(size), "label"); err != nil {
				t.Fatal(err)
			}
			if got, found, err := v.Secret(t.Context(), key); err != nil || !found || !bytes.Equal(got, value(size)) {
				t.Fatalf("%d bytes: %d, %v, %v", size, len(got), found, err)
			}
		}
		several(t, v)
		if err := v.DeleteSecret(t.Context(), key); err != nil {
			t.Fatal(err)
		}
		keys, err := v.Keys(t.Context())
		if slices.Sort(keys); err != nil || !slices.Equal(keys, []string{key + "1", key + "2", key + "3"}) {
			t.Fatal(keys, err)
		}
		other := vaultAt(v.bus)
		other.collection = "elsewhere"
		_, err = other.Keys(t.Context())
		wantReason(t, err, "absent")
	})
	t.Run("locked", func(t *testing.T) {
		v := vaultAt(session(t, home, ":")) // the bus starts the key ring on demand
		began := time.Now()
		_, _, get := v.Secret(t.Context(), key)
		_, list := v.Keys(t.Context())
		for _, err := range []error{get, list, v.SetSecret(t.Context(), key, nil, ""), v.DeleteSecret(t.Context(),
			key)} {
			wantReason(t, err, "locked")
			if e, _ := errors.AsType[*sdk.Error](err); e.Hint == "" {
				t.Error("no hint")
			}
		}
		if took := time.Since(began); took > 5*4*3*time.Second {
			t.Errorf("four errors took %v", took)
		}
	})
}

// several stores three secrets concurrently.
func several(t *testing.T, v *vault) {
	var all sync.WaitGroup
	for i := range 3 {
		all.Go(func() {
			if err := v.SetSecret(t.Context(), fmt.Sprint(key, 3-i), value(10), ""); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// TestKeyRingNew checks the error for a user who has never logged in to a
// desktop.
func TestKeyRingNew(t *testing.T) {
	_, err := vaultAt(session(t, t.TempDir(), ":")).Keys(t.Context())
	wantReason(t, err, "absent")
}

func TestNoKeyRing(t *testing.T) {
	for name, address := range map[string]string{
		"no listener": "unix:path=" + filepath.Join(t.TempDir(), "bus"),
		"no address":  "nonsense",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := vaultAt(address).Keys(t.Context())
			wantReason(t, err, "absent")
		})
	}
	t.Run("no bus", func(t *testing.T) {
		if _, err := os.Stat(fmt.Sprintf("/run/user/%d/bus", os.Getuid())); err == nil {
			t.Skip("this machine has a session bus")
		}
		t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
		_, err := vaultAt("").Keys(t.Context())
		wantReason(t, err, "absent")
	})
	t.Run("a bus without one", func(t *testing.T) {
		_, err := vaultAt(emptyBus(t)).Keys(t.Context())
		wantReason(t, err, "absent")
	})
}

// emptyBus starts a bus without services.
func emptyBus(t *testing.T) (address string) {
	t.Helper()
	dir := t.TempDir()
	config := filepath.Join(dir, "bus.conf")
	if err := os.WriteFile(config,
		fmt.Appendf(nil, `<busconfig><type>session</type><listen>unix:path=%s/bus</listen><policy context="default">
		<allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>`,
			dir), 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.Command("dbus-daemon", "--nofork", "--print-address", "--config-file="+config)
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if errors.Is(err, exec.ErrNotFound) && os.Getenv("JUNCTOR_REQUIRE_KEYRING") == "" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = c.Process.Kill(), c.Wait() })
	lines := bufio.NewScanner(out)
	lines.Scan()
	return lines.Text()
}

// mute starts a bus that accepts connections and never answers.
func mute(t *testing.T) (address string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "bus")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			if _, err := l.Accept(); err != nil {
				return
			}
		}
	}()
	return "unix:path=" + path
}

// TestMute makes two concurrent requests to a mute bus. Both fail after the
// same timeout.
func TestMute(t *testing.T) {
	v := vaultAt(mute(t))
	if v.patience = 2 * time.Second; patience > 2500*time.Millisecond {
		t.Errorf("the plugin waits %v, but the host waits 3 s", patience)
	}
	began := time.Now()
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			_, _, err := v.Secret(t.Context(), key)
			if e, ok := errors.AsType[*sdk.Error](err); !ok || e.Reason != "mute" || e.Code != sdk.Deadline {
				t.Errorf("%#v", err)
			}
		})
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := v.Keys(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > v.patience {
		t.Errorf("%v after %v", err, time.Since(began))
	}
	all.Wait()
	if took := time.Since(began); took >= 2*v.patience {
		t.Errorf("it took %v", took)
	}
}

// TestImpatient checks with many short deadlines on a mute bus that the error
// is always that of the deadline.
func TestImpatient(t *testing.T) {
	v := vaultAt(mute(t))
	for i := range 40 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*time.Millisecond)
		if _, err := v.Keys(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("with %d ms: %v", i, err)
		}
		cancel()
	}
}

// TestProgram runs plugintest with a mute bus, and checks that the program does
// not start a bus.
func TestProgram(t *testing.T) {
	path := plugintest.Build(t, ".")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "dbus-launch"), []byte("#!/bin/sh\ntouch \""+dir+"/launched\"\n"),
		0o700); err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{mute(t), "autolaunch:", ""} {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		c := exec.CommandContext(ctx, path, "describe")
		c.Env = []string{"PATH=" + dir + ":/usr/bin:/bin", "DBUS_SESSION_BUS_ADDRESS=" + address}
		if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), `"secret_stores"`) {
			t.Errorf("describe with the bus %q: %v, %s", address, err, out)
		}
		cancel()
	}
	if _, err := os.Stat(filepath.Join(dir, "launched")); err == nil {
		t.Error("the program started a bus")
	}
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", mute(t))
	plugintest.Binary(t, path)
}
