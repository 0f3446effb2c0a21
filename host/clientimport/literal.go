package clientimport

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclwrite"

	"github.com/junctor-mcp/junctor/host/clientconfig"
)

// Literal returns a configuration with one server whose values stand in it as they are, also
// secrets. The names of its items have no prefix. The result is not for a file.
func Literal(s clientconfig.Server) []byte {
	c := converter{}
	c.line("server %s {", quote(s.Name))
	c.line(`prefix = ""`)
	if s.URL != "" {
		c.line(`transport "http" {`)
		c.line("url = %s", quote(s.URL))
		if s.SSE {
			c.line(`mode = "sse"`)
		}
		c.literalMap("headers", s.Headers)
	} else {
		c.line(`transport "stdio" {`)
		c.line("command = %s", list(s.Command))
		c.literalMap("env", s.Env)
		if len(s.PassEnv) > 0 {
			c.line("pass_env = %s", list(s.PassEnv))
		}
		if s.Dir != "" {
			c.line("cwd = %s", quote(s.Dir))
		}
	}
	c.line("}\n}")
	return hclwrite.Format([]byte(c.text.String()))
}

func (c *converter) literalMap(attribute string, values map[string]string) {
	if len(values) == 0 {
		return
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		all = append(all, key(name)+" = "+quote(values[name]))
	}
	c.line("%s = { %s }", attribute, strings.Join(all, ", "))
}
