package host

import (
	"fmt"
	"os"
	"strings"

	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/secret"
)

// changed is a stamp of what the auth provider of a server goes by: its secrets,
// those of the user, and the files that its settings name. It is asked for with
// every request, so files are not read: a new one has another time or size.
func (a *App) changed(s *config.Server, o secret.Owner) string {
	var b strings.Builder
	b.WriteString(a.Secrets.Changed(o))
	for _, path := range s.Auth.Files() {
		if info, err := os.Stat(path); err == nil {
			fmt.Fprintf(&b, "/%d+%d", info.ModTime().UnixNano(), info.Size())
		} else {
			b.WriteString("/none")
		}
	}
	return b.String()
}
