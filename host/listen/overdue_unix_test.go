//go:build unix

package listen

import (
	"net/http"
	"regexp"
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
	s.close()
	_ = answer.Body.Close()
	said := s.said.String()
	for _, want := range []string{"about to end: nobody new is let in", "requests that took longer were given up"} {
		if !regexp.MustCompile(`"@message":"` + want + `".*"in_flight":1\b`).MatchString(said) {
			t.Errorf("the log does not say %q with the number\n%s", want, said)
		}
	}
}
