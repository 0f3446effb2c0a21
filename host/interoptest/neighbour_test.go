package interoptest

import (
	"os/exec"
	"runtime"
	"testing"
)

// TestHostsSpareEachOther: a host that starts cleans up behind those that were
// killed. One that lives, on the same machine or in a container whose processes
// have other numbers inside, keeps what it started.
func TestHostsSpareEachOther(t *testing.T) {
	for name, inside := range map[string][]string{
		"same machine": nil,
		"container":    {"unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child", "--mount-proc"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if len(inside) > 0 {
				if runtime.GOOS != "linux" || exec.Command(inside[0], append(inside[1:], "true")...).Run() != nil {
					skip(t, "unshare cannot make a PID namespace here")
				}
			}
			s := newSite(t, gosdk())
			cmd := s.command("serve")
			if len(inside) > 0 {
				outer := exec.Command(inside[0], append(inside[1:], cmd.Args...)...)
				outer.Env, outer.Dir = cmd.Env, cmd.Dir
				cmd = outer
			}
			p := newPeer(t, launch(t, cmd), oldDialect)
			p.greet()
			id := p.beginWith(1, "go__count", object{"steps": 1, "millis": 750})
			newSite(t, gosdk()).serve().finish()
			p.answer(id).text(t)
		})
	}
}
