//go:build unix

package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// publishers returns a configuration with a server for each triple of a name, an era
// and a description of its tools.
func publishers(triples ...string) string {
	var text strings.Builder
	for s := range slices.Chunk(triples, 3) {
		fmt.Fprintf(&text, "server %q {\n  transport \"stdio\" {\n    command = [\"publisher\", %q, %q]\n  }\n}\n", s[0], s[1], s[2])
	}
	return text.String()
}

// publisherURIAt returns the resource of one of several publishers.
func publisherURIAt(server string) string {
	return "junctor://" + server + "/news%3A%2F%2Fn"
}

// awaitEnd waits until a process has ended.
func awaitEnd(t *testing.T, pid string) {
	t.Helper()
	n, err := strconv.Atoi(pid)
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(reloadPatience); !errors.Is(syscall.Kill(n, 0), syscall.ESRCH); {
		if time.Now().After(end) {
			t.Fatalf("the server with the process id %s has not ended", pid)
		}
		time.Sleep(10 * time.Millisecond)
	}
}
