package main

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

// A page collects the tables of a run. Each is printed at once, and can be
// written into a document afterwards.
type page struct{ tables map[string]string }

func (p *page) add(name, title, text string) {
	fmt.Printf("\n## %s\n\n%s", title, text)
	if p.tables == nil {
		p.tables = map[string]string{}
	}
	p.tables[name] = text
}

// conditions records when and on what the calls were measured. small is p50 of a
// small direct call.
func (p *page) conditions(rounds int, small time.Duration, others float64) {
	p.add("conditions", "Conditions", fmt.Sprintf("%s, medians of %d rounds, %d processors (%s, %s %s, %s). A small direct call took %s. Other\nprograms used %.1f processors meanwhile.\n",
		time.Now().Format("2 January 2006"), rounds, runtime.NumCPU(), processor(), runtime.GOOS, kernel(),
		runtime.Version(), micro(small), others))
}

func processor() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if name, value, found := strings.Cut(line, ":"); found && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

func firstLine(path string) string {
	text, _ := os.ReadFile(path)
	line, _, _ := strings.Cut(string(text), "\n")
	return line
}

// write replaces the tables between their markers in a document:
//
//	<!-- bench: NAME -->
//	…
//	<!-- end of bench: NAME -->
//
// It fails if the document lacks the markers of a table.
func (p *page) write(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for name, table := range p.tables {
		begin, end := fmt.Appendf(nil, "<!-- bench: %s -->\n", name), fmt.Appendf(nil,
			"<!-- end of bench: %s -->", name)
		before, rest, found := bytes.Cut(text, begin)
		_, after, ended := bytes.Cut(rest, end)
		if !found || !ended {
			return fmt.Errorf("%s has no markers for the table %q", path, name)
		}
		text = bytes.Join([][]byte{before, begin, []byte("\n" + table + "\n"), end, after}, nil)
	}
	return os.WriteFile(path, text, 0o644)
}

// kernel returns the version of the kernel without the name of its build.
func kernel() string {
	version, _, _ := strings.Cut(firstLine("/proc/sys/kernel/osrelease"), "-")
	return version
}
