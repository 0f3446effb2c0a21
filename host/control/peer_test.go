//go:build unix

package control

import (
	"fmt"
	"os"
	"time"

	"github.com/junctor-mcp/junctor/sdk/process"
)

// startForTest is a host that starts a plugin, or a plugin that starts a server: a shell with
// the script in CONTROL_SERVER.
func startForTest(who string) {
	c := process.Command{Path: os.Args[0], Args: os.Args, Stdout: os.Stdout, Stderr: os.Stderr}
	_ = os.Setenv("CONTROL_TREE", "plugin")
	if who == "plugin" {
		if err := process.MarkDescendants(); err != nil {
			fmt.Println(err)
		}
		_ = os.Unsetenv("CONTROL_TREE")
		c.Path, c.Args = "/bin/sh", []string{"sh", os.Getenv("CONTROL_SERVER")}
	}
	c.Env = os.Environ()
	if _, err := process.Start(c); err != nil {
		fmt.Println(err)
	}
	time.Sleep(time.Hour) // until it is killed
}
