package main

import (
	"errors"
	"fmt"
	"image"
	"image/color/palette"
	"image/gif"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// cookbook is the page with recipes for wrapped programs.
var cookbook = filepath.Join("..", "..", "docs", "wrapping-cookbook.md")

// samples are the files of the directory in which the recipes run.
var samples = map[string]string{
	"notes.txt":       "alpha\nbeta\ngamma\n",
	"data.json":       `{"name":"widget","count":3,"tags":["a","b"]}` + "\n",
	"sub/more.txt":    "beta too\n",
	"sub/main.go":     "package main\n\nfunc main() {}\n",
	"people.csv":      "name,age\nAda,36\nGrace,45\n",
	"main.tf":         "variable \"size\" {\n  default = 3\n}\noutput \"double\" {\n  value = var.size * 2\n}\n",
	"deployment.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\ndata:\n  color: blue\n",
	"pyproject.toml":  "[project]\nname = \"sample\"\nversion = \"0.1.0\"\nrequires-python = \">=3.8\"\n",
}

// A recipe is one section of the cookbook.
type recipe struct {
	program string // the heading
	config  string // the first block of HCL
	steps   []step
}

// A step is a command and what it must print.
type step struct {
	command string
	output  []string // lines; "…" stands for any text
}

var (
	sections  = regexp.MustCompile(`(?ms)^## (\S+)\n(.*?)(?:^## |\z)`)
	hclBlocks = regexp.MustCompile("(?s)```hcl\n(.*?)```")
	consoles  = regexp.MustCompile("(?s)```console\n(.*?)```")
)

// recipes reads the cookbook.
func recipes(t *testing.T) (all []recipe) {
	t.Helper()
	text, err := os.ReadFile(cookbook)
	if err != nil {
		t.Fatal(err)
	}
	for rest := string(text); ; {
		m := sections.FindStringSubmatchIndex(rest)
		if m == nil {
			return all
		}
		r, body := recipe{program: rest[m[2]:m[3]]}, rest[m[4]:m[5]]
		if c := hclBlocks.FindStringSubmatch(body); c != nil {
			r.config = c[1]
		}
		for _, c := range consoles.FindAllStringSubmatch(body, -1) {
			for line := range strings.Lines(c[1]) {
				line = strings.TrimSuffix(line, "\n")
				if command, is := strings.CutPrefix(line, "$ "); is {
					r.steps = append(r.steps, step{command: command})
				} else if n := len(r.steps); n > 0 {
					r.steps[n-1].output = append(r.steps[n-1].output, line)
				}
			}
		}
		all = append(all, r)
		rest = rest[m[5]:]
	}
}

// script returns the recipe as a script.
func (r *recipe) script() string {
	var b strings.Builder
	fmt.Fprintf(&b, "[!linux] skip 'the sandbox and its programs are those of Linux'\n[!exec:%s] skip 'the program is not installed'\nenv HOME=$WORK/home\nmkdir home\n",
		r.program)
	for _, s := range r.steps {
		prefix := "exec "
		if len(s.output) > 0 && strings.HasPrefix(s.output[0], "refused: ") {
			prefix = "status 1 "
		}
		// As on a terminal.
		fmt.Fprintf(&b, "%s%s\n", prefix, strings.Replace(s.command, "junctor ", "junctor --text ", 1))
		for _, line := range s.output {
			line = strings.TrimSpace(line)
			line = strings.TrimPrefix(line, "refused: ")
			pattern := strings.ReplaceAll(regexp.QuoteMeta(line), "…", ".*")
			fmt.Fprintf(&b, "stdout '%s'\n", strings.ReplaceAll(pattern, "'", "''"))
		}
	}
	fmt.Fprintf(&b, "-- junctor.hcl --\n%s", r.config)
	for _, name := range slices.Sorted(maps.Keys(samples)) {
		fmt.Fprintf(&b, "-- work/%s --\n%s", name, samples[name])
	}
	return b.String()
}

// TestCookbook: the recipes for wrapped programs work as they are printed, with the programs
// that are installed.
func TestCookbook(t *testing.T) {
	all := recipes(t)
	if len(all) < 12 {
		t.Fatalf("%d recipes", len(all))
	}
	dir := t.TempDir()
	var files []string
	for _, r := range all {
		if r.program == "aws" && os.Getenv("JUNCTOR_SOAK") == "" { // its help takes seconds for each command
			continue
		}
		if r.config == "" || len(r.steps) < 3 {
			t.Errorf("%s has no configuration or fewer than three calls", r.program)
		}
		file := filepath.Join(dir, r.program+".txtar")
		if err := os.WriteFile(file, []byte(r.script()), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	bin := t.TempDir()
	build(t, filepath.Join(bin, "plugins", "junctor-plugin-cli"), "./plugins/cli")
	build(t, filepath.Join(bin, "plugins", "junctor-sandbox"), "./plugins/internal/launcher")
	testscript.Run(t, testscript.Params{
		Files:               files,
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("JUNCTOR_HOME", filepath.Join(e.WorkDir, ".home"))
			e.Setenv("JUNCTOR_PLUGIN_DIR", filepath.Join(bin, "plugins"))
			e.Setenv("JUNCTOR_CONFIG", filepath.Join(e.WorkDir, "junctor.hcl"))
			return clip(filepath.Join(e.WorkDir, "work", "clip.gif"))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"status": status},
	})
}

// clip writes a video of four pictures.
func clip(path string) error {
	var video gif.GIF
	for i := range 4 {
		frame := image.NewPaletted(image.Rect(0, 0, 16, 16), palette.Plan9)
		frame.SetColorIndex(4*i, 4*i, 255)
		video.Image, video.Delay = append(video.Image, frame), append(video.Delay, 50)
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(gif.EncodeAll(file, &video), file.Close())
}
