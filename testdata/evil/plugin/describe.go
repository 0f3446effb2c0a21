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
	// The reader of standard output does not see its end with the plugin's.
	describing["describeheld"] = func() {
		cmd := exec.Command("sleep", "1000")
		cmd.Stdout, cmd.Env = os.Stdout, []string{"EVIL_HELD=1"}
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := cmd.Start(); err != nil {
			panic(err)
		}
		printManifest("1.2.3")
	}
	// Another manifest each time, running too.
	now := func() { printManifest("1.2." + fmt.Sprint(time.Now().UnixNano())) }
	describing["fickle"] = now
	// It is somebody else as soon as it runs.
	describing["liar"] = func() { printManifest("1.2.4") }
	// It was made with a later SDK, whose manifest says more.
	describing["future"] = func() {
		m := string(describe("1.2.3"))
		_, _ = io.WriteString(os.Stdout, strings.Replace(m, "{", `{"homepage": "https://example.com",`, 1))
	}
	// It speaks a protocol that this host does not, and would say so.
	describing["protocol99"] = func() {
		m, err := manifest().Describe([]int{99}, nil)
		if err != nil {
			panic(err)
		}
		_, _ = os.Stdout.Write(m.JSON())
	}
	early["protocol99"] = func() { leave("EVIL_STARTED"); serve.Main(manifest()) }
	// It says who it is to whoever reads the marker file.
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

// leave leaves a sign beside the program that it ran.
func leave(name string) {
	if err := os.WriteFile(os.Args[0]+"."+name, nil, 0o600); err != nil {
		panic(err)
	}
}
