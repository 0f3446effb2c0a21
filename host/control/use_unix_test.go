//go:build unix

package control

import (
	"fmt"
	"os/exec"
	"syscall"
	"testing"

	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// TestTreeCountsDescendants measures a launcher that waits for a program which computes, as npx
// and uvx do.
func TestTreeCountsDescendants(t *testing.T) {
	cmd := exec.Command("sh", "-c", "sh -c 'while :; do :; done' & wait")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
	})
	pid := cmd.Process.Pid
	eventually.NoError(t, func() error {
		all, own := Processes().UseOf(pid), UseOf(pid)
		if all.CPU < own.CPU+0.1 || all.Memory <= own.Memory || own.Memory == 0 {
			return fmt.Errorf("the launcher uses %+v, with its descendants %+v", own, all)
		}
		return nil
	})
	if none := Processes().UseOf(0); none != (Use{}) {
		t.Errorf("process 0 uses %+v", none)
	}
	if loop := (Tree{1: {2}, 2: {1}}).UseOf(-1); loop != (Use{}) {
		t.Errorf("process -1 uses %+v", loop)
	}
	Tree{int32(pid): {int32(pid)}}.UseOf(pid) // a parent that is its own child ends the walk, too
}
