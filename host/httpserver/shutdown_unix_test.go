//go:build unix

package httpserver

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// TestDrainTimeoutEndsCallsWithAnError checks that calls that take longer than
// the drain time get an error, and that the log has their number.
func TestDrainTimeoutEndsCallsWithAnError(t *testing.T) {
	t.Parallel()
	gateway := "gateway {\n  http {\n    timeouts {\n      drain = \"500ms\"\n    }\n  }\n}\n"
	s := startHTTP(t, t.TempDir(), gateway+serverBlocks(t, "", "late 20000"), "127.0.0.1:0")
	call, header := modernCall(1, "a__bad", `{}`)
	// The answer is a stream already, so the call is in progress.
	answer, err := s.newClient(t).request(t.Context(), http.MethodPost, call, header...)
	if err != nil {
		t.Fatal(err)
	}
	waiting, err := s.newClient(t).initialize().request(t.Context(), http.MethodPost, legacyCall(2, "a__bad", `{}`))
	if err != nil {
		t.Fatal(err)
	}
	s.close()
	for id, stream := range map[int]*http.Response{1: answer, 2: waiting} {
		text, _ := io.ReadAll(stream.Body)
		if !strings.Contains(string(text), fmt.Sprintf(`"id":%d,"error"`, id)) {
			t.Errorf("call %d was not answered: %s", id, text)
		}
		_ = stream.Body.Close()
	}
	said := s.log.String()
	for _, want := range []string{"shutting down: new requests are refused",
		"drain timeout reached: the remaining requests are abandoned"} {
		if !regexp.MustCompile(`"@message":"` + want + `".*"in_flight":2\b`).MatchString(said) {
			t.Errorf("the log does not say %q with the number\n%s", want, said)
		}
	}
}

// TestDrainRefusesNewConnections checks that an address refuses connections while earlier
// requests end. One that waited for nothing until the process has ended would be a request
// that hangs.
func TestDrainRefusesNewConnections(t *testing.T) {
	t.Parallel()
	gateway := "gateway {\n  http {\n    timeouts {\n      drain = \"4s\"\n    }\n  }\n}\n"
	s := startHTTP(t, t.TempDir(), gateway+serverBlocks(t, "", "late 20000"), "127.0.0.1:0")
	call, header := modernCall(1, "a__bad", `{}`)
	answer, err := s.newClient(t).request(t.Context(), http.MethodPost, call, header...)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	begun := time.Now()
	var closing sync.WaitGroup
	closing.Go(s.close)
	defer closing.Wait()
	eventually.True(t, "connections are refused", func() bool {
		c, err := net.DialTimeout("tcp", s.address, time.Second)
		if err == nil {
			_ = c.Close()
		}
		return errors.Is(err, syscall.ECONNREFUSED)
	})
	if took := time.Since(begun); took > 3*time.Second {
		t.Fatalf("connections were accepted for %s of the drain", took)
	}
	if text, _ := io.ReadAll(answer.Body); !strings.Contains(string(text), `"id":1,"error"`) ||
		time.Since(begun) < 3*time.Second {
		t.Errorf("the call in progress did not get its time, but %s: %s", time.Since(begun), text)
	}
}
