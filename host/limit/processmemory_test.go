package limit

import (
	"testing"
	"testing/fstest"
)

func TestGroupMemory(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"none": {nil, 0},
		"version 2": {map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "1000\n"},
			1000},
		"no limit": {map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "max\n"},
			0},
		"a group around": {map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "max\n",
			"sys/fs/cgroup/a/memory.max": "500\n"}, 500},
		"the lowest": {map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "700\n",
			"sys/fs/cgroup/a/memory.max": "900\n"}, 700},
		"a container": {map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "800\n"},
			800},
		"group outside the container": {
			map[string]string{"proc/self/cgroup": "0::/../../x\n", "sys/fs/cgroup/memory.max": "800\n"}, 800,
		},
		"version 1": {map[string]string{"proc/self/cgroup": "5:cpu:/x\n4:memory:/x\n",
			"sys/fs/cgroup/memory/x/memory.limit_in_bytes": "600\n"}, 600},
		"version 1, no limit": {map[string]string{"proc/self/cgroup": "4:memory:/x\n",
			"sys/fs/cgroup/memory/x/memory.limit_in_bytes": "9223372036854771712\n"}, 0},
		"nonsense": {map[string]string{"proc/self/cgroup": "what\n::\n0::/a\n",
			"sys/fs/cgroup/a/memory.max": "-1\n", "sys/fs/cgroup/memory.max": "many\n"}, 0},
	} {
		root := fstest.MapFS{}
		for file, text := range c.files {
			root[file] = &fstest.MapFile{Data: []byte(text)}
		}
		if got := groupMemory(root); got != c.want {
			t.Errorf("%s: %d", name, got)
		}
	}
}

// TestPartsOfAGroup leaves memory of a control group to plugins and servers.
func TestPartsOfAGroup(t *testing.T) {
	const mib = 1 << 20
	for name, c := range map[string]struct {
		group, most        int64
		configured         bool
		process, ofAPlugin int64
	}{
		"no group":                 {0, 512 * mib, false, 512 * mib, 0},
		"a small container":        {200 * mib, 512 * mib, false, 100 * mib, 50 * mib},
		"a configured limit":       {200 * mib, 128 * mib, true, 128 * mib, 50 * mib},
		"a limit above the group":  {200 * mib, 512 * mib, true, 150 * mib, 50 * mib},
		"a tiny container":         {64 * mib, 512 * mib, false, 32 * mib, 32 * mib},
		"more than the default":    {4096 * mib, 512 * mib, false, 512 * mib, 1024 * mib},
		"a large configured limit": {4096 * mib, 2048 * mib, true, 2048 * mib, 1024 * mib},
	} {
		if got := partOf(c.group, c.most, c.configured); got != c.process {
			t.Errorf("%s: the process may use %d MiB, want %d", name, got/mib, c.process/mib)
		}
		if got := pluginPart(c.group); got != c.ofAPlugin {
			t.Errorf("%s: a plugin may use %d MiB, want %d", name, got/mib, c.ofAPlugin/mib)
		}
	}
}
