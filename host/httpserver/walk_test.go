package httpserver

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/junctor-mcp/junctor/host/mcp"
	conversation "github.com/junctor-mcp/junctor/testdata/conversations"
	"github.com/junctor-mcp/junctor/testdata/eventually"
)

var update = flag.Bool("update", false, "write the walk of a call into docs/architecture.md")

const (
	architecturePage = "../../docs/architecture.md"
	walkBegin        = "<!-- walk: written by go test ./host/httpserver -run Walk -update -->\n```\n"
	walkEnd          = "```\n<!-- end -->"
	maxHops          = 22
)

// TestWalkOfOneCall lists the functions that one tools/call of a modern client
// passes on its way from the socket to the server. They are few, and the way never
// returns to a package that it has left.
func TestWalkOfOneCall(t *testing.T) {
	server := newScriptedServer("a", "2026-07-28")
	var asked atomic.Bool
	answer := make(chan struct{})
	others := server.Answer
	server.Answer = func(l *conversation.Link, m conversation.Message) string {
		if m.Method == mcp.MethodCallTool {
			asked.Store(true)
			<-answer
		}
		return others(l, m)
	}
	_, alice, _ := openShared(t, func(*Options) {}, server)
	call, header := modernCall(1, "a__echo", `{}`)
	var work sync.WaitGroup
	work.Go(func() {
		if status, text, _, err := alice.post(call, header...); err != nil || status != http.StatusOK {
			t.Errorf("%d, %v: %s", status, err, text)
		}
	})
	defer work.Wait()
	defer close(answer)
	eventually.True(t, "the server has the call", asked.Load)
	walk := walkOf(t, stacksOfWaiting(t))

	if len(walk) > maxHops {
		t.Errorf("%d hops, want at most %d", len(walk), maxHops)
	}
	var left []string
	for i, hop := range walk {
		pkg := packageOf(hop)
		if i > 0 && packageOf(walk[i-1]) != pkg {
			left = append(left, packageOf(walk[i-1]))
		}
		if slices.Contains(left, pkg) {
			t.Errorf("%s returns to package %s", hop, pkg)
		}
	}
	compareWalk(t, walk)
}

// stacksOfWaiting returns all stacks once the goroutine of the call waits for the
// answer: the server may have the message before the function that sends it returns.
func stacksOfWaiting(t *testing.T) (stacks string) {
	t.Helper()
	text := make([]byte, 1<<20)
	eventually.True(t, "the call waits for its answer", func() bool {
		stacks = string(text[:runtime.Stack(text, true)])
		return strings.Contains(stacks, "upstream.(*conn).wait(")
	})
	return stacks
}

func packageOf(hop string) string {
	pkg, _, _ := strings.Cut(hop, ".")
	return pkg
}

// walkOf returns the functions of the host in the stack of the goroutine that
// serves the call, outermost first.
func walkOf(t *testing.T, stacks string) (walk []string) {
	t.Helper()
	const module = "github.com/junctor-mcp/junctor/host/"
	for goroutine := range strings.SplitSeq(stacks, "\n\n") {
		if !strings.Contains(goroutine, "httpserver.(*Server).ServeHTTP") ||
			!strings.Contains(goroutine, "upstream.(*Upstream).Call") {
			continue
		}
		lines := strings.Split(goroutine, "\n")
		for i, line := range lines {
			name, ok := strings.CutPrefix(line, module)
			if !ok {
				continue
			}
			name = name[:strings.LastIndex(name, "(")]
			name, _, _ = strings.Cut(name, "-fm.") // the function that a method value returned
			name, _, literal := strings.Cut(name, ".func")
			file, _, _ := strings.Cut(path.Base(lines[i+1]), ":")
			if literal {
				file += ", a function in it"
			}
			walk = append(walk, fmt.Sprintf("%-46s %s", name, file))
		}
		slices.Reverse(walk)
		return walk
	}
	t.Fatalf("no goroutine serves the call:\n%s", stacks)
	return nil
}

// compareWalk compares the walk with that in docs/architecture.md.
func compareWalk(t *testing.T, walk []string) {
	t.Helper()
	page, err := os.ReadFile(architecturePage)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok1 := strings.Cut(string(page), walkBegin)
	written, after, ok2 := strings.Cut(rest, walkEnd)
	if !ok1 || !ok2 {
		t.Fatal("docs/architecture.md has no place for the walk")
	}
	var now strings.Builder
	for i, hop := range walk {
		fmt.Fprintf(&now, "%2d %s\n", i+1, hop)
	}
	if *update {
		if err := os.WriteFile(architecturePage, []byte(before+walkBegin+now.String()+walkEnd+after),
			0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if written != now.String() {
		t.Errorf("docs/architecture.md has another walk; write this one with -update:\n%s", &now)
	}
}
