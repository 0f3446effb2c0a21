// Package sdk is the interface between the Junctor host and its plugins.
//
// A plugin is a program that the host starts. It offers components of three
// kinds. A transport connects to MCP servers. An auth provider obtains
// credentials for them. A secret store keeps secrets at rest.
//
// An author describes the settings as a struct with tags, writes one function
// that opens a connection, and passes both to
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
// The host first runs the program with the argument "describe" and keeps the
// manifest that it prints. With the manifest the host checks configurations,
// prints documentation and completes names without starting the plugin. Later
// the host starts the program as a plugin, and the first use of a server calls
// open.
//
// The package does not interpret MCP: a connection carries JSON-RPC messages as
// bytes. Names, schemas and permissions belong to the host. Outside the
// standard library the package depends on hclog only.
//
// Interfaces for authors are in plugin.go (transports and connections), auth.go, secret.go and
// host.go (what the host offers). schema.go, tags.go, decode.go and manifest.go turn a settings
// struct into a schema and settings into the struct. error.go has the errors, and pipe.go a
// connection over two streams.
//
// The package is an API with a version of its own: exported names, the tags, the JSON of [Manifest]
// and [Schema], and the reasons in errors stay compatible, because hosts and plugins of different
// versions meet. Each interface says which methods may be called concurrently. Functions without a
// receiver are safe for concurrent use.
package sdk

// Version is the version of this package. A plugin's manifest reports it.
const Version = "0.3.0"
