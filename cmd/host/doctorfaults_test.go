//go:build unix

package main

import (
	"bufio"
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/junctor-mcp/junctor/cmd/host/listreader"
	"github.com/junctor-mcp/junctor/host/doctor"
	"github.com/junctor-mcp/junctor/sdk/process"
	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// plantedFaults lists the faults, with what doctor has to say.
func plantedFaults() []plantedFault {
	return slices.Concat(faultsOfFiles(), faultsOfServers(), faultsOfProcesses(), faultsOfTheGateway())
}

// faultsOfFiles are faults of the configuration, of plugins, directories and clients.
func faultsOfFiles() []plantedFault {
	return []plantedFault{
		{"unknown attribute", func(s *sickbed) {
			s.configure(strings.Replace(healthy, "  transport", "  protocl = \"auto\"\n  transport", 1))
		},
			"configuration", doctor.Error, `unknown attribute "protocl"`, `did you mean "protocol"`, false},
		{"configuration that others can change", func(s *sickbed) { s.chmod("junctor.hcl", 0o666) },
			"configuration", doctor.Error, `can be written to by everybody`, "chmod go-w", true},
		{"no configuration",
			func(s *sickbed) { s.setenv("JUNCTOR_CONFIG=", "HOME="+s.in("nowhere")); s.remove("junctor.hcl") },
			"configuration", doctor.Error, `no configuration found`, "`junctor init`", false},
		{"untrusted configuration", func(s *sickbed) { s.setenv("JUNCTOR_CONFIG=") },
			"trust", doctor.Error, `is not trusted`, "`junctor trust`", false},
		{"changed configuration", func(s *sickbed) {
			s.setenv("JUNCTOR_CONFIG=")
			s.trust()
			s.configure(healthy + "server \"more\" {\n  transport \"stdio\" {\n    command = [\"more\"]\n  }\n}\n")
		}, "trust", doctor.Error, `has changed since it was trusted`, "`junctor trust`", false},
		{"trusted configuration that is gone", func(s *sickbed) {
			s.write("other/junctor.hcl", healthy, 0o600)
			s.must("trust", "other", "--yes")
			s.remove("other/junctor.hcl")
		}, "trust", doctor.Warning, `a trusted configuration is gone: .*other/junctor.hcl`,
			"`junctor trust --revoke $DIR/other/junctor.hcl`", false},
		{"audit log where no directory can be created",
			func(s *sickbed) { s.configure(healthy + "audit {\n  file = \"/proc/junctor/audit.db\"\n}\n") },
			"directories", doctor.Error, `the audit log's directory does not exist and cannot be created in /`,
			"`mkdir -p /proc/junctor`", false},
		{"plugin that is missing",
			func(s *sickbed) { s.configure(pluginFile("acme", "./junctor-plugin-acme", "") + healthy) },
			"plugins", doctor.Error, `junctor-plugin-acme`, "correct source in plugins", false},
		{"plugin that is not executable", func(s *sickbed) {
			s.configure(pluginFile("bearer", "./own/junctor-plugin-bearer", "") + healthy)
			s.copyPlugin("bearer", "own/junctor-plugin-bearer", 0o644)
		}, "plugins", doctor.Error, `not executable|permission`, "chmod", false},
		{"plugin with another digest", func(s *sickbed) {
			s.configure(pluginFile("bearer", "./own/junctor-plugin-bearer", strings.Repeat("ab", 32)) + healthy)
			s.copyPlugin("bearer", "own/junctor-plugin-bearer", 0o755)
		}, "plugins", doctor.Error, `sha256|SHA-256|digest`, "sha256", false},
		{"plugin of an older SDK", func(s *sickbed) {
			s.configure(pluginFile("acme", "./junctor-plugin-acme", "") + healthy)
			s.oldPlugin()
		}, "plugins", doctor.Warning, `acme was built with SDK 0\.1\.0`,
			"go get github.com/junctor-mcp/junctor/sdk@latest", false},
		{"data directory that others can change", func(s *sickbed) {
			s.write("home/data/kept", "", 0o600)
			s.chmod("home/data", 0o777)
		}, "directories",
			doctor.Error, `the data directory can be written to by everybody`, "`chmod go-w $DIR/home/data`", true},
		{"data directory that is a file", func(s *sickbed) { s.remove("home/data"); s.write("home/data", "", 0o600) },
			"directories", doctor.Error, `the data directory is a file`,
			"`mv $DIR/home/data $DIR/home/data.old`", false},
		{"secrets that others can read", func(s *sickbed) { s.write("home/data/secrets/secrets.age", "x", 0o644) },
			"permissions", doctor.Error, `secrets.age can be read by other users`,
			"`chmod go-rwx $DIR/home/data/secrets/secrets.age`", true},
		{"entry of a client that is missing", func(s *sickbed) {
			s.write("p/.mcp.json", s.exported(`"junctor"`, `"other"`), 0o600)
		}, "clients", doctor.Error, `Claude Code has no entry "junctor" any more`,
			"junctor export claude-code --write --scope project", false},
		{"program of a client that is gone", func(s *sickbed) {
			s.write("p/.mcp.json", s.exported(`"command": "`, `"command": "/gone`), 0o600)
		}, "clients", doctor.Error, `starts /gone/.*, which is gone`,
			"junctor export claude-code --write --scope project", false},
		{"configuration of a client that is gone", func(s *sickbed) {
			s.write("p/.mcp.json", s.exported(`/junctor.hcl"`, `/junctor-gone.hcl"`), 0o600)
		}, "clients", doctor.Error, `uses the configuration .*junctor-gone.hcl, which is gone`,
			"junctor export claude-code", false},
		{"broken file of a client", func(s *sickbed) {
			s.write("p/.mcp.json", s.exported(`"mcpServers":`, `"mcpServers"`), 0o600)
		}, "clients", doctor.Error, `the file of Claude Code is broken`, ".mcp.json:", false},
	}
}

// faultsOfServers are faults of the programs, hosts and secrets that servers need.
func faultsOfServers() []plantedFault {
	return []plantedFault{
		{"program that is not in PATH", func(s *sickbed) { s.starts("no-such-program") },
			"programs", doctor.Error, `command "no-such-program" was not found in PATH`,
			"install no-such-program", false},
		{"program that is not executable",
			func(s *sickbed) { s.write("server.sh", "#!/bin/sh\n", 0o644); s.starts("./server.sh") },
			"programs", doctor.Error, `"./server.sh" was found but is not executable`,
			"`chmod +x $DIR/server.sh`", false},
		{"working directory that is missing", func(s *sickbed) {
			s.configure(strings.Replace(healthy, "command =", "cwd = \"gone\"\n    command =", 1))
		}, "programs", doctor.Error, `working directory .*gone does not exist`, "`mkdir -p $DIR/gone`", false},
		{"python that loads modules where a tool writes", func(s *sickbed) {
			s.write("served.py", "", 0o600)
			s.configure(strings.Replace(healthy, `"./demo"`, `"python3", "-m", "served"`, 1) + writer("."))
		}, "sandbox", doctor.Warning, `python3 loads code from .*tools of the server "w" may change that directory`,
			"set `cwd`", false},
		{"npx without Node.js",
			func(s *sickbed) { s.onlyPath("junctor"); s.write("bin/apt-get", "", 0o755); s.starts("npx", "-y", "x") },
			"launchers", doctor.Error, `command "npx" was not found`, "`sudo apt-get install nodejs npm`", false},
		{"Node.js that is too old", func(s *sickbed) {
			s.fake("npx", "echo 8.0.0")
			s.fake("node", "echo v16.20.2")
			s.starts("npx", "-y", "x")
		}, "launchers", doctor.Error, `node is version 16\.20; servers need 20\.0 or newer`, "install", false},
		{"Python that is too old", func(s *sickbed) {
			s.fake("python3", "echo Python 3.8.10")
			s.starts("python3", "server.py")
		}, "launchers", doctor.Error, `python3 is version 3\.8; servers need 3\.10`, "install", false},
		{"docker without its daemon", func(s *sickbed) {
			s.fake("docker", "echo 'Cannot connect to the Docker daemon' >&2; exit 1")
			s.starts("docker", "run", "-i", "x")
		}, "launchers", doctor.Error, `the daemon of docker does not run`, "`sudo systemctl start docker`", false},
		{"docker whose daemon hangs", func(s *sickbed) {
			s.fake("docker", "sleep 60")
			s.starts("docker", "run", "-i", "x")
		}, "launchers", doctor.Error, `the daemon of docker does not answer`, "systemctl start docker", false},
		{"host that does not exist", func(s *sickbed) { s.remote("https://no-such-host.invalid/mcp", "") },
			"network", doctor.Error, `the name no-such-host.invalid (does not exist|cannot be looked up)`,
			"`getent hosts no-such-host.invalid`", false},
		{"host where nothing listens", func(s *sickbed) { s.remote("http://127.0.0.1:1/mcp", "") },
			"network", doctor.Error, `nothing listens at 127\.0\.0\.1:1`, "start the server", false},
		{"certificate that is not trusted", func(s *sickbed) {
			url, _ := s.tlsServer(time.Hour, 1000*time.Hour)
			s.remote(url, "")
		}, "network", doctor.Error, `the certificate of .* is not trusted`, "tls { ca = ", false},
		{"certificate that ended", func(s *sickbed) { s.remote(s.tlsServer(1000*time.Hour, -time.Hour)) },
			"network", doctor.Error, `is not valid now`, "renew the certificate", false},
		{"certificate that ends soon", func(s *sickbed) { s.remote(s.tlsServer(1000*time.Hour, 72*time.Hour)) },
			"network", doctor.Warning, `the certificate of .* ends on `,
			"`openssl s_client -connect 127.0.0.1:", false},
		{"clock that is ahead", func(s *sickbed) {
			s.remote(s.httpServer(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Date", time.Now().Add(-10*time.Minute).UTC().Format(http.TimeFormat))
			}), "")
		}, "clock", doctor.Error, `is 10m0s ahead of|is 10m1s ahead of`, "`sudo timedatectl set-ntp true`", false},
		{"login page of a network", func(s *sickbed) {
			s.remote(s.httpServer(func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "http://portal.example/login", http.StatusFound)
			}), "")
		}, "network", doctor.Error, `are redirected to portal.example`, "log in to the network", false},
		{"proxy that cannot be reached",
			func(s *sickbed) { s.setenv("HTTPS_PROXY=http://127.0.0.1:1", "NO_PROXY=localhost") },
			"proxy", doctor.Error, `the proxy 127\.0\.0\.1:1 of HTTPS_PROXY cannot be reached`,
			"`unset HTTPS_PROXY`", false},
		{"proxy for this machine", func(s *sickbed) {
			s.setenv("HTTP_PROXY=" + s.httpServer(func(http.ResponseWriter, *http.Request) {}))
		}, "proxy", doctor.Warning, `NO_PROXY does not name this machine`, "`export NO_PROXY=", false},
		{"secret that is missing", func(s *sickbed) { s.keyring(); s.setenv("CANARY=x") },
			"secrets", doctor.Error, `there is no secret "hook"`, "`junctor secret set hook`", false},
		{"secret that is not granted", func(s *sickbed) {
			s.keyring()
			cmd := s.command("secret", "set", "hook")
			cmd.Stdin = strings.NewReader("a-secret")
			if out, err := cmd.CombinedOutput(); err != nil {
				s.Fatalf("%v: %s", err, out)
			}
			text, _ := os.ReadFile(s.reloadDir.path)
			s.configure(strings.Replace(string(text), `["./demo"]`, `["./demo", "--other"]`, 1))
		}, "secrets", doctor.Error, `the secret "hook" is not granted`, "`junctor secret grant hook`", false},
		{"secret store without its password", func(s *sickbed) {
			s.keyring()
			cmd := s.command("secret", "set", "hook")
			cmd.Stdin = strings.NewReader("a-secret")
			if out, err := cmd.CombinedOutput(); err != nil {
				s.Fatalf("%v: %s", err, out)
			}
			s.write("password", "another password", 0o600)
		}, "secrets", doctor.Error, `password`, "password", false},
		{"login that is missing", func(s *sickbed) {
			s.write("password", "a password", 0o600)
			s.configure(fmt.Sprintf("secret_store \"file\" {\n  password_file = \"password\"\n}\nserver \"far\" {\n  transport \"http\" {\n    url = %q\n  }\n  auth \"bearer\" {\n  }\n}\n",
				s.httpServer(func(http.ResponseWriter, *http.Request) {})))
		}, "logins", doctor.Error, `server "far" needs a login`, "`junctor login far`", false},
	}
}

// faultsOfProcesses are faults of ports, sockets and running processes.
func faultsOfProcesses() []plantedFault {
	return []plantedFault{
		{"port that another process has", func(s *sickbed) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				s.Fatal(err)
			}
			s.Cleanup(func() { _ = l.Close() })
			s.configure(healthy + fmt.Sprintf("gateway {\n  http {\n    listen = %q\n  }\n}\n", l.Addr()))
		}, "ports", doctor.Error, fmt.Sprintf(`process %d .* has the port`, os.Getpid()),
			fmt.Sprintf("`kill %d`", os.Getpid()), false},
		{"console port that another process has", func(s *sickbed) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				s.Fatal(err)
			}
			s.Cleanup(func() { _ = l.Close() })
			s.configure(healthy + fmt.Sprintf("console {\n  listen = %q\n}\n", l.Addr()))
		}, "ports", doctor.Error, fmt.Sprintf(`console cannot listen at .*: process %d .* has the port`, os.Getpid()),
			fmt.Sprintf("`kill %d`", os.Getpid()), false},
		{"socket of a process that has ended", func(s *sickbed) {
			l, err := net.Listen("unix", s.in("gw.sock"))
			if err != nil {
				s.Fatal(err)
			}
			l.(*net.UnixListener).SetUnlinkOnClose(false)
			_ = l.Close()
			s.configure(healthy + "gateway {\n  http {\n    listen = \"unix:gw.sock\"\n    auth \"static_token\" {\n      token   = env(\"TOKEN\")\n      subject = \"ann\"\n    }\n  }\n}\n")
			s.setenv("TOKEN=0123456789abcdef0123")
		}, "ports", doctor.Warning, `gw.sock of gateway.http is left of a process`, "`rm $DIR/gw.sock`", true},
		{"directory of a process that has ended", func(s *sickbed) {
			dir := s.in("tmp/junctor-" + s.endedRun() + "-1")
			if err := os.Mkdir(dir, 0o700); err != nil {
				s.Fatal(err)
			}
		}, "leftovers", doctor.Warning, `left its sockets in`, "`rm -r $DIR/tmp/junctor-", true},
		{"server of a host that has ended", func(s *sickbed) {
			cmd := exec.Command("sleep", "60")
			cmd.Env = []string{process.RunVariable + "=" + s.endedRun()}
			if err := cmd.Start(); err != nil {
				s.Fatal(err)
			}
			s.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		}, "leftovers", doctor.Warning, `\(sleep\) was started by a junctor that has ended`, "`kill ", false},
		{"process with an older configuration", func(s *sickbed) {
			s.serve()
			later := time.Now().Add(time.Hour)
			if err := os.Chtimes(s.reloadDir.path, later, later); err != nil {
				s.Fatal(err)
			}
		}, "processes", doctor.Warning, `serves an older configuration`, "`junctor reload --instance ", false},
		{"process whose reload failed", func(s *sickbed) {
			p := s.serve()
			s.configure("server {\n")
			p.hangup("not reloaded")
			s.configure(healthy)
		}, "processes", doctor.Error, `its last reload failed`, "`junctor validate`", false},
	}
}

func (s *sickbed) chmod(path string, mode os.FileMode) {
	s.Helper()
	err := os.MkdirAll(filepath.Dir(s.in(path)), 0o700)
	if err == nil {
		err = os.Chmod(s.in(path), mode)
	}
	if err != nil {
		s.Fatal(err)
	}
}

func (s *sickbed) remove(path string) {
	s.Helper()
	if err := os.RemoveAll(s.in(path)); err != nil {
		s.Fatal(err)
	}
}

// pluginFile is a configuration that requires a plugin.
func pluginFile(name, source, digest string) string {
	if digest != "" {
		digest = fmt.Sprintf(", sha256 = %q", digest)
	}
	return fmt.Sprintf("plugins {\n  required = { %s = { source = %q%s } }\n}\n", name, source, digest)
}

// copyPlugin copies the program of a bundled plugin.
func (s *sickbed) copyPlugin(name, to string, mode os.FileMode) {
	s.Helper()
	text, err := os.ReadFile(s.in("plugins/junctor-plugin-" + name))
	if err != nil {
		s.Fatal(err)
	}
	s.write(to, string(text), mode)
}

// oldPlugin builds a plugin that describes itself as one of an old SDK.
func (s *sickbed) oldPlugin() {
	s.Helper()
	source := s.write("old/main.go", "package main\n\nimport \"os\"\n\nfunc main() {\n\t_, _ = os.Stdout.WriteString(`{\"name\":\"acme\",\"version\":\"1.0.0\",\"sdk\":\"0.1.0\",\"protocols\":[1],\"auths\":{\"acme\":{}}}`)\n}\n",
		0o600)
	out, err := exec.Command("go", "build", "-o", s.in("junctor-plugin-acme"), source).CombinedOutput()
	if err != nil {
		s.Fatalf("%v: %s", err, out)
	}
}

// exported installs an entry for Claude Code in a project, and returns the file with one
// part replaced.
func (s *sickbed) exported(part, by string) string {
	s.Helper()
	s.write("p/x", "", 0o600)
	cmd := s.command("export", "claude-code", "--write", "--scope", "project", "--config", s.reloadDir.path)
	cmd.Dir = s.in("p")
	if out, err := cmd.CombinedOutput(); err != nil {
		s.Fatalf("%v: %s", err, out)
	}
	s.awaitLists()
	text, err := os.ReadFile(s.in("p/.mcp.json"))
	if err != nil || !strings.Contains(string(text), part) {
		s.Fatalf("%v: no %q in %s", err, part, text)
	}
	return strings.Replace(string(text), part, by, 1)
}

// awaitLists waits for the process that export starts to read lists: it writes to directories
// that the test removes.
func (s *sickbed) awaitLists() {
	s.Helper()
	reads := func() bool {
		all, _ := filepath.Glob("/proc/[0-9]*")
		return slices.ContainsFunc(all, func(process string) bool {
			words, _ := os.ReadFile(filepath.Join(process, "cmdline"))
			variables, _ := os.ReadFile(filepath.Join(process, "environ"))
			return bytes.Contains(words, []byte(listreader.Verb)) && bytes.Contains(variables, []byte(s.site.dir))
		})
	}
	eventually.True(s, "no process reads lists", func() bool { return !reads() })
}

// starts configures a server with a command.
func (s *sickbed) starts(words ...string) {
	var quoted []string
	for _, w := range words {
		quoted = append(quoted, fmt.Sprintf("%q", w))
	}
	s.configure(strings.Replace(healthy, `"./demo"`, strings.Join(quoted, ", "), 1))
}

// writer returns a wrapped program whose tools may change a directory.
func writer(dir string) string {
	return fmt.Sprintf("server \"w\" {\n  transport \"cli\" {\n    command = [\"touch\"]\n    cwd = %q\n  }\n}\n", dir)
}

// fake puts a program into PATH.
func (s *sickbed) fake(name, script string) {
	s.write("bin/"+name, "#!/bin/sh\n"+script+"\n", 0o755)
	s.setenv("PATH=" + s.in("bin") + ":" + os.Getenv("PATH"))
}

// onlyPath leaves only some programs in PATH.
func (s *sickbed) onlyPath(names ...string) {
	for _, name := range names {
		found, err := exec.LookPath(name)
		if err == nil {
			err = os.MkdirAll(s.in("bin"), 0o700)
		}
		if err == nil {
			err = os.Symlink(found, s.in("bin/"+name))
		}
		if err != nil {
			s.Fatal(err)
		}
	}
	s.setenv("PATH=" + s.in("bin"))
}

// remote configures a server at a URL.
func (s *sickbed) remote(url, ca string) {
	tls := ""
	if ca != "" {
		tls = fmt.Sprintf("    tls {\n      ca = %q\n    }\n", ca)
	}
	s.configure(fmt.Sprintf("server \"far\" {\n  transport \"http\" {\n    url = %q\n%s  }\n}\n", url, tls))
}

func (s *sickbed) httpServer(answer http.HandlerFunc) string {
	h := httptest.NewServer(answer)
	s.Cleanup(h.Close)
	return h.URL
}

// tlsServer serves with a certificate of its own, and returns the file with it.
func (s *sickbed) tlsServer(before, after time.Duration) (url, ca string) {
	s.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		s.Fatal(err)
	}
	now := time.Now()
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotBefore: now.Add(-before),
		NotAfter: now.Add(after), IsCA: true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		s.Fatal(err)
	}
	h := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	h.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	h.StartTLS()
	s.Cleanup(h.Close)
	return h.URL, s.write("ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})), 0o600)
}

// keyring configures a server that uses the secret hook, in an encrypted file.
func (s *sickbed) keyring() {
	s.write("password", "a password", 0o600)
	s.configure("secret_store \"file\" {\n  password_file = \"password\"\n}\n" +
		strings.Replace(healthy, "command =", "env = { TOKEN = keyring(\"hook\") }\n    command =", 1))
}

// endedRun returns the name of a host that has ended.
func (s *sickbed) endedRun() string {
	s.Helper()
	cmd := s.command("serve", "--http=127.0.0.1:0")
	stderr, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		s.Fatal(err)
	}
	for lines := bufio.NewScanner(stderr); lines.Scan() && !strings.Contains(lines.Text(), "serving over HTTP"); {
	}
	run := ""
	for _, prefix := range []string{s.in("home/run/"), s.in("tmp/junctor-"), "/tmp/junctor-"} {
		found, _ := filepath.Glob(fmt.Sprintf("%s%d.*", prefix, cmd.Process.Pid))
		for _, dir := range found {
			run, _, _ = strings.Cut(strings.TrimPrefix(dir, prefix), "-")
		}
	}
	_ = cmd.Process.Signal(syscall.SIGTERM)
	if err := cmd.Wait(); err != nil || run == "" {
		s.Fatalf("the process has no run directory: %v", err)
	}
	s.pid = cmd.Process.Pid
	return run
}

// serve starts a process that serves the configuration.
func (s *sickbed) serve() *reloadSite {
	site := s.serveHTTP()
	s.pid = site.cmd.Process.Pid
	return site
}
