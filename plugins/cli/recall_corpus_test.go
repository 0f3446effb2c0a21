package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// A corpusProgram is the content of a file in testdata/clis; its README.md
// describes how to write one.
type corpusProgram struct {
	Program, Framework string
	Version            struct {
		Command  []string
		Contains string
	}
	Install      map[string]string // the source and the version
	Commands     []string
	AlsoCommands []string `json:"also_commands"`
	Pages        []*corpusPage
}

// A corpusPage is one command of a program according to its own help.
type corpusPage struct {
	Path         []string
	From         []string // where its options were read
	Partial      bool     // there are more options than the page lists
	Note         string
	Long         map[string]string // for each long option: flag, value, optional or either
	Also         []string          // optional findings; may contain wildcards
	Commands     []string
	AlsoCommands []string `json:"also_commands"`
}

// otherVersion returns why a program does not count, or "".
func (c *corpusProgram) otherVersion(ctx context.Context, env []string) string {
	if len(c.Version.Command) > 0 {
		if out, _ := output(ctx, env, c.Version.Command...); !strings.Contains(out, c.Version.Contains) {
			return "another version"
		}
	}
	for _, p := range c.Pages {
		for _, from := range p.From {
			if page, ok := strings.CutPrefix(from, "man "); ok {
				if _, err := output(ctx, env, "man", "-w", page); err != nil {
					return "no manual"
				}
			}
		}
	}
	return ""
}

// page returns the page for a path, or nil.
func (c *corpusProgram) page(path []string) *corpusPage {
	for _, p := range c.Pages {
		if slices.Equal(p.Path, path) {
			return p
		}
	}
	return nil
}

// TestCorpus checks the files against the rules in their README.md.
func TestCorpus(t *testing.T) {
	corpus := readCorpus(t)
	if len(corpus) < 44 {
		t.Errorf("%d programs", len(corpus))
	}
	for _, c := range corpus {
		if c.Framework == "" || c.Version.Contains == "" || len(c.Version.Command) == 0 {
			t.Errorf("%s: framework or version is missing", c.Program)
		}
		for source := range c.Install {
			if !slices.Contains([]string{"apt", "npm", "pip", "go"}, source) {
				t.Errorf("%s: installed from %q", c.Program, source)
			}
		}
		for n, p := range c.Pages {
			if len(p.From) == 0 || n > 0 && len(p.Path) == 0 {
				t.Errorf("%s, page %d: path or from is missing", c.Program, n)
			}
			for option, kind := range p.Long {
				if !strings.HasPrefix(option, "-") ||
					!slices.Contains([]string{"flag", "value", "optional", "either"}, kind) {
					t.Errorf("%s %v: %s is %q", c.Program, p.Path, option, kind)
				}
			}
		}
	}
}

func readCorpus(t *testing.T) []*corpusProgram {
	files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "clis", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatal("the corpus is missing", err)
	}
	var corpus []*corpusProgram
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		c := &corpusProgram{}
		d := json.NewDecoder(bytes.NewReader(data))
		d.DisallowUnknownFields()
		if err := d.Decode(c); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if name := strings.TrimSuffix(filepath.Base(file), ".json"); c.Program != name || len(c.Pages) == 0 ||
			len(c.Pages[0].Path) != 0 {
			t.Fatalf("%s: the name of the program must equal that of its file, and the first page must be the root",
				file)
		}
		corpus = append(corpus, c)
	}
	return corpus
}

// corpusEnv returns the environment with the programs of install.sh first in
// PATH.
func corpusEnv(t *testing.T) []string {
	cache, err := filepath.Abs(filepath.Join("..", "..", ".cache", "clis"))
	if err != nil {
		t.Fatal(err)
	}
	path := []string{}
	for _, dir := range []string{"pip/bin", "npm/node_modules/.bin", "go/bin"} {
		path = append(path, filepath.Join(cache, dir))
	}
	path = append(path, os.Getenv("PATH"))
	env := slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, "PATH=") })
	return append(env, "PATH="+strings.Join(path, string(os.PathListSeparator)))
}

// lookPath is exec.LookPath for another PATH.
func lookPath(name string, env []string) (string, error) {
	for _, dir := range filepath.SplitList(strings.TrimPrefix(env[len(env)-1], "PATH=")) {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path, nil
		}
	}
	return "", exec.ErrNotFound
}

// output returns what a command prints, whatever its status.
func output(ctx context.Context, env []string, command ...string) (string, error) {
	path, err := lookPath(command[0], env)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, command[1:]...)
	cmd.Env = env
	out, err := cmd.CombinedOutput()
	return string(out), err
}
