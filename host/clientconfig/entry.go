package clientconfig

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/host/lazyregexp"
)

// serverOf reads an entry. c is the client, or nil.
func serverOf(name string, v any, c *Client) Server {
	members, ok := v.(map[string]any)
	if !ok {
		return Server{Name: name, Problem: "it is not an object"}
	}
	r := entryReader{members: maps.Clone(members), s: Server{Name: name}, client: c}
	r.lift("transport", "type") // of nexo
	r.program()
	r.remote()
	r.rest()
	s := r.s
	switch {
	case r.problem != "":
		return Server{Name: name, Problem: r.problem}
	case len(s.Command) == 0 && s.URL == "":
		return Server{Name: name, Problem: "it has neither a command nor a url"}
	case len(s.Command) > 0 && s.URL != "":
		return Server{Name: name, Problem: "it has a command and a url, and only one of them can be meant"}
	}
	s.Ignored = append(s.Ignored, slices.Collect(maps.Keys(r.members))...)
	slices.Sort(s.Ignored)
	return s
}

// An entryReader takes the members of an entry one after the other. Those that are left
// say something that it does not know.
type entryReader struct {
	members map[string]any
	s       Server
	client  *Client // nil: any
	problem string  // the first one
}

// lift replaces a member that is an object by the members of the object. It does nothing for
// other values.
func (r *entryReader) lift(name, typical string) {
	inner, ok := r.members[name].(map[string]any)
	if !ok || inner[typical] == nil {
		return
	}
	delete(r.members, name)
	for k, v := range inner {
		if r.members[k] == nil {
			r.members[k] = v
		}
	}
}

func (r *entryReader) fail(format string, args ...any) {
	if r.problem == "" {
		r.problem = fmt.Sprintf(format, args...)
	}
}

// take returns the first of several members that is present and not null.
func (r *entryReader) take(names ...string) (value any, name string) {
	for _, n := range names {
		v := r.members[n]
		delete(r.members, n)
		if value == nil && v != nil {
			value, name = v, n
		}
	}
	return value, name
}

func (r *entryReader) text(names ...string) string {
	v, name := r.take(names...)
	s, ok := v.(string)
	if v != nil && !ok {
		r.fail("%s is not a text", name)
	}
	return s
}

func (r *entryReader) texts(names ...string) []string {
	v, name := r.take(names...)
	if v == nil {
		return nil
	}
	all, ok := v.([]any)
	if !ok {
		r.fail("%s is not a list of texts", name)
	}
	list := make([]string, 0, len(all))
	for _, v := range all {
		s, ok := plainText(v)
		if !ok {
			r.fail("%s is not a list of texts", name)
		}
		list = append(list, r.reference(s))
	}
	return list
}

func (r *entryReader) textMap(names ...string) map[string]string {
	v, name := r.take(names...)
	if v == nil {
		return nil
	}
	all, ok := v.(map[string]any)
	if !ok {
		r.fail("%s is not an object of texts", name)
	}
	texts := make(map[string]string, len(all))
	for k, v := range all {
		if v == nil {
			continue
		}
		s, ok := plainText(v)
		if !ok {
			r.fail("%s.%s is not a text", name, k)
		}
		texts[k] = r.reference(s)
	}
	return texts
}

// plainText returns a text, or a number or a boolean as text, which clients accept too.
func plainText(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case json.Number, bool, int64, float64:
		return fmt.Sprint(v), true
	}
	return "", false
}

// duration returns a number of units as a duration.
func (r *entryReader) duration(unit time.Duration, name string) time.Duration {
	v, _ := r.take(name)
	if v == nil {
		return 0
	}
	s, _ := plainText(v)
	var n float64
	if _, err := fmt.Sscan(s, &n); err != nil || n <= 0 || n > float64(24*time.Hour/unit) {
		r.fail("%s is not a number of at most a day", name)
		return 0
	}
	return time.Duration(n * float64(unit)).Round(time.Millisecond)
}

var (
	wholeVariable = lazyregexp.New(`^((?:Bearer |Basic |Token |token )?)\$([A-Z_][A-Z0-9_]*)$`)
	envVariable   = lazyregexp.New(`\$env:([A-Za-z_][A-Za-z0-9_]*)`)
	bareVariable  = lazyregexp.New(`\$([A-Za-z_][A-Za-z0-9_]*)`)
)

// reference writes references to variables in the form ${VAR}. Gemini CLI has $VAR
// anywhere; elsewhere it is one only as a whole text or after the scheme of a header.
func (r *entryReader) reference(text string) string {
	text = envVariable.ReplaceAllString(text, "$${$1}")
	if r.client != nil && r.client.Name == "gemini" {
		return bareVariable.ReplaceAllString(text, "$${$1}")
	}
	return wholeVariable.ReplaceAllString(text, "$1$${$2}")
}

// program reads how the server is started.
func (r *entryReader) program() {
	command, _ := r.take("command", "executable")
	switch c := command.(type) {
	case nil:
	case string:
		r.s.Command = []string{c}
		if args, isList := r.members["args"].([]any); r.members["args"] == nil || isList && len(args) == 0 {
			r.s.Command = r.split(c)
		}
	case []any:
		r.members["command"] = c
		r.s.Command = r.texts("command")
	case map[string]any: // of Zed: path, args and env
		for k, v := range c {
			if r.members[k] == nil {
				r.members[k] = v
			}
		}
		r.s.Command = []string{r.text("path")}
	default:
		r.fail("command is neither a text nor a list of texts")
	}
	if args := r.texts("args"); len(r.s.Command) > 0 {
		r.s.Command = append(r.s.Command, args...)
	}
	if len(r.s.Command) > 0 && r.s.Command[0] == "" {
		r.fail("command is empty")
	}
	r.s.Env = r.textMap("env", "environment")
	r.s.PassEnv = r.texts("env_vars", "env_passthrough")
	r.s.Dir = r.reference(r.text("cwd", "workingDirectory"))
	if below, ok := strings.CutPrefix(r.s.Dir, "~/"); ok {
		r.s.Dir = "${HOME}/" + below
	}
	if cli, _ := r.take("cli"); cli == true && len(r.s.Command) > 0 {
		r.fail("it offers a command-line program as tools; run `junctor wrap %s` instead", filepath.Base(r.s.Command[0]))
	}
}

// split splits a command without arguments into words, as mcporter does. Other clients take
// it for the path of a program, which may have spaces.
func (r *entryReader) split(command string) []string {
	all, closed := words(command)
	mcporter := r.client != nil && r.client.Name == "mcporter"
	switch {
	case len(all) < 2, !mcporter && (!closed || isProgram(command, all[0]) || oddEscape.MatchString(command)):
		return []string{command}
	case !closed:
		r.fail("command has a quote that is not closed")
	case !mcporter:
		r.s.Notes = append(r.s.Notes, fmt.Sprintf("command was one text without args, and became %d words", len(all)))
	}
	return all
}

// oddEscape matches a backslash that escapes nothing, as in paths of Windows.
var oddEscape = lazyregexp.New(`\\[^ "'\\$]`)

// isProgram reports whether a command with spaces is probably the path of a program, and
// not a program with arguments that begins with first. It reads no path of a network.
func isProgram(command, first string) bool {
	switch {
	case strings.Contains(first, `\`), strings.HasPrefix(command, "//"):
		return true
	case !strings.Contains(first, "/"):
		return isFile(command)
	}
	return !filepath.IsAbs(first) || isFile(command) || !isFile(first)
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// words splits a text at spaces that are not quoted. closed is false if a quote is open at
// the end.
func words(text string) (all []string, closed bool) {
	var word strings.Builder
	var quote rune
	escaped, some := false, false
	for _, c := range text {
		switch {
		case escaped:
			word.WriteRune(c)
			escaped = false
		case c == '\\' && quote != '\'':
			escaped, some = true, true
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote, some = c, true
		case quote == 0 && (c == ' ' || c == '\t'):
			if some || word.Len() > 0 {
				all = append(all, word.String())
			}
			word.Reset()
			some = false
		default:
			word.WriteRune(c)
		}
	}
	if some || word.Len() > 0 {
		all = append(all, word.String())
	}
	return all, quote == 0 && !escaped
}

// remote reads where the server is.
func (r *entryReader) remote() {
	streamable := r.members["httpUrl"] != nil
	r.s.URL = r.reference(r.text("httpUrl", "url", "serverUrl", "baseUrl", "base_url", "server_url"))
	r.s.Headers = r.textMap("headers", "http_headers")
	r.s.EnvNames = r.textMap("env_http_headers")
	if v := r.text("bearerToken", "bearer_token"); v != "" {
		r.header("Authorization", "Bearer "+r.reference(v))
	}
	if v := r.text("bearer_token_env_var"); v != "" {
		r.header("Authorization", "Bearer ${"+v+"}")
	}
	if v := r.text("bearerTokenEnv", "bearer_token_env"); v != "" {
		r.header("Authorization", "${"+v+"}")
		r.s.Notes = append(r.s.Notes, fmt.Sprintf("bearerTokenEnv sends %s without \"Bearer \" in front, as mcporter does", v))
	}
	if v, _ := r.take("auth"); v == "oauth" {
		r.s.OAuth = true
	} else if v != nil {
		r.s.Ignored = append(r.s.Ignored, "auth")
	}
	switch kind := strings.ToLower(r.text("type", "transport")); kind {
	case "", "stdio", "local", "remote", "http", "streamable-http", "streamable_http", "streamablehttp", "auto":
	case "sse":
		r.s.SSE = !streamable
	default:
		r.fail("type %q is none that Junctor knows", kind)
	}
}

func (r *entryReader) header(name, value string) {
	if r.s.Headers == nil {
		r.s.Headers = map[string]string{}
	}
	r.s.Headers[name] = value
}

// rest reads whether the server is used, its tools and times.
func (r *entryReader) rest() {
	disabled := r.flag("disabled")
	enabled := r.flag("enabled")
	r.s.Disabled = r.s.Disabled || disabled == true || enabled == false
	r.s.Allow = r.globs("includeTools", "enabled_tools", "allowedTools", "allowed_tools")
	r.s.Deny = r.globs("excludeTools", "disabled_tools", "disabledTools", "blockedTools", "blocked_tools")
	r.access()
	r.s.Idle = r.idle()
	r.s.Start = max(r.duration(time.Second, "startup_timeout_sec"), r.duration(time.Millisecond, "startup_timeout_ms"))
	r.s.Call = r.duration(time.Second, "tool_timeout_sec")
	for _, name := range []string{"description", "name", "$schema", "source", "gallery"} {
		delete(r.members, name)
	}
}

// flag reads true, false, or one of them as a text. Any other value is returned as it is.
func (r *entryReader) flag(name string) any {
	v, _ := r.take(name)
	text, _ := v.(string)
	for word, is := range map[string]bool{"true": true, "false": false} {
		if strings.EqualFold(strings.TrimSpace(text), word) {
			r.s.Notes = append(r.s.Notes, fmt.Sprintf("%s is a text; it is taken as %t", name, is))
			return is
		}
	}
	return v
}

// globs reads names of tools.
func (r *entryReader) globs(names ...string) []string {
	all := r.texts(names...)
	for _, glob := range all {
		if glob == "" || len(glob) > maxGlob {
			r.fail("%s has a name of a tool that is empty or longer than %d bytes", names[0], maxGlob)
		}
	}
	return all
}

// access reads which tools read and which write, as avelino's mcp has it.
func (r *entryReader) access() {
	v, _ := r.take("tool_acl")
	if v == nil {
		return
	}
	inner, ok := v.(map[string]any)
	if !ok {
		r.fail("tool_acl is not an object")
		return
	}
	outer := r.members
	r.members = maps.Clone(inner)
	r.s.Read, r.s.Write = r.globs("read"), r.globs("write")
	for name := range r.members {
		r.fail("tool_acl has %q, and only read and write are known", name)
	}
	r.members = outer
	for _, glob := range r.s.Read {
		if slices.Contains(r.s.Write, glob) {
			r.fail("tool_acl has %q in both read and write", glob)
		}
	}
}

// longestIdle is the longest time without a call after which a connection is closed.
const longestIdle = 24 * time.Hour

// idle reads when a connection that is not used is closed.
func (r *entryReader) idle() string {
	v, _ := r.take("idle_timeout")
	if v == nil {
		return ""
	}
	text, _ := plainText(v)
	if text == "never" || text == "adaptive" {
		return text
	}
	if text != "" && strings.Trim(text, "0123456789") == "" {
		text += "s"
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 || d > longestIdle {
		r.fail("idle_timeout is neither \"adaptive\", \"never\" nor a duration of at most a day")
	}
	return d.String()
}
