//go:build unix

package httpserver

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// TestOverdue: a call that takes longer than the end of the gateway is given up,
// and the log says that it was.
func TestOverdue(t *testing.T) {
	t.Parallel()
	gateway := "gateway {\n  http {\n    timeouts {\n      drain = \"500ms\"\n    }\n  }\n}\n"
	s := openSite(t, t.TempDir(), gateway+blocks(t, "", "late 20000"), "127.0.0.1:0")
	call, header := modernCall(1, "a__bad", `{}`)
	// It has become a stream when this returns, so it is underway.
	answer, err := s.visit(t).request(t.Context(), http.MethodPost, call, header...)
	if err != nil {
		t.Fatal(err)
	}
	waiting, err := s.visit(t).greet().request(t.Context(), http.MethodPost, legacyCall(2, "a__bad", `{}`))
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
	said := s.said.String()
	for _, want := range []string{"about to end: nobody new is let in", "requests that took longer were given up"} {
		if !regexp.MustCompile(`"@message":"` + want + `".*"in_flight":2\b`).MatchString(said) {
			t.Errorf("the log does not say %q with the number\n%s", want, said)
		}
	}
}
