package clientimport

import (
	"github.com/hashicorp/hcl/v2/hclwrite"

	"github.com/junctor-mcp/junctor/host/clientconfig"
)

// Literal returns a configuration with one server whose values stand in it as they are, also
// secrets. The names of its items have no prefix. The result is not for a file.
func Literal(s clientconfig.Server) []byte {
	var t blockText
	t.line("server %s {", quote(s.Name))
	t.line(`prefix = ""`)
	if s.URL != "" {
		t.line(`transport "http" {`)
		t.line("url = %s", quote(s.URL))
		if s.SSE {
			t.line(`mode = "sse"`)
		}
		t.literalMap("headers", s.Headers)
	} else {
		t.line(`transport "stdio" {`)
		t.line("command = %s", list(s.Command))
		t.literalMap("env", s.Env)
		if len(s.PassEnv) > 0 {
			t.line("pass_env = %s", list(s.PassEnv))
		}
		if s.Dir != "" {
			t.line("cwd = %s", quote(s.Dir))
		}
	}
	t.line("}\n}")
	return hclwrite.Format([]byte(t.String()))
}
