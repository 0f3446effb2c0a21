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

// The minimum scores over all programs, in percent. Programs with hundreds of
// commands dominate this sum. So the average with equal weights must not be far
// below.
const (
	barCommands  = 98
	barOptions   = 95
	barKinds     = 90
	barPrecision = 90
	meanSlack    = 3
)

// corpusSize is the number of programs that are required if all were installed.
const corpusSize = 40

// fewest is the number of programs for which the result is meaningful.
const fewest = 10

// slow are programs with slow answers or many commands. They are measured only
// together with all others, because without them the test takes a tenth of the
// time.
var slow = []string{
	"ansible-galaxy", "aws", "flask", "gh", "git", "hugo", "kubectl", "npm", "openssl", "pip", "pre-commit",
	"terraform", "uv", "webpack",
}

// TestRecall compares what discovery finds in real programs with testdata/clis.
// It checks the model, which also contains dangerous options; danger/testdata
// shows what tools leave out. Programs that are not installed, or in another
// version, do not count.
//
// "make soak" measures all programs, this test alone only those that are not
// slow. To measure one program and list what is missing, set
// JUNCTOR_REQUIRE_CORPUS=1 and use -run TestRecall/each/git -v.
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

// judge logs the scores and compares them with the minimum.
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
		t.Errorf("%d programs are installed in the recorded version; want %d. See testdata/clis/install.sh.",
			len(counted), corpusSize)
	}
	if len(counted) < fewest {
		t.Log("too few programs to hold to the bars")
		return
	}
	of := total.shares()
	for i, bar := range []float64{barCommands, barOptions, barKinds, barPrecision} {
		if percent, ok := of[i].percent(); ok && percent < bar {
			t.Errorf("%s: %.1f %%, want %.0f %%", scoreNames[i], percent, bar)
		}
		if percent, ok := mean[i].percent(); ok && percent < bar-meanSlack {
			t.Errorf("%s, average of the programs: %.1f %%, want %.0f %%", scoreNames[i], percent, bar-meanSlack)
		}
	}
}

// A result is the score of one program.
type result struct {
	program, framework string
	score              score
	took               time.Duration
	apart              string // why it does not count; empty if it counts
}

// measure discovers a program and compares it. It returns nil if the program is
// not installed.
func measure(t *testing.T, c *corpusProgram, env []string) *result {
	if _, err := lookPath(c.Program, env); err != nil {
		return nil
	}
	r := &result{program: c.Program, framework: c.Framework, apart: c.otherVersion(t.Context(), env)}
	begun := time.Now()
	defer func() { r.took = time.Since(begun) }()
	// The first question covers only the program itself. Commands that there is
	// no time for stay in the list.
	if r.apart != "" && os.Getenv("JUNCTOR_REQUIRE_CORPUS") == "" {
		return r // slow programs are measured only with all others
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

// learn returns the discovered root command, or an empty one if discovery
// fails.
func learn(t *testing.T, c *corpusProgram, env []string, o discover.Options) *model.Command {
	o.Command, o.Env, o.Parallel = []string{c.Program}, env, 2
	program, err := discover.Run(t.Context(), o)
	if err != nil {
		t.Logf("%s, %v: %v", c.Program, o.Only, err)
		return &model.Command{}
	}
	return program.Root
}

// find returns the command at path, or nil.
func find(c *model.Command, path []string) *model.Command {
	for _, word := range path {
		i := slices.IndexFunc(c.Commands,
			func(sub *model.Command) bool { return slices.Contains(spellings(sub), word) })
		if i < 0 {
			return nil
		}
		c = c.Commands[i]
	}
	return c
}

// spellings returns all names of a command.
func spellings(c *model.Command) []string {
	return append([]string{c.Path[len(c.Path)-1]}, c.Aliases...)
}
