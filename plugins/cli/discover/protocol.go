package discover

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A completion is a word that a program offers for completion, with its
// description.
type completion struct{ word, summary string }

// A protocol asks a program for the completions of the word after a path.
// Shells do this at every press of TAB, so it is safe with a program that
// implements the protocol. Any other program takes the question for ordinary
// arguments.
type protocol struct {
	source   string
	complete func(ctx context.Context, p *prober, path []string, word string) []completion
}

// clickHelp matches a sentence in the help of every program built with click.
var clickHelp = regexp.MustCompile(`(?m)^\s+(-h, )?--help\b.*Show this message and exit\.$`)

// cobraMark and clapMark occur in every binary that implements the protocol.
// The help of a cobra program does not suffice to recognise it: other libraries
// copy its sentences, and a wrong guess would run the program.
const (
	cobraMark = "__completeNoDesc"
	clapMark  = "_CLAP_COMPLETE_INDEX"
)

// marksIn returns the marks that an executable contains.
func marksIn(path string) []string {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	var found []string
	buf := make([]byte, 1<<20)
	kept := 0 // bytes of the previous block, in which a mark may have begun
	for {
		n, err := f.Read(buf[kept:])
		text := buf[:kept+n]
		for _, mark := range []string{cobraMark, clapMark} {
			if !slices.Contains(found, mark) && bytes.Contains(text, []byte(mark)) {
				found = append(found, mark)
			}
		}
		if err != nil && !errors.Is(err, io.EOF) || n == 0 {
			return found
		}
		kept = copy(buf, text[max(0, len(text)-len(clapMark)):])
	}
}

var directive = regexp.MustCompile(`^:\d+$`)

// completeCobra asks a program built with spf13/cobra. The last line of its
// answer is a colon and a number.
func completeCobra(ctx context.Context, p *prober, path []string, word string) []completion {
	a := p.ask(ctx, slices.Concat([]string{"__complete"}, path, []string{word})...)
	lines := strings.Split(strings.TrimSpace(a.stdout), "\n")
	last := len(lines) - 1
	if a.failed != nil || a.status != 0 || !directive.MatchString(lines[last]) {
		return nil
	}
	return tabbed(lines[:last])
}

// tabbed parses lines of a word, a TAB and its description.
func tabbed(lines []string) []completion {
	var offered []completion
	for _, line := range lines {
		word, summary, _ := strings.Cut(line, "\t")
		// Lines with this prefix are instructions for the shell.
		if word = strings.TrimSpace(word); word != "" && !strings.HasPrefix(word, "_activeHelp_") {
			offered = append(offered, completion{word, strings.TrimSpace(summary)})
		}
	}
	return offered
}

// clickVariable returns the environment variable that a program built with
// click reads first. While it is set, the program ignores its arguments. The
// question still passes --help, so that a program that does not read the
// variable only prints its help.
func clickVariable(p *prober) string {
	name := strings.NewReplacer("-", "_", ".", "_").Replace(programName(p.path))
	return "_" + strings.ToUpper(name) + "_COMPLETE"
}

// speaksClick reports whether a program prints click's completion script.
func speaksClick(ctx context.Context, p *prober) bool {
	a := p.with(clickVariable(p)+"=zsh_source").ask(ctx, string(longFlag))
	return a.failed == nil && strings.Contains(a.stdout, "#compdef") && strings.Contains(a.stdout, clickVariable(p))
}

// completeClick parses three lines for each completion: its type, the word and
// its description.
func completeClick(ctx context.Context, p *prober, path []string, word string) []completion {
	words := strings.Join(append([]string{programName(p.path)}, path...), " ") + " " + word
	a := p.with(clickVariable(p)+"=zsh_complete", "COMP_WORDS="+words, "COMP_CWORD="+strconv.Itoa(len(path)+1)).ask(ctx,
		string(longFlag))
	if a.failed != nil || a.status != 0 {
		return nil
	}
	lines := strings.Split(strings.TrimSuffix(a.stdout, "\n"), "\n")
	if len(lines)%3 != 0 {
		return nil
	}
	var offered []completion
	for c := range slices.Chunk(lines, 3) {
		if c[0] != "plain" {
			continue // file names
		}
		if c[2] == "_" {
			c[2] = ""
		}
		offered = append(offered, completion{c[1], c[2]})
	}
	return offered
}

// speaksClap reports whether a program prints clap's completion script. A
// program built with clap ignores arguments without "--" while the variable is
// set.
func speaksClap(ctx context.Context, p *prober) bool {
	a := p.with("COMPLETE=fish").ask(ctx, string(longFlag))
	return a.failed == nil && a.status == 0 && strings.HasPrefix(strings.TrimSpace(a.stdout), "complete ") &&
		strings.Contains(a.stdout, "COMPLETE=fish")
}

// completeClap asks a program built with clap.
func completeClap(ctx context.Context, p *prober, path []string, word string) []completion {
	a := p.with("COMPLETE=fish").ask(ctx, slices.Concat([]string{"--", p.name}, path, []string{word})...)
	if a.failed != nil || a.status != 0 {
		return nil
	}
	return tabbed(strings.Split(strings.TrimSpace(a.stdout), "\n"))
}
