package gateway

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/host/mcp"
)

// TestReasons: no server can send an error with a reason that an error of this package has.
func TestReasons(t *testing.T) {
	toServers := map[string]bool{"no_client": true, "over": true, "url_refused": true} // clients get none of these
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, m := range regexp.MustCompile(`"reason": +"(\w+)"`).FindAllSubmatch(text, -1) {
			found++
			rpcErr := mcp.ErrorObject(mcp.CodeInternal, "m", map[string]string{"reason": string(m[1])})
			if !toServers[string(m[1])] && mcp.Member(mcp.ServerError(rpcErr), "data", "reason") != nil {
				t.Errorf("%s: a server can send the reason %s", file, m[1])
			}
		}
	}
	if found < 8 {
		t.Errorf("found %d reasons", found)
	}
}
