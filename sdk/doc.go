// Package sdk is what the author of a Junctor plugin needs to know.
//
// A plugin is a program that the host starts. It offers transports, which
// reach MCP servers of one kind, auth providers, which obtain the credentials
// for them, and secret stores, which keep secrets at rest. An author describes the settings as a struct with
// tags, writes one function that opens a connection, and hands both to
// [github.com/junctor-mcp/junctor/sdk/serve.Main]:
//
//	type Config struct {
//		Address string `hcl:"address" doc:"Host and port of the server."`
//	}
//
//	func open(ctx context.Context, s *sdk.Server, c *Config) (sdk.Conn, error) {
//		var d net.Dialer
//		conn, err := d.DialContext(ctx, "tcp", c.Address)
//		if err != nil {
//			return nil, sdk.Errorf(sdk.Unavailable, "%v", err)
//		}
//		return sdk.PipeConn(conn, conn), nil
//	}
//
//	func main() {
//		serve.Main(&sdk.Plugin{
//			Name:       "acme",
//			Version:    "1.0.0",
//			Transports: map[string]sdk.Transport{"acme": sdk.NewTransport(open)},
//		})
//	}
//
// What happens first: the host runs the program with the argument "describe"
// and keeps the manifest it prints, so that it can check a configuration, print
// documentation and complete names without starting anything. Later it starts
// the program for real, and the first use of a server calls open.
//
// The package is not about MCP: a connection carries JSON-RPC messages as
// bytes and never looks inside them. Names, schemas and permissions belong to
// the host. It imports the standard library and hclog, nothing else.
package sdk

// Version is the version of this package, as it stands in a plugin's manifest.
const Version = "0.2.0"
