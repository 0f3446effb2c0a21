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
		"none":                        {nil, 0},
		"version 2":                   {map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "1000\n"}, 1000},
		"no limit":                    {map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "max\n"}, 0},
		"a group around":              {map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "max\n", "sys/fs/cgroup/a/memory.max": "500\n"}, 500},
		"the lowest":                  {map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "700\n", "sys/fs/cgroup/a/memory.max": "900\n"}, 700},
		"a container":                 {map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "800\n"}, 800},
		"group outside the container": {map[string]string{"proc/self/cgroup": "0::/../../x\n", "sys/fs/cgroup/memory.max": "800\n"}, 800},
		"version 1":                   {map[string]string{"proc/self/cgroup": "5:cpu:/x\n4:memory:/x\n", "sys/fs/cgroup/memory/x/memory.limit_in_bytes": "600\n"}, 600},
		"version 1, no limit": {map[string]string{"proc/self/cgroup": "4:memory:/x\n",
			"sys/fs/cgroup/memory/x/memory.limit_in_bytes": "9223372036854771712\n"}, 0},
		"nonsense": {map[string]string{"proc/self/cgroup": "what\n::\n0::/a\n", "sys/fs/cgroup/a/memory.max": "-1\n", "sys/fs/cgroup/memory.max": "many\n"}, 0},
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
