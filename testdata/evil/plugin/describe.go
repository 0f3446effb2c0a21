package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/junctor-mcp/junctor/sdk/serve"
	"github.com/junctor-mcp/junctor/sdk/wire"
)

func init() {
	describing["describehang"] = func() {
		fmt.Fprintln(os.Stderr, "thinking about it")
		time.Sleep(time.Hour)
	}
	describing["describebig"] = func() {
		fmt.Print("{", strings.Repeat(" ", 2<<20), "}")
	}
	describing["describenothing"] = func() {
		fmt.Fprintln(os.Stderr, "no idea what I am")
		os.Exit(4)
	}
	describing["describejunk"] = func() { fmt.Println("usage: evil [options]") }
	describing["describeforever"] = func() {
		for {
			fmt.Println(strings.Repeat("x", 1<<10))
		}
	}
	// A child keeps standard output open after the end of the plugin.
	describing["describeheld"] = func() {
		cmd := exec.Command("sleep", "1000")
		cmd.Stdout, cmd.Env = os.Stdout, []string{"EVIL_HELD=1"}
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := cmd.Start(); err != nil {
			panic(err)
		}
		printManifest("1.2.3")
	}
	// The manifest changes every time, also while running.
	now := func() { printManifest("1.2." + fmt.Sprint(time.Now().UnixNano())) }
	describing["fickle"] = now
	// The manifest differs from that of the running plugin.
	describing["liar"] = func() { printManifest("1.2.4") }
	// The manifest of a later SDK has further members.
	describing["future"] = func() {
		m := string(describe("1.2.3"))
		_, _ = io.WriteString(os.Stdout, strings.Replace(m, "{", `{"homepage": "https://example.com",`, 1))
	}
	// The plugin supports only a protocol that the host does not support.
	describing["protocol99"] = func() {
		m, err := manifest().Describe([]int{99}, nil)
		if err != nil {
			panic(err)
		}
		_, _ = os.Stdout.Write(m.JSON())
	}
	early["protocol99"] = func() { leave("EVIL_STARTED"); serve.Main(manifest()) }
	// A marker file shows that the plugin was described.
	describing["marker"] = func() { leave("EVIL_DESCRIBED"); printManifest("1.2.3") }
}

func describe(version string) []byte {
	p := manifest()
	p.Version = version
	m, err := p.Describe(wire.Majors(), wire.Features)
	if err != nil {
		panic(err)
	}
	return m.JSON()
}

func printManifest(version string) { _, _ = os.Stdout.Write(describe(version)) }

// leave creates a marker file beside the program.
func leave(name string) {
	if err := os.WriteFile(os.Args[0]+"."+name, nil, 0o600); err != nil {
		panic(err)
	}
}
