package host

import (
	"fmt"

	"github.com/junctor-mcp/junctor/host/clientconfig"
	"github.com/junctor-mcp/junctor/host/clientimport"
)

// mostPasted is the maximum number of servers that a hint shows.
const mostPasted = 10

// pastedServers converts the JSON configuration of a client into HCL without its secrets.
func pastedServers(text []byte) string {
	file, err := clientconfig.ReadContent(text, nil)
	if err != nil {
		return ""
	}
	more := len(file.Servers) - mostPasted
	file.Servers = file.Servers[:min(len(file.Servers), mostPasted)]
	blocks := string(clientimport.Convert(file, clientimport.Environment{}).Blocks())
	if more > 0 {
		blocks += fmt.Sprintf("\n# and %d more", more)
	}
	return blocks
}
