package process

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// letGo releases a program that leaves an orphan, calls every function that
// ends processes, and prints the ids of both.
func letGo([]string) {
	if err := Adopt(); err != nil {
		panic(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	// The shell stays a child, and its subshell becomes an orphan.
	p, err := Start(Command{
		Path: "/bin/sh", Args: []string{"sh", "-c", "(sleep 60 & echo $!); sleep 60"}, Stdout: w, Release: true,
		Env: []string{"PATH=" + os.Getenv("PATH")},
	})
	if err != nil {
		panic(err)
	}
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		panic(err)
	}
	p.Kill()
	p.Terminate()
	EndAdopted()
	EndAll(time.Second)
	EndStale()
	fmt.Println(p.PID(), strings.TrimSpace(line))
}

// TestRelease checks that a released process survives the functions that end
// processes, and the end of the program.
func TestRelease(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = as("letgo")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Fields(string(out))
	if len(words) != 2 {
		t.Fatalf("got %q", out)
	}
	for _, word := range words {
		pid, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		if s, ok := statOf(pid); !ok || s.dead {
			t.Errorf("process %d was ended", pid)
			continue
		}
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// TestReleaseEnds checks that the end and the exit status of a released process
// are reported.
func TestReleaseEnds(t *testing.T) {
	p, err := Start(Command{Path: "/bin/sh", Args: []string{"sh", "-c", "exit 3"}, Release: true})
	if err != nil {
		t.Fatal(err)
	}
	if !p.Wait(patience) || p.ExitCode() != 3 {
		t.Errorf("it %s", p.Ended())
	}
}
