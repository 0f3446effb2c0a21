package config

import (
	"context"

	"github.com/junctor-mcp/junctor/host/config/review"
	"github.com/junctor-mcp/junctor/sdk"
)

// Options are the input of [Load]. Load changes nothing in them but Content, which records what
// file() reads.
type Options struct {
	// Path is a file, or a directory whose *.hcl files are read; see [Find]. It is Managed if
	// there is no other configuration.
	Path string

	// Text is the configuration itself, if it is not nil. Path is then its name in
	// diagnostics, and its relative paths start at the working directory.
	Text []byte

	// Lookup reads the environment; nil is [os.LookupEnv].
	Lookup func(name string) (string, bool)

	// Describe returns the manifest of the program that a plugin runs. Load calls
	// it at most once for each program, and only for programs that an enabled server
	// or the secret store uses. Load turns its error, with hint and code, into a
	// diagnostic.
	Describe func(ctx context.Context, p Plugin) (sdk.Manifest, error)

	// All also describes required plugins that are not used.
	All bool

	// NoListener is set by callers that do not listen for clients over HTTP. Load
	// then does not report env() and file() of gateway.http that fail.
	NoListener bool

	// NoNotices is set by callers that serve no clients. Load then warns of env() and file() of
	// the notify block that fail, and Config.Notify is nil.
	NoNotices bool

	// AbsentInputs is set by callers that answer from what is known of servers. Load then warns
	// of env() and file() that fail, and a connection that needs the value fails.
	AbsentInputs bool

	// Pasted converts the JSON configuration of an MCP client, which was pasted into a file,
	// into HCL without secrets; "" if it cannot. Load shows the result in a hint. Nil: the
	// hint says how to convert it.
	Pasted func(text []byte) string

	// Managed is the path of the managed configuration of the machine; empty: none is read.
	Managed string

	// Content is the reviewed text and the reviewed programs of plugins. Load uses
	// them instead of the files at Path; nil reads Path.
	Content *review.Content

	// Static evaluates nothing but literals, reads nothing that the configuration names except
	// modules below the directory of Path, and reports plugins that Describe cannot describe as
	// warnings. Load returns no Config. It is for texts that need not be trusted.
	Static bool

	// Texts are the texts of files as an editor has them, by path. Load uses them instead of
	// the files, and reads Path from there if it is a key.
	Texts map[string][]byte

	// Under are the paths of weaker layers, the strongest first: files, or directories as
	// Path. A server of a stronger layer takes the place of one with its name.
	Under []string
}
