package main

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
)

// canaryMark begins each secret of the tests that look for secrets in output.
const canaryMark = "CaNaRy"

// leaker is an MCP server that writes the secrets of its environment and its arguments
// wherever a server can write text.
func leaker() {
	l := &leaking{text: leakedText(append(os.Args[1:], os.Environ()...))}
	if name := os.Getenv("LEAKED_NAME"); name != "" {
		l.name = name
	}
	fmt.Fprintln(os.Stderr, "starting with", l.text)
	fmt.Fprintf(os.Stderr, `{"@level":"error","@message":%s,"token":%[1]s}`+"\n", quoteJSON("record "+l.text))
	fmt.Println("a line that is no message:", l.text)
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		var r leakRequest
		if json.Unmarshal(in.Bytes(), &r) == nil && r.ID != nil {
			fmt.Printf(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","logger":%s,"data":{"text":%[1]s}}}`+
				"\n", quoteJSON(l.text))
			fmt.Println(l.answer(r))
		}
	}
}

// A leaking server answers each request with its secrets.
type leaking struct {
	text string // with all secrets
	name string // a secret that can be the name of an item
}

type leakRequest struct {
	ID     json.RawMessage
	Method string
	Params struct{ Name string }
}

// leakedText returns a text with the secrets among texts, as they are and encoded.
func leakedText(texts []string) string {
	var b strings.Builder
	for _, one := range texts {
		at := strings.Index(one, canaryMark)
		if at < 0 {
			continue
		}
		secret := one[at:]
		fmt.Fprintf(&b, "%s %s %s %s ", secret, url.QueryEscape(secret), url.PathEscape(secret),
			base64.StdEncoding.EncodeToString([]byte(secret)))
		for _, user := range []string{"a:", "ab:", "abc:"} { // the three alignments
			fmt.Fprintf(&b, "Basic %s ", base64.StdEncoding.EncodeToString([]byte(user+secret)))
		}
	}
	return b.String()
}

func quoteJSON(text string) string {
	quoted, _ := json.Marshal(text)
	return string(quoted)
}

// answer returns the response to a request.
func (l *leaking) answer(r leakRequest) string {
	text, name := quoteJSON(l.text), quoteJSON("show_"+l.name)
	result := `{}`
	switch r.Method + " " + r.Params.Name {
	case "initialize ":
		result = fmt.Sprintf(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"resources":{},"prompts":{},"logging":{}},"serverInfo":{"name":%s,"version":%[1]s},"instructions":%[1]s}`,
			text)
	case "tools/list ":
		tool := `{"name":%s,"title":%s,"description":%[2]s,"inputSchema":{"type":"object","properties":{"a":{"description":%[2]s}}}}`
		all := []string{fmt.Sprintf(tool, name, text)}
		for _, one := range []string{"result", "fails", "refuses", "exits", "asks"} {
			all = append(all, fmt.Sprintf(tool, quoteJSON(one), text))
		}
		result = fmt.Sprintf(`{"tools":[%s]}`, strings.Join(all, ","))
	case "resources/list ":
		result = fmt.Sprintf(`{"resources":[{"uri":%s,"name":%s,"description":%s}]}`, quoteJSON("leak://"+l.name),
			name, text)
	case "prompts/list ":
		result = fmt.Sprintf(`{"prompts":[{"name":%s,"description":%s}]}`, name, text)
	case "resources/templates/list ":
		result = `{"resourceTemplates":[]}`
	case "tools/call fails":
		result = fmt.Sprintf(`{"isError":true,"content":[{"type":"text","text":%s}]}`, text)
	case "tools/call refuses":
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":%s,"data":{"text":%[2]s}}}`,
			r.ID, text)
	case "tools/call exits":
		fmt.Fprintln(os.Stderr, "exiting with", l.text)
		os.Exit(3)
	default:
		result = fmt.Sprintf(`{"content":[{"type":"text","text":%s}]}`, text)
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, r.ID, result)
}

// newLeakyVendor starts an HTTP server that answers with what the request had. It is an MCP
// server at /mcp, refuses every request at /broken and /locked, and is an authorization server
// that refuses every client at /.
func newLeakyVendor(t *testing.T) *httptest.Server {
	var s *httptest.Server
	s = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l := leakingOf(r)
		switch {
		case r.URL.Path == "/mcp" && r.Method == http.MethodPost:
			l.serve(w, r)
		case r.URL.Path == "/mcp":
			w.WriteHeader(http.StatusMethodNotAllowed)
		case r.URL.Path == "/broken":
			http.Error(w, l.text, http.StatusInternalServerError)
		case r.URL.Path == "/locked":
			w.Header().Set("WWW-Authenticate",
				"Bearer error="+quoteJSON("invalid_token")+", error_description="+quoteJSON(l.text))
			http.Error(w, l.text, http.StatusUnauthorized)
		case r.URL.Path == "/moved":
			http.Redirect(w, r, "/elsewhere?key="+url.QueryEscape(r.URL.Query().Get("key")),
				http.StatusTemporaryRedirect)
		case r.URL.Path == "/token":
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = fmt.Fprintf(w, `{"error":"invalid_client","error_description":%s}`, quoteJSON(l.text))
		default:
			l.describe(w, r, s.URL)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// leakingOf returns a server with the secrets of a request.
func leakingOf(r *http.Request) *leaking {
	_ = r.ParseForm()
	told := []string{r.URL.Query().Get("key")}
	for _, name := range []string{"Authorization", "X-Api-Key"} {
		value := r.Header.Get(name)
		told = append(told, strings.TrimPrefix(value, "Bearer "))
		if plain, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(value, "Basic ")); err == nil {
			told = append(told, string(plain))
		}
	}
	for _, values := range r.PostForm {
		told = append(told, values...)
	}
	return &leaking{text: leakedText(told) + r.URL.String()}
}

// serve answers a message.
func (l *leaking) serve(w http.ResponseWriter, r *http.Request) {
	var m leakRequest
	if json.NewDecoder(r.Body).Decode(&m) != nil || m.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprint(w, l.answer(m))
}

// describe answers with metadata of the server at /owned, and refuses the rest.
func (l *leaking) describe(w http.ResponseWriter, r *http.Request, origin string) {
	known := map[string]string{
		"/.well-known/oauth-protected-resource/owned": fmt.Sprintf(`{"resource":%q,"authorization_servers":[%q]}`,
			origin+"/owned", origin),
		"/.well-known/oauth-authorization-server": fmt.Sprintf(`{"issuer":%q,"authorization_endpoint":%q,"token_endpoint":%q,"response_types_supported":["code"],"code_challenge_methods_supported":["S256"],`+
			`"grant_types_supported":["client_credentials","authorization_code"],"token_endpoint_auth_methods_supported":["client_secret_basic"]}`,
			origin, origin+"/authorize", origin+"/token"),
	}
	if text, ok := known[r.URL.Path]; ok {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprint(w, text)
		return
	}
	if r.URL.Path == "/owned" {
		w.Header().Set("WWW-Authenticate",
			fmt.Sprintf(`Bearer resource_metadata=%q`, origin+"/.well-known/oauth-protected-resource/owned"))
		http.Error(w, l.text, http.StatusUnauthorized)
		return
	}
	http.NotFound(w, r)
}
