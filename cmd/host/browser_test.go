package main

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"time"
)

// browser is the user's browser for scripts. "browser go FILE" opens the address that a login
// prints into a file, and follows redirects. "browser look FILE" is on another machine and
// prints the address that it cannot reach.
func browser() {
	address := printed(os.Args[2])
	client := http.Client{Timeout: 10 * time.Second}
	if os.Args[1] == "look" {
		client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	}
	res, err := client.Get(address)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	_ = res.Body.Close()
	fmt.Println(res.Header.Get("Location"))
}

// printed waits for an address on its own line.
func printed(file string) string {
	line := regexp.MustCompile(`(?m)^  (http://\S+)$`)
	var text []byte
	for range 1200 { // one minute: the machine may be busy
		text, _ = os.ReadFile(file)
		if found := line.FindSubmatch(text); found != nil {
			return string(found[1])
		}
		time.Sleep(50 * time.Millisecond) // this is a browser's process, with no test to fail
	}
	fmt.Fprintf(os.Stderr, "no address is printed in %s: %s\n", file, text)
	os.Exit(1)
	return ""
}

// givenPorts are the ports that freePort returned. A port is free until its test uses it.
var givenPorts sync.Map

// freePort returns a free port below 32768, where the system's ephemeral ports begin, that no
// other test of the process has.
func freePort(t *testing.T) string {
	t.Helper()
	for range 100 {
		port := strconv.Itoa(11000 + rand.IntN(10000))
		if _, given := givenPorts.LoadOrStore(port, true); given {
			continue
		}
		if l, err := net.Listen("tcp", "127.0.0.1:"+port); err == nil {
			_ = l.Close()
			return port
		}
	}
	t.Fatal("there is no free port")
	return ""
}
