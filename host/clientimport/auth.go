package clientimport

import (
	"maps"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/clientconfig"
	"github.com/junctor-mcp/junctor/host/lazyregexp"
)

// printedToken matches the value of an Authorization header that a program prints: of mcphub
// and Crush, or in the store of 1Password.
var printedToken = lazyregexp.New(`^(?:([A-Za-z]+) )?(?:\$\{cmd:([^}]+)\}|\$\(([^()]+)\)|(op://\S+))$`)

// shellSyntax matches commands that only a shell can read.
var shellSyntax = lazyregexp.New("[|&;<>()$`\"'\\\\*?#~=\\[\\]{}]")

// A tokenCommand is a program that prints the token of a header.
type tokenCommand struct {
	words  []string
	scheme string
}

// takeCommand removes a header Authorization whose token a program prints, and returns the
// program.
func (c *converter) takeCommand(headers map[string]string) *tokenCommand {
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		m := printedToken.FindStringSubmatch(headers[name])
		if m == nil || !strings.EqualFold(name, "Authorization") || c.origin != "" {
			continue
		}
		t := &tokenCommand{scheme: m[1]}
		switch text := m[2] + m[3]; {
		case m[4] != "":
			t.words = []string{"op", "read", m[4]}
		case shellSyntax.MatchString(text):
			t.words = []string{"sh", "-c", text}
		default:
			t.words = strings.Fields(text)
		}
		if len(t.words) == 0 || len(secretsIn(headers[name])) > 0 {
			continue
		}
		delete(headers, name)
		c.note("headers.%s became auth \"command\", which runs %s", name, shortened(strings.Join(t.words, " ")))
		return t
	}
	return nil
}

// auth writes the auth block of a server. A header Authorization of the file wins over it. body
// calls it.
func (c *converter) auth(s clientconfig.Server, headers map[string]string, command *tokenCommand) {
	switch {
	case command != nil:
		c.out.line(`auth "command" {`)
		c.out.line("command = %s", list(command.words))
		c.out.line(`format = "token"`)
		if command.scheme != "" && command.scheme != "Bearer" {
			c.out.line("scheme = %s", quote(command.scheme))
		}
		c.out.line("}")
	case s.Helper != "":
		c.helper(s)
	case s.OAuth != nil && hasAuthorization(headers):
		if !s.OAuth.Empty() {
			c.note("has a header Authorization, so its settings of oauth are left out")
		}
	case s.OAuth != nil:
		c.oauth(s.OAuth)
	}
}

func hasAuthorization(headers map[string]string) bool {
	for name := range headers {
		if strings.EqualFold(name, "Authorization") {
			return true
		}
	}
	return false
}

// helper writes a program that prints headers as a JSON object, as Claude Code has it. Here
// they are in a member of the object.
func (c *converter) helper(s clientconfig.Server) {
	c.note("headersHelper became auth \"command\": a shell runs it when a request needs the headers")
	c.out.line(`auth "command" {`)
	c.visible, c.where = true, "headersHelper"
	script := scanned{text: `printf '{"headers":' && ( ` + s.Helper + ` ) && printf '}'`}
	c.out.line("command = [\"sh\", \"-c\", %s]", c.write(script, secretsIn(script.text), c.where))
	c.visible = false
	c.out.line("env = { CLAUDE_CODE_MCP_SERVER_NAME = %s }", quote(s.Name))
	c.out.line("}")
}

// oauth writes the settings of a login.
func (c *converter) oauth(o *clientconfig.OAuth) {
	c.out.line(`auth "oauth" {`)
	c.visible = true
	for _, setting := range []struct{ attribute, text string }{
		{"client_id", o.ClientID}, {"issuer", o.Issuer}, {"resource", o.Resource}, {"redirect_url", o.RedirectURL},
		{"grant", o.Grant},
	} {
		if c.where = "oauth." + setting.attribute; setting.text != "" {
			c.out.line("%s = %s", setting.attribute, c.expression(setting.text))
		}
	}
	c.visible = false
	if o.ClientSecret != "" {
		c.out.line("client_secret = %s", c.value("oauth.client_secret", "client_secret", o.ClientSecret))
	}
	c.out.listed("scopes", o.Scopes)
	c.out.line("}")
}
