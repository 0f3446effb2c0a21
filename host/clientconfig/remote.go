package clientconfig

import (
	"slices"
	"strings"
)

// remote reads where the server is, and its headers. serverOf calls it for each entry.
func (r *entryReader) remote() {
	r.streamable = r.members["httpUrl"] != nil
	r.s.URL = strings.TrimSpace(r.reference(r.text("httpUrl", "url", "serverUrl", "baseUrl", "base_url",
		"server_url", "uri")))
	r.s.Headers = r.textMap("headers", "http_headers")
	for _, name := range []string{"requestOptions", "requestInit"} {
		r.requestOptions(name)
	}
	r.s.EnvNames = r.textMap("env_http_headers")
	if v := r.text("bearerToken", "bearer_token"); v != "" {
		r.header("Authorization", "Bearer "+r.reference(v))
	}
	if r.s.URL != "" {
		if v := r.text("apiKey"); v != "" {
			r.header("Authorization", "Bearer "+r.reference(v))
		}
	}
	if v := r.text("bearer_token_env_var"); v != "" {
		r.header("Authorization", "Bearer ${"+v+"}")
	}
	if v := r.text("bearerTokenEnv", "bearer_token_env"); v != "" {
		r.header("Authorization", "${"+v+"}")
		r.remark("bearerTokenEnv sends %s without \"Bearer \" in front, as mcporter does", v)
	}
	if r.s.URL != "" {
		r.s.Helper = r.text("headersHelper")
	}
}

func (r *entryReader) header(name, value string) {
	if r.s.Headers == nil {
		r.s.Headers = map[string]string{}
	}
	r.s.Headers[name] = value
}

// requestOptions reads the headers of requests.
func (r *entryReader) requestOptions(name string) {
	inner := r.object(name)
	if inner == nil {
		return
	}
	outer := r.members
	r.members = inner
	for header, value := range r.textMap("headers") {
		r.header(header, value)
	}
	r.members = outer
	r.ignore(name, inner)
}

// builtIn are types of servers that are a part of their client.
var builtIn = []string{"builtin", "platform", "frontend", "inline_python", "inmemory"}

// kind reads the type of a server.
func (r *entryReader) kind() {
	switch kind := strings.ToLower(r.text("type", "transport", "transportType")); {
	case slices.Contains([]string{"", "stdio", "local", "remote", "http", "streamable-http", "streamable_http",
		"streamablehttp", "auto"}, kind):
	case kind == "sse":
		r.s.SSE = !r.streamable
	case slices.Contains(builtIn, kind):
		r.fail("it is a part of the client, of the type %q", kind)
	default:
		r.fail("type %q is none that Junctor knows", kind)
	}
}

// switched reads whether the server is used.
func (r *entryReader) switched() {
	disabled := r.flag("disabled")
	enabled, active := r.flag("enabled"), r.flag("isActive")
	r.s.Disabled = r.s.Disabled || disabled == true || enabled == false || active == false
	r.s.Required = r.flag("required") == true
}

// flag reads true, false, or one of them as a text. Any other value is noted.
func (r *entryReader) flag(name string) any {
	v, _ := r.take(name)
	text, isText := v.(string)
	for word, is := range map[string]bool{"true": true, "false": false} {
		if strings.EqualFold(strings.TrimSpace(text), word) {
			r.remark("%s is a text; it is taken as %t", name, is)
			return is
		}
	}
	if _, ok := v.(bool); v != nil && !ok {
		r.s.Ignored = append(r.s.Ignored, name)
		if isText {
			r.remark("%s is a text that is neither true nor false", name)
		}
	}
	return v
}
