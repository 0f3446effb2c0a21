package login

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
)

// TestClient: a Client shows a page only if the login returns to this machine, and asks
// no questions.
func TestClient(t *testing.T) {
	var shown []string
	c, err := NewClient(Options{Server: "demo", Ports: "0"}, func(address string) { shown = append(shown, address) })
	if err != nil {
		t.Fatal(err)
	}
	if err := c.OpenURL(t.Context(), "https://as.test/device",
		"enter the code ABCD"); sdk.CodeOf(err) != sdk.Unimplemented {
		t.Errorf("a login that ends elsewhere: %v", err)
	}
	if _, err := c.Prompt(t.Context(),
		sdk.Prompt{Fields: []sdk.PromptField{{Name: "token", Secret: true}}}); sdk.CodeOf(err) != sdk.Unimplemented {
		t.Errorf("a question: %v", err)
	}
	cb, err := c.Callback(t.Context(), "/callback")
	if err != nil {
		t.Fatal(err)
	}
	defer cb.Close()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for _, bad := range []string{"javascript:alert(1)", "http://127.0.0.1/x", "https://u:p@as.test/",
		"https://аpple.test/", "file:///etc/passwd"} {
		if err := c.OpenURL(t.Context(), bad, ""); sdk.CodeOf(err) != sdk.Denied {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if err := c.OpenURL(gone, "https://as.test/", ""); err == nil || len(shown) > 0 {
		t.Errorf("shown %q, %v", shown, err)
	}
	if err := c.OpenURL(t.Context(), "https://xn--pple-43d.test/authorize?a=`b`", ""); err != nil || len(shown) != 1 ||
		shown[0] != "https://xn--pple-43d.test/authorize?a=%60b%60" {
		t.Errorf("shown %q, %v", shown, err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second}
	res, err := client.Get(cb.URL() + "?code=c&state=s")
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if q, err := cb.Wait(t.Context()); q != "code=c&state=s" || err != nil {
		t.Errorf("the way back: %q, %v", q, err)
	}
	if _, err := NewClient(Options{Ports: "x"}, nil); err == nil {
		t.Error("invalid ports were accepted")
	}
}
