package login

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
)

// A screen records what the user sees.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer // guarded by mu
}

func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// typed returns a pipe that contains text, and its writer.
func typed(t *testing.T, text string) (*os.File, io.Writer) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close(); _ = w.Close() })
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	return r, w
}

// TestPaste: without a browser the user may paste the address or its query. Other text
// gets an explanation.
func TestPaste(t *testing.T) {
	seen := &screen{}
	in, w := typed(t, "")
	c := listening(t, Options{In: in, Out: seen, Lookup: nowhere}, "/callback")
	host := strings.Split(c.URL(), "/")[2]
	port := strings.Split(host, ":")[1]
	const query = "code=a%2Fb&state=s3cret"
	for _, right := range []string{
		c.URL() + "?" + query, "  <" + c.URL() + "?" + query + ">\r", `"` + c.URL() + "?" + query + `"`,
		"http://localhost:" + port + "/callback?" + query, host + "/callback?" + query, "?" + query, query,
	} {
		if _, err := io.WriteString(w, right+"\n"); err != nil {
			t.Fatal(err)
		}
		if got := waiting(t, c); got != query {
			t.Errorf("%q became %q", right, got)
		}
	}
	for wrong, says := range map[string]string{
		"https://login.example.com/authorize?client_id=s3cret&code=1&state=2": "the address of another page",
		"https://" + host + "/callback?code=1&state=2":                        "the address of another page",
		"http://127.0.0.1:1/callback?code=1&state=2":                          "the address of another page",
		"http://evil.example:" + port + "/callback?code=1&state=2":            "the address of another page",
		c.URL() + "/x?code=1&state=2":                                         "the address of another page",
		"http://[/callback?code=1&state=2":                                    "not an address",
		c.URL():                                                               "no code",
		c.URL() + "?state=s3cret":                                             "no code",
		"s3cret":                                                              "no code",
		"y":                                                                   "no code",
		"code=%zz&state=1":                                                    "no code",
		"code=s3cret":                                                         "a code but no state",
		c.URL() + "?code=s3cret&stat":                                         "a code but no state",
	} {
		before := len(seen.String())
		if _, err := io.WriteString(w, wrong+"\n\n"+query+"\n"); err != nil {
			t.Fatal(err)
		}
		if got := waiting(t, c); got != query {
			t.Errorf("%q became %q", wrong, got)
		}
		if told := seen.String()[before:]; !strings.Contains(told, says) || !strings.Contains(told, c.URL()) {
			t.Errorf("%q is answered with %q", wrong, told)
		}
	}
	if strings.Contains(seen.String(), "s3cret") {
		t.Errorf("what was pasted is shown: %s", seen)
	}
	if _, err := io.WriteString(w, "error=access_denied\n"); err != nil {
		t.Fatal(err)
	}
	if got := waiting(t, c); got != "error=access_denied" {
		t.Errorf("a login that was declined: %q", got)
	}
}

// TestPasteOrRedirect: either a redirect or a pasted address ends Wait. Text that was
// typed too late stays for the next question.
func TestPasteOrRedirect(t *testing.T) {
	in, w := typed(t, "")
	c := listening(t, Options{In: in, Out: &screen{}, Lookup: nowhere}, "/callback")
	get(t, "GET", c.URL()+"?"+redirected("1", "2"), nil)
	if got := waiting(t, c); got != "code=1&state=2" {
		t.Errorf("got %q", got)
	}
	quiet(t, c)
	if _, err := io.WriteString(w, "code=3&state=4"); err != nil { // no complete line yet
		t.Fatal(err)
	}
	quiet(t, c)
	if _, err := io.WriteString(w, "5\ncode=6&state=7\n"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"code=3&state=45", "code=6&state=7"} {
		if got := waiting(t, c); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestSecondWaitRejectsFirstAnswer: after a second call of Wait the user learns that the
// first answer was rejected.
func TestSecondWaitRejectsFirstAnswer(t *testing.T) {
	seen := &screen{}
	in, _ := typed(t, "code=1&state=wrong\ncode=2&state=right\n")
	c := listening(t, Options{In: in, Out: seen, Lookup: nowhere}, "/callback")
	const told = "That answer belongs to another login. Still waiting.\n"
	for i, want := range []string{"code=1&state=wrong", "code=2&state=right"} {
		if got := waiting(t, c); got != want || strings.Count(seen.String(), told) != i {
			t.Errorf("got %q; the user sees\n%s", got, seen)
		}
	}
	quiet(t, c)
	quiet(t, c)
	if strings.Count(seen.String(), told) != 2 || strings.Count(seen.String(), "paste the address") != 1 {
		t.Errorf("the user sees\n%s", seen)
	}
}

// TestPasteFromPipe: Wait goes on at the end of a pipe. A line without an end is limited.
func TestPasteFromPipe(t *testing.T) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	last, w := typed(t, "code=8&state=9")
	_ = w.(*os.File).Close()
	c := listening(t, Options{In: last, Out: &screen{}, Lookup: nowhere}, "/callback")
	if got := waiting(t, c); got != "code=8&state=9" {
		t.Errorf("a last line without an end: %q", got)
	}
	for _, in := range []*os.File{null, last} {
		out := &screen{}
		c := listening(t, Options{In: in, Out: out, Lookup: nowhere}, "/callback")
		for begun := time.Now(); !strings.Contains(out.String(), "so nothing can be pasted") &&
			time.Since(begun) < patience; {
			quiet(t, c)
		}
		get(t, "GET", c.URL()+"?code=1", nil)
		if got := waiting(t, c); got != "code=1" {
			t.Errorf("got %q", got)
		}
		if !strings.Contains(out.String(), "so nothing can be pasted") {
			t.Errorf("the user is not told that nothing can be pasted: %q", out)
		}
	}
	long, _ := typed(t, strings.Repeat("x", maxLine+2))
	c = listening(t, Options{In: long, Out: &screen{}, Lookup: nowhere}, "/callback")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if _, err := c.Wait(ctx); sdk.CodeOf(err) != sdk.Invalid {
		t.Errorf("a line without an end: %v", err)
	}
}

// TestUnattendedLoginFails: with CI set Wait fails at the end of the input, unless a
// redirect was written before.
func TestUnattendedLoginFails(t *testing.T) {
	ci := func(name string) (string, bool) { return "1", name == "CI" }
	for written, want := range map[string]string{"": "", "nonsense\n": "", "code=1&state=2\n": "code=1&state=2",
		"code=1&state=2": "code=1&state=2"} {
		in, w := typed(t, written)
		_ = w.(*os.File).Close()
		c := listening(t, Options{In: in, Out: &screen{}, Lookup: ci}, "/callback")
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		got, err := c.Wait(ctx)
		cancel()
		if e, _ := errors.AsType[*sdk.Error](err); got != want || (want == "") != (e != nil && e.Reason == "nobody") {
			t.Errorf("%q: got %q, %v", written, got, err)
		}
	}
	in, w := typed(t, "") // more input may follow
	c := listening(t, Options{In: in, Out: &screen{}, Lookup: ci}, "/callback")
	quiet(t, c)
	if _, err := io.WriteString(w, "code=3&state=4\n"); err != nil {
		t.Fatal(err)
	}
	if got := waiting(t, c); got != "code=3&state=4" {
		t.Errorf("got %q", got)
	}
}

// TestPasteOnlyWithoutBrowser: with a browser no input is read.
func TestPasteOnlyWithoutBrowser(t *testing.T) {
	in, _ := typed(t, "code=1&state=2\n")
	c := listening(t, Options{In: in}, "/callback")
	quiet(t, c)
	b := make([]byte, 4)
	_ = in.SetReadDeadline(time.Now().Add(patience))
	if n, err := in.Read(b); err != nil || string(b[:n]) != "code" {
		t.Errorf("the input was read: %q, %v", b[:n], err)
	}
}

// TestPromptLimits: a prompt needs a terminal and has a limited number of fields.
func TestPromptLimits(t *testing.T) {
	in, _ := typed(t, "answer\n")
	for _, in := range []*os.File{nil, in} {
		term, err := New(Options{In: in, Out: io.Discard})
		if err != nil {
			t.Fatal(err)
		}
		_, err = term.Prompt(t.Context(), sdk.Prompt{Fields: []sdk.PromptField{{Name: "token", Secret: true}}})
		e, ok := errors.AsType[*sdk.Error](err)
		if !ok || e.Code != sdk.Unimplemented || e.Reason != "no_terminal" ||
			!strings.Contains(e.Hint, "on a terminal") {
			t.Errorf("got %v", err)
		}
		if _, err = term.Prompt(t.Context(),
			sdk.Prompt{Fields: make([]sdk.PromptField, maxFields+1)}); sdk.CodeOf(err) != sdk.Invalid {
			t.Errorf("too many fields: %v", err)
		}
	}
}
