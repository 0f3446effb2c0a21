package httpserver

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
)

// TestAmbiguousFramingIsRefused checks that a request that a proxy could read
// differently gets 400, and that the rest of the connection is not read.
func TestAmbiguousFramingIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ours := newAuthority(t, dir, "ours")
	ours.sign("server", 2)
	secure, err := NewTLS(Certificates{Cert: filepath.Join(dir, "server.pem"), Key: filepath.Join(dir, "server.key")},
		hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	call, header := modernCall(1, "a__echo", `{}`)
	for name, h := range map[string]*fixture{
		"plain": openFixture(t, nil, newScriptedServer("a", "2026-07-28")),
		"TLS":   openSecureFixture(t, secure, newScriptedServer("a", "2026-07-28")),
	} {
		dial := func() net.Conn {
			conn, err := net.Dial("tcp", h.address)
			if err != nil {
				t.Fatal(err)
			}
			if name == "TLS" {
				config := ours.client("", nil).TLSClientConfig
				config.NextProtos, config.ServerName = []string{"http/1.1"}, "127.0.0.1"
				conn = tls.Client(conn, config)
			}
			_ = conn.SetDeadline(time.Now().Add(testTimeout))
			return conn
		}
		head := "POST /mcp HTTP/1.1\r\nHost: " + h.address + "\r\nContent-Type: application/json\r\n"
		for i := 0; i < len(header); i += 2 {
			head += header[i] + ": " + header[i+1] + "\r\n"
		}
		length := fmt.Sprintf("Content-Length: %d\r\n", len(call))
		good := head + length + "\r\n" + call
		chunks := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(call), call)
		for what, text := range map[string]string{
			"both lengths":    head + length + "Transfer-Encoding: chunked\r\n\r\n" + chunks,
			"two lengths":     head + length + length + "\r\n" + call,
			"LF":              strings.ReplaceAll(head+length+"\r\n", "\r\n", "\n") + call,
			"one LF":          head + "X-A: b\n" + length + "\r\n" + call,
			"a folded header": head + "X-A: b\r\n c\r\n" + length + "\r\n" + call,
			"space and colon": head + "X-A : b\r\n" + length + "\r\n" + call,
			"a chunk with LF": head + "Transfer-Encoding: chunked\r\n\r\n" + strings.Replace(chunks, "\r\n", "\n", 1),
			"LF behind chunks": head + "Transfer-Encoding: chunked\r\n\r\n" +
				strings.Replace(chunks, "\r\n0", "\n0", 1),
		} {
			conn := dial()
			if _, err := io.WriteString(conn, good+text+good); err != nil {
				t.Fatal(err)
			}
			in, statuses := bufio.NewReader(conn), []int(nil)
			for {
				resp, err := http.ReadResponse(in, nil)
				if err != nil {
					break
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				statuses = append(statuses, resp.StatusCode)
			}
			if fmt.Sprint(statuses) != "[200 400]" {
				t.Errorf("%s, %s: %v", name, what, statuses)
			}
			_ = conn.Close()
		}
		conn := dial()
		if _, err := io.WriteString(conn, good+head+"Transfer-Encoding: chunked\r\n\r\n"+chunks+good); err != nil {
			t.Fatal(err)
		}
		in := bufio.NewReader(conn)
		for range 3 {
			resp, err := http.ReadResponse(in, nil)
			if err != nil || resp.StatusCode != http.StatusOK {
				t.Fatal(resp, err)
			}
			_, _ = io.Copy(io.Discard, resp.Body)
		}
		_ = conn.Close()
	}
}
