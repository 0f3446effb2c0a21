package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/plugins/cli/discover"
	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// The bars, in percent, for the sum over all programs. Those with hundreds of
// commands weigh most in it, so that the mean, in which all weigh the same, may
// not be far below.
const (
	barCommands  = 98
	barOptions   = 95
	barKinds     = 90
	barPrecision = 90
	meanSlack    = 3
)

// corpusSize is how many programs must be there where all were installed.
const corpusSize = 40

// fewest is how many programs say something about all.
const fewest = 10

// slow are the programs that take so long, for each question or because they
// have so many commands, that they are measured only where all are: with them
// the others take a tenth of the time.
var slow = []string{
	"ansible-galaxy", "aws", "flask", "gh", "git", "hugo", "kubectl", "npm", "openssl", "pip", "pre-commit", "terraform", "uv", "webpack",
}

// TestRecall compares what discovery finds out about real programs with what
// testdata/clis knows of them. It looks at the model, which has dangerous options
// as well; what of it is left out of tools is in danger/testdata. Programs that are not installed, or in another
// version than the one that was written down, do not count. "make soak" measures
// all of them, this by itself those that are not slow. One program alone:
// JUNCTOR_REQUIRE_CORPUS=1 and -run TestRecall/each/git -v, which also shows what is missed.
func TestRecall(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many programs")
	}
	if runtime.GOOS == "windows" {
		t.Skip("the programs were written down on Linux")
	}
	corpus, env := readCorpus(t), corpusEnv(t)
	var mu sync.Mutex // guards results and absent
	var results []*result
	var absent []string
	t.Run("each", func(t *testing.T) {
		places := make(chan struct{}, 2)
		for _, c := range corpus {
			t.Run(c.Program, func(t *testing.T) {
				if os.Getenv("JUNCTOR_REQUIRE_CORPUS") == "" && slices.Contains(slow, c.Program) {
					t.Skip("slow: only where everything is measured")
				}
				t.Parallel()
				places <- struct{}{}
				defer func() { <-places }()
				r := measure(t, c, env)
				mu.Lock()
				defer mu.Unlock()
				if r == nil {
					absent = append(absent, c.Program)
					t.Skip("not installed")
				}
				results = append(results, r)
			})
		}
	})
	judge(t, results, absent)
}

// judge logs the table and holds what counts to the bars.
func judge(t *testing.T, results []*result, absent []string) {
	slices.SortFunc(results, func(a, b *result) int { return strings.Compare(a.program, b.program) })
	slices.Sort(absent)
	var total score
	var counted []score
	lines := []string{fmt.Sprintf("%-18s %-14s %s", "program", "framework", scoreHeads)}
	for _, r := range results {
		line := fmt.Sprintf("%-18s %-14s %s %5.1f s %s", r.program, r.framework, r.score, r.took.Seconds(), r.apart)
		lines = append(lines, strings.TrimRight(line, " "))
		if r.apart == "" {
			total.add(r.score)
			counted = append(counted, r.score)
		}
	}
	lines = append(lines, fmt.Sprintf("%-33s %s", fmt.Sprintf("all %d that count", len(counted)), total))
	mean := meanOf(counted)
	lines = append(lines, fmt.Sprintf("%-33s %s", "mean of these", mean))
	t.Log("\n" + strings.Join(lines, "\n"))
	if len(absent) > 0 {
		t.Logf("not installed: %s", strings.Join(absent, " "))
	}
	if os.Getenv("JUNCTOR_REQUIRE_CORPUS") != "" && len(counted) < corpusSize {
		t.Errorf("%d programs are there in the version that was written down; want %d. See testdata/clis/install.sh.", len(counted), corpusSize)
	}
	if len(counted) < fewest {
		t.Log("too few programs to hold to the bars")
		return
	}
	of := total.shares()
	for i, bar := range []float64{barCommands, barOptions, barKinds, barPrecision} {
		if percent, ok := of[i].percent(); ok && percent < bar {
			t.Errorf("%s: %.1f %%, bar %.0f %%", scoreNames[i], percent, bar)
		}
		if percent, ok := mean[i].percent(); ok && percent < bar-meanSlack {
			t.Errorf("%s, mean of the programs: %.1f %%, bar %.0f %%", scoreNames[i], percent, bar-meanSlack)
		}
	}
}

// A result is what was measured for one program.
type result struct {
	program, framework string
	score              score
	took               time.Duration
	apart              string // why it does not count; empty: it does
}

// measure discovers a program and compares. It returns nil where there is none.
func measure(t *testing.T, c *corpusProgram, env []string) *result {
	if _, err := lookPath(c.Program, env); err != nil {
		return nil
	}
	r := &result{program: c.Program, framework: c.Framework, apart: c.otherVersion(t.Context(), env)}
	begun := time.Now()
	defer func() { r.took = time.Since(begun) }()
	// The commands themselves are asked with the second question; what there is no
	// time for in the first is in the list nevertheless.
	if r.apart != "" && os.Getenv("JUNCTOR_REQUIRE_CORPUS") == "" {
		return r // only worth its time where everything is measured
	}
	r.score.compareRoot(t, c, learn(t, c, env, discover.Options{Depth: 1, Time: 30 * time.Second}))
	var below discover.Options
	for _, p := range c.Pages[1:] {
		below.Only = append(below.Only, strings.Join(p.Path, " "))
		depth := len(p.Path)
		if len(p.Commands) > 0 {
			depth++
		}
		below.Depth = max(below.Depth, depth)
	}
	if len(below.Only) > 0 {
		root := learn(t, c, env, below)
		for _, p := range c.Pages[1:] {
			r.score.compare(t, c, p, find(root, p.Path))
		}
	}
	return r
}

// learn returns the root of what discovery makes, an empty one where it fails.
func learn(t *testing.T, c *corpusProgram, env []string, o discover.Options) *model.Command {
	o.Command, o.Env, o.Parallel = []string{c.Program}, env, 2
	program, err := discover.Run(t.Context(), o)
	if err != nil {
		t.Logf("%s, %v: %v", c.Program, o.Only, err)
		return &model.Command{}
	}
	return program.Root
}

// find returns the command of a path, nil where there is none.
func find(c *model.Command, path []string) *model.Command {
	for _, word := range path {
		i := slices.IndexFunc(c.Commands, func(sub *model.Command) bool { return slices.Contains(spellings(sub), word) })
		if i < 0 {
			return nil
		}
		c = c.Commands[i]
	}
	return c
}

// spellings are all the names of a command.
func spellings(c *model.Command) []string {
	return append([]string{c.Path[len(c.Path)-1]}, c.Aliases...)
}
