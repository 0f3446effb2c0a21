package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/sdk/serve"
)

func init() {
	early["silent"] = func() {
		fmt.Fprintln(os.Stderr, "I have nothing to say")
		time.Sleep(time.Hour)
	}
	early["garbage"] = func() {
		fmt.Println("Listening on port 8080...\x1b]0;pwned\a")
		time.Sleep(time.Hour)
	}
	early["longline"] = func() {
		fmt.Print(strings.Repeat("x", 200<<10))
		time.Sleep(time.Hour)
	}
	early["hello"] = func() {
		fmt.Println("hello")
		serve.Main(manifest())
	}
	early["exits"] = func() {
		fmt.Fprintln(os.Stderr, "missing DATABASE_URL")
		os.Exit(3)
	}
	early["closes"] = func() {
		fmt.Fprintln(os.Stderr, "who needs standard output")
		_ = os.Stdout.Close()
		time.Sleep(time.Hour)
	}
	// The handshake is valid, but the process ends.
	early["vanishes"] = func() {
		listen()
		say("1|1|unix|%s|netrpc|", socket())
		fmt.Fprintln(os.Stderr, "that was it")
		os.Exit(5)
	}
	early["mute"] = func() { // accepts connections and never answers
		l := listen()
		say("1|1|unix|%s|netrpc|", socket())
		for {
			if _, err := l.Accept(); err != nil {
				return
			}
		}
	}
	// A child that inherits the socket accepts connections after the
	// process has ended.
	early["heir"] = func() {
		l := listen()
		say("1|1|unix|%s|netrpc|", socket())
		heir(l)
		os.Exit(6)
	}
	// The test listens at the address in EVIL and must receive no
	// connection.
	for mode, line := range map[string]string{
		"tcp": "1|1|tcp|%[1]s|netrpc|", "outside": "1|1|unix|%[1]s|netrpc|", "abstract": "1|1|unix|@%[1]s|netrpc|",
		"core2": "2|1|unix|%[2]s|netrpc|", "version99": "1|99|unix|%[2]s|netrpc|", "grpc": "1|1|unix|%[2]s|grpc|",
		"nosocket": "1|1|unix|%[3]s/none|netrpc|", "file": "1|1|unix|%[4]s|netrpc|",
		"certificate": "1|1|unix|%[2]s|netrpc|MIIBxTCCAWugAwIBAgIRAKZ5Yb8Jp5m4Vw0v5bq7m8AwCgYIKoZIzj0EAwIw",
	} {
		early[mode] = func() {
			listen()
			file := filepath.Join(dir(), "file")
			_ = os.WriteFile(file, nil, 0o600)
			fmt.Printf(line+"\n", argument(), socket(), dir(), file)
			time.Sleep(time.Hour)
		}
	}
	early["link"] = func() {
		link := filepath.Join(dir(), "link")
		_ = os.Symlink(argument(), link)
		say("1|1|unix|%s|netrpc|", link)
		time.Sleep(time.Hour)
	}
	early["dotdot"] = func() { // lexically "dir/away/../canary" is dir/canary, but away is a symbolic link
		_ = os.Mkdir(filepath.Join(filepath.Dir(argument()), "sub"), 0o700)
		_ = os.Symlink(filepath.Join(filepath.Dir(argument()), "sub"), filepath.Join(dir(), "away"))
		say("1|1|unix|%s/away/../%s|netrpc|", dir(), filepath.Base(argument()))
		time.Sleep(time.Hour)
	}
	early["stdin"] = func() { // reads standard input
		line, err := bufio.NewReader(os.Stdin).ReadString('\n')
		fmt.Fprintf(os.Stderr, "read %q, %v\n", line, err)
		time.Sleep(time.Hour)
	}
	early["deaf"] = func() { // only SIGKILL ends it
		ignoreSignals()
		serveWrong("deaf", false)
	}
	early["eof"] = func() { // waits for the end of its lifeline only
		_, _ = io.Copy(io.Discard, os.Stdin)
	}
}

func dir() string    { return os.Getenv("PLUGIN_UNIX_SOCKET_DIR") }
func socket() string { return filepath.Join(dir(), "socket") }

func listen() *net.UnixListener {
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket(), Net: "unix"})
	if err != nil {
		panic(err)
	}
	return l
}

func say(format string, args ...any) { fmt.Printf(format+"\n", args...) }
