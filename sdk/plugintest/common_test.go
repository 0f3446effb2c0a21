package plugintest

import (
	"testing"

	"github.com/junctor-mcp/junctor/sdk"
)

func TestExists(t *testing.T) {
	type inner struct {
		Max int `hcl:"max" doc:"d"`
	}
	type peer struct {
		Name  string `hcl:"name,label" doc:"d"`
		Port  int    `hcl:"port" doc:"d"`
		Inner inner  `hcl:"inner,block" doc:"d"`
	}
	schema := sdk.SchemaOf[struct {
		URL     string            `hcl:"url" doc:"d"`
		Headers map[string]string `hcl:"headers" doc:"d"`
		Retry   *inner            `hcl:"retry,block" doc:"d"`
		Peers   []peer            `hcl:"peer,block" doc:"d"`
	}]()
	for path, want := range map[string]bool{
		"": true, "url": true, `headers["Host"]`: true, `headers["a.b"]["c"]`: true,
		"retry": true, "retry.max": true, "peer": true,
		"peer[0]": true, "peer[12].port": true, "peer[0].name": true, "peer[0].inner.max": true,
		"uri": false, "url.x": false, "retry.min": false, "retry[0].max": false,
		"peer[x].port": false, "peer[0].prt": false, "peer[0]port": false, ".": false,
	} {
		if got := exists(&schema, path); got != want {
			t.Errorf("%q: %t", path, got)
		}
	}
}
