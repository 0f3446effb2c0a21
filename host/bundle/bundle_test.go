package bundle

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/host/clientconfig"
)

// An entry is a file of a bundle.
type entry struct {
	name, text string
	mode       fs.FileMode
	size       uint64 // that the archive claims; 0: the true one
}

const plain = `{"manifest_version": "0.2", "name": "demo", "version": "1.0.0", "server": {"type": "node", "entry_point": "server/index.js",
	"mcp_config": {"command": "node", "args": ["${__dirname}/server/index.js"]}}}`

// archive returns a bundle.
func archive(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		h.SetMode(e.mode | 0o600)
		var err error
		if e.size > 0 {
			h.UncompressedSize64, h.CompressedSize64, h.Method = e.size, uint64(len(e.text)), zip.Store
			_, err = w.CreateRaw(h)
		} else {
			file, createErr := w.CreateHeader(h)
			if err = createErr; err == nil {
				_, err = file.Write([]byte(e.text))
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func open(text []byte) (*Bundle, error) { return Open(bytes.NewReader(text), int64(len(text))) }

func TestUnpack(t *testing.T) {
	b, err := open(archive(t, entry{name: "manifest.json", text: plain}, entry{name: "server/", mode: fs.ModeDir},
		entry{name: "server/index.js", text: "x"}, entry{name: "bin/run", text: "y", mode: 0o755}))
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "bundles", b.Directory())
	for range 2 { // the second time it is there already
		if err := b.Unpack(dir); err != nil {
			t.Fatal(err)
		}
	}
	for name, mode := range map[string]fs.FileMode{"server/index.js": 0o644, "bin/run": 0o755, "manifest.json": 0o644} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm()&0o111 != mode&0o111 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(dir), ".unpack-*")); len(left) > 0 {
		t.Errorf("left over: %q", left)
	}
	if !strings.HasPrefix(b.Directory(), "demo-") || len(b.Directory()) != len("demo-")+12 {
		t.Error(b.Directory())
	}
}

func TestRefusedBundles(t *testing.T) {
	manifest := entry{name: "manifest.json", text: plain}
	var many []entry
	for i := range maxFiles + 1 {
		many = append(many, entry{name: fmt.Sprint(i)})
	}
	for name, c := range map[string]struct {
		entries []entry
		want    string
	}{
		"no manifest":         {[]entry{{name: "x"}}, "it has no manifest.json"},
		"a parent directory":  {[]entry{manifest, {name: "../evil"}}, "leads out"},
		"a parent in it":      {[]entry{manifest, {name: "a/../../evil"}}, "leads out"},
		"a parent that stays": {[]entry{manifest, {name: "a/../evil"}}, "empty part"},
		"an absolute path":    {[]entry{manifest, {name: "/etc/evil"}}, "leads out"},
		"a backslash":         {[]entry{manifest, {name: `..\evil`}}, `\`},
		"a drive":             {[]entry{manifest, {name: "C:evil"}}, "a :"},
		"a stream":            {[]entry{manifest, {name: "x:evil"}}, "a :"},
		"a control character": {[]entry{manifest, {name: "x\ny"}}, "control character"},
		"a dot at the end":    {[]entry{manifest, {name: "a./evil"}}, "ends in a dot"},
		"an empty part":       {[]entry{manifest, {name: "a//evil"}}, "empty part"},
		"a long name":         {[]entry{manifest, {name: strings.Repeat("a", maxName+1)}}, "too long"},
		"deep":                {[]entry{manifest, {name: strings.Repeat("a/", maxDepth+1) + "x"}}, "too long"},
		"a link":              {[]entry{manifest, {name: "x", text: "/etc/passwd", mode: fs.ModeSymlink}}, "a link"},
		"a device":            {[]entry{manifest, {name: "x", mode: fs.ModeDevice}}, "special file"},
		"a pipe":              {[]entry{manifest, {name: "x", mode: fs.ModeNamedPipe}}, "special file"},
		"twice":               {[]entry{manifest, {name: "x"}, {name: "x"}}, "occurs twice"},
		"twice, other case":   {[]entry{manifest, {name: "Server/x"}, {name: "server/X"}}, "occurs twice"},
		"file and directory":  {[]entry{manifest, {name: "x"}, {name: "x/y"}}, "a file and a directory"},
		"a large file":        {[]entry{manifest, {name: "x", size: maxUnpacked + 1}}, "larger than"},
		"large together": {[]entry{manifest, {name: "x", size: maxUnpacked / 2},
			{name: "y", size: maxUnpacked / 2}, {name: "z", size: maxUnpacked / 2}}, "larger than"},
		"a bomb": {[]entry{manifest, {name: "x", text: strings.Repeat("\x00", freeBytes+1)}},
			"times as large"},
		"many files": {many, "at most"},
		"a large manifest": {[]entry{{name: "manifest.json", text: plain + strings.Repeat(" ", maxManifest)}},
			"larger than"},
		"no JSON": {[]entry{{name: "manifest.json", text: "{\n  hunter2"}},
			"manifest.json:2:3: it is not JSON"},
		"a wrong type": {[]entry{{name: "manifest.json", text: "{\"name\":\n 5}"}}, `"name" is not a string`},
		"an unknown server": {[]entry{{name: "manifest.json", text: `{"name": "x", "server": {"type": "java"}}`}},
			`server.type is "java"`},
		"no command": {[]entry{{name: "manifest.json", text: `{"name": "x", "server": {"type": "node"}}`}},
			"mcp_config is missing"},
		"a name with a slash": {
			[]entry{{name: "manifest.json", text: strings.Replace(plain, `"demo"`, `"../demo"`, 1)}},
			"name is missing",
		},
		"a name with two dots": {[]entry{{name: "manifest.json", text: strings.Replace(plain, `"demo"`, `".."`, 1)}},
			"name is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := open(archive(t, c.entries...))
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%v", err)
			}
		})
	}
	for name, text := range map[string][]byte{"empty": nil, "text": []byte("hello"),
		"cut off": archive(t, manifest)[:100]} {
		if _, err := open(text); err == nil || !strings.Contains(err.Error(), "not a zip archive") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestLargerThanClaimed: a file that is larger than the archive says leaves nothing behind.
func TestLargerThanClaimed(t *testing.T) {
	text := archive(t, entry{name: "manifest.json", text: plain}, entry{name: "x", text: strings.Repeat("a", 5000)})
	at := bytes.LastIndex(text, []byte("PK\x01\x02")) // the entry of x in the list
	copy(text[at+24:], []byte{10, 0, 0, 0})           // its size
	b, err := open(text)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "d")
	if err := b.Unpack(dir); err == nil {
		t.Error("it was unpacked")
	}
	if left, _ := os.ReadDir(filepath.Dir(dir)); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
}

func TestServer(t *testing.T) {
	const settings = `"user_config": {
		"key": {"type": "string", "sensitive": true, "required": true}, "maybe": {"type": "string", "sensitive": true},
		"dirs": {"type": "directory", "multiple": true, "required": true, "default": ["${HOME}/Desktop", "${DOCUMENTS}"]},
		"size": {"type": "number", "default": 1000000}, "on": {"type": "boolean", "default": false}, "none": {"type": "string"},
		"town": {"type": "string", "required": true}, "loop": {"type": "string", "default": "${user_config.loop}"}, "bad": {"default": {}}}`
	type want struct {
		command, env string
		inputs       []clientconfig.Input
		notes        int
		problem      string
	}
	for _, c := range []struct {
		name, goos, server string
		want               want
	}{
		{"plain", "linux", `{"type": "node", "mcp_config": {"command": "node", "args": ["${__dirname}/index.js"]}}`,
			want{command: "node /d/index.js"}},
		{"binary", "linux",
			`{"type": "binary", "mcp_config": {"command": "server/run", "args": ["a${/}b", "c${pathSeparator}d"]}}`,
			want{command: "/d/server/run a/b c/d"}},
		{"uv", "linux", `{"type": "uv", "entry_point": "main.py"}`, want{command: "uv run --directory /d main.py"}},
		{"defaults", "linux", `{"type": "node", "mcp_config": {"command": "x", "args": ["${user_config.dirs}", "--size=${user_config.size}", "${user_config.none}"], "env": {"ON": "${user_config.on}", "NONE": "${user_config.none}"}}}`,
			want{command: "x ${HOME}/Desktop ${HOME}/Documents --size=1000000", env: "ON=false", notes: 1}},
		{"asked", "linux", `{"type": "node", "mcp_config": {"command": "x", "args": ["${user_config.town}"], "env": {"KEY": "${user_config.key}", "M": "${user_config.maybe}"}}}`,
			want{command: "x ${input:town}", env: "KEY=${input:key} M=${input:maybe}",
				inputs: []clientconfig.Input{{ID: "town"}, {ID: "key", Secret: true}, {ID: "maybe", Secret: true}},
				notes:  1}},
		{"other system", "windows", `{"type": "binary", "mcp_config": {"command": "x", "args": ["a"], "env": {"A": "1", "B": "1"}, "platform_overrides": {"win32": {"command": "y.exe", "env": {"B": "2"}}, "darwin": {"args": ["b"]}}}}`,
			want{command: "y.exe a", env: "A=1 B=2"}},
		{"empty command",
			"linux",
			`{"type": "node", "mcp_config": {"command": "", "args": ["a"]}}`, want{problem: "command is empty"}},
		{"unknown setting", "linux",
			`{"type": "node", "mcp_config": {"command": "x", "args": ["${user_config.other}"]}}`,
			want{problem: `no "other"`}},
		{"setting in a setting", "linux",
			`{"type": "node", "mcp_config": {"command": "x", "args": ["${user_config.loop}"]}}`,
			want{problem: "refers to a setting"}},
		{"odd default", "linux", `{"type": "node", "mcp_config": {"command": "x", "args": ["${user_config.bad}"]}}`,
			want{problem: "neither a text"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, err := open(archive(t,
				entry{name: "manifest.json", text: `{"name": "demo", "server": ` + c.server + `, ` + settings + `}`}))
			if err != nil {
				t.Fatal(err)
			}
			s, inputs := b.Server("/d", c.goos)
			var env []string
			for name, value := range s.Env {
				env = append(env, name+"="+value)
			}
			slices.Sort(env)
			got := want{strings.Join(s.Command, " "), strings.Join(env, " "), inputs, len(s.Notes), s.Problem}
			if got.command != c.want.command || got.env != c.want.env || !slices.Equal(inputs, c.want.inputs) ||
				got.notes != c.want.notes || c.want.problem == "" != (got.problem == "") ||
				!strings.Contains(got.problem, c.want.problem) {
				t.Errorf("got %+v, want %+v; %q", got, c.want, s.Notes)
			}
		})
	}
}

// FuzzOpen: any archive is refused, or its files are written into one directory.
func FuzzOpen(f *testing.F) {
	f.Add(archive(f, entry{name: "manifest.json", text: plain}, entry{name: "a/b", text: "x"}))
	f.Add(archive(f, entry{name: "manifest.json", text: plain}, entry{name: "../b", text: "x"}))
	f.Fuzz(func(t *testing.T, text []byte) {
		b, err := open(text)
		if err != nil {
			return
		}
		parent := t.TempDir()
		dir := filepath.Join(parent, "d")
		_ = b.Unpack(dir)
		all, err := os.ReadDir(parent)
		if err != nil || len(all) > 1 || len(all) == 1 && all[0].Name() != "d" {
			t.Fatalf("%v %v", all, err)
		}
		_, _ = b.Server(dir, "linux")
	})
}
