package configure

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"runtime"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/host/bundle"
	"github.com/junctor-mcp/junctor/host/clientconfig"
	"github.com/junctor-mcp/junctor/host/clientimport"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/registry"
)

// isManifest reports whether a path is that of the manifest of an unpacked bundle.
func isManifest(path string) bool { return filepath.Base(path) == "manifest.json" }

// importManifest prints the server of an unpacked bundle, or adds it to the configuration. The
// bundle stays where it is. import calls it for a file that isManifest.
func importManifest(ctx context.Context, inv *invocation.Invocation, x importOptions, path string) error {
	text, err := readRegular(path)
	var b *bundle.Bundle
	if err == nil {
		b, err = bundle.ReadManifest(text)
	}
	var dir string
	if err == nil {
		dir, err = filepath.Abs(filepath.Dir(path))
	}
	if err != nil {
		return fault.Because(fault.ImportFile, err, "%s cannot be imported", path).
			WithHint("give the manifest.json of an unpacked bundle, or the .mcpb file")
	}
	server, inputs := b.Server(dir, runtime.GOOS)
	return putContent(ctx, inv, x, clientconfig.Content{Servers: []clientconfig.Server{server}, Inputs: inputs}, path)
}

// isRegistryEntry reports whether a file is an entry of a registry, by its name and content.
func isRegistryEntry(path string, text []byte) bool {
	if filepath.Base(path) != "server.json" {
		return false
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), &members) != nil {
		return false
	}
	return members["packages"] != nil || members["remotes"] != nil || members["server"] != nil
}

// importEntry prints the server of a server.json, or adds it to the configuration.
func importEntry(ctx context.Context, inv *invocation.Invocation, x importOptions, text []byte, path string) error {
	found, err := registry.ReadEntry(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")))
	if err != nil {
		return fault.Because(fault.ImportFile, err, "%s is not an entry of a registry", path).
			WithHint("give a server.json, or run `junctor add NAME` for an entry that is published")
	}
	option, err := chooseOption(found, false)
	if err != nil {
		return err
	}
	name := clientimport.Label(found.Short())
	server, err := found.Server(registry.Request{Name: name, Option: option})
	if err != nil {
		return err
	}
	server.Server.Notes = append(server.Server.Notes, server.Notes...)
	_, err = putConverted(ctx, inv, x, func(into string, taken []string) (clientimport.Result, error) {
		if err := checkNew(name, into, taken); err != nil {
			return clientimport.Result{}, err
		}
		return clientimport.ConvertEntry(server.Server, server.Inputs, found.Name+"@"+found.Version, inv.IsSet), nil
	})
	return err
}
