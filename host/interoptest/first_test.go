package interoptest
import "testing"
func TestFirst(t *testing.T) {
	s := newSite(t, everything(t), memory(t), fastmcp(t), mcpserver(t), gosdk())
	o := s.run("status")
	t.Log(o.status, o.stdout, o.stderr)
	p := s.serve().speak(oldDialect)
	p.greet()
	t.Log(names(t, p.list("tools/list", "tools"), "name"))
}
