package httpserver

import (
	"fmt"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/host/mcp"
)

// TestOriginPolicyRefusesWebPages sends what a page in the user's browser can
// send, over every transport. No server may be called.
func TestOriginPolicyRefusesWebPages(t *testing.T) {
	t.Parallel()
	h := openFixture(t, func(o *Options) { o.LegacySSE = true }, newScriptedServer("a", "2025-11-25"))
	port := h.address[strings.LastIndex(h.address, ":"):]
	call, header := modernCall(1, "a__echo", `{}`)
	own := "Host: " + h.address + "\r\n"
	cases := map[string]string{
		"evil origin":            own + "Origin: https://evil.example.com\r\n",
		"null":                   own + "Origin: null\r\n",
		"empty origin":           own + "Origin: \r\n",
		"two origins":            own + "Origin: http://localhost\r\nOrigin: http://localhost\r\n",
		"a list of origins":      own + "Origin: http://localhost, https://evil.example.com\r\n",
		"another port":           own + "Origin: http://localhost:1\r\n",
		"a longer name":          own + "Origin: http://localhost.evil.example.com\r\n",
		"another scheme":         own + "Origin: https://" + h.address + "\r\n",
		"with a path":            own + "Origin: http://localhost/\r\n",
		"upper case":             own + "Origin: HTTP://LOCALHOST\r\n",
		"a page without origin":  own + "Sec-Fetch-Site: cross-site\r\n",
		"its neighbour":          own + "Sec-Fetch-Site: same-site\r\n",
		"evil host":              "Host: evil.com" + port + "\r\n",
		"evil host, no port":     "Host: evil.com\r\n",
		"evil page of evil host": "Host: evil.com" + port + "\r\nOrigin: http://evil.com" + port + "\r\n",
		"localhost.evil.com":     "Host: localhost.evil.com" + port + "\r\n",
		"127.0.0.1.evil.com":     "Host: 127.0.0.1.evil.com" + port + "\r\n",
		"[::1].evil":             "Host: [::1].evil" + port + "\r\n",
		"empty host":             "Host: \r\n",
		"wrong port":             "Host: 127.0.0.1:1\r\n",
		"no port":                "Host: 127.0.0.1\r\n",
		"another address":        "Host: 192.0.2.1" + port + "\r\n",
		"all addresses":          "Host: 0.0.0.0" + port + "\r\n",
		"a dot behind":           "Host: localhost." + port + "\r\n",
	}
	for name, lines := range cases {
		for _, endpoint := range []string{"POST /mcp", "GET /mcp", "DELETE /mcp", "OPTIONS /mcp", "GET /sse",
			"POST /messages?sessionId=x"} {
			text := fmt.Sprintf(
				"%s HTTP/1.1\r\n%sContent-Type: application/json\r\nConnection: close\r\nContent-Length: %d\r\n",
				endpoint, lines, len(call),
			)
			for i := 0; i < len(header); i += 2 {
				text += header[i] + ": " + header[i+1] + "\r\n"
			}
			answer, _ := h.sendRaw(t, text+"\r\n"+call)
			if !strings.HasPrefix(answer, "HTTP/1.1 403 ") || strings.Contains(answer, "Access-Control") {
				t.Errorf("%s, %s:\n%s", name, endpoint, answer)
			}
		}
	}
	if n := h.servers["a"].Count(mcp.MethodCallTool); n != 0 {
		t.Errorf("the server got %d calls", n)
	}
	// The same message without these headers is answered.
	if a := h.newClient(t).mustPost(call, header...); !strings.Contains(a, `"echo"`) {
		t.Error(a)
	}
}

// TestRefusedHeadersAreLogged checks that the log has the refused header,
// printable and shortened.
func TestRefusedHeadersAreLogged(t *testing.T) {
	t.Parallel()
	h := openFixture(t, nil, newScriptedServer("a", "2025-11-25"))
	long := strings.Repeat("x", 5000)
	h.sendRaw(t, "GET /mcp HTTP/1.1\r\nHost: mcp.example.com\r\nConnection: close\r\n\r\n")
	h.sendRaw(t,
		"GET /mcp HTTP/1.1\r\nHost: "+h.address+"\r\nOrigin: https://\x9b31m.example.com\r\nConnection: close\r\n\r\n")
	h.sendRaw(t, "GET /mcp HTTP/1.1\r\nHost: "+h.address+"\r\nOrigin: https://"+long+"\r\nConnection: close\r\n\r\n")
	log := h.log.String()
	for _, want := range []string{"why=host host=mcp.example.com ",
		"why=origin host=" + h.address + " origin=", ".example.com"} {
		if !strings.Contains(log, want) {
			t.Errorf("the log does not contain %q:\n%s", want, log)
		}
	}
	if strings.Contains(log, "\x9b") || strings.Contains(log, long[:200]) {
		t.Errorf("the log contains unprintable characters of the client:\n%s", log)
	}
}
