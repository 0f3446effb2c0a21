package bundle

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/junctor-mcp/junctor/host/lazyregexp"
)

// manifestName is the file with the manifest.
const manifestName = "manifest.json"

// A manifest says how the server of a bundle is started.
type manifest struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Server  struct {
		Type       string `json:"type"`
		EntryPoint string `json:"entry_point"`
		Config     *start `json:"mcp_config"`
	} `json:"server"`
	UserConfig    map[string]setting `json:"user_config"`
	Compatibility struct {
		Platforms []string `json:"platforms"`
	} `json:"compatibility"`
}

// A start is a command line. Texts have references such as ${__dirname}.
type start struct {
	Command   string            `json:"command"`
	Args      []string          `json:"args"`
	Env       map[string]string `json:"env"`
	Platforms map[string]start  `json:"platform_overrides"`
}

// A setting is a value that a client asks its user for.
type setting struct {
	Type      string          `json:"type"`
	Required  bool            `json:"required"`
	Sensitive bool            `json:"sensitive"`
	Multiple  bool            `json:"multiple"`
	Default   json.RawMessage `json:"default"`
}

// bundleName matches names that can be part of the name of a directory.
var bundleName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._ -]{0,99}$`)

// readManifest reads and checks the manifest.
func (b *Bundle) readManifest() error {
	for _, f := range b.files {
		if f.Name != manifestName {
			continue
		}
		if f.UncompressedSize64 > maxManifest {
			return fmt.Errorf("%s is larger than %d KiB", manifestName, maxManifest>>10)
		}
		in, err := f.Open()
		if err != nil {
			return fmt.Errorf("%s: %w", manifestName, err)
		}
		defer func() { _ = in.Close() }()
		text, err := io.ReadAll(io.LimitReader(in, maxManifest+1))
		if err != nil || len(text) > maxManifest {
			return fmt.Errorf("%s cannot be unpacked", manifestName)
		}
		return b.parse(text)
	}
	return fmt.Errorf("it has no %s", manifestName)
}

// ReadManifest reads the manifest of a bundle that is unpacked. Nothing but [Bundle.Server] and
// [Bundle.Name] may be called on the result.
func ReadManifest(text []byte) (*Bundle, error) {
	if len(text) > maxManifest {
		return nil, fmt.Errorf("%s is larger than %d KiB", manifestName, maxManifest>>10)
	}
	b := &Bundle{}
	return b, b.parse(text)
}

func (b *Bundle) parse(text []byte) error {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	if err := json.Unmarshal(text, &b.manifest); err != nil {
		offset, what := int64(0), "it is not JSON"
		if bad, ok := errors.AsType[*json.SyntaxError](err); ok {
			offset = bad.Offset
		}
		if bad, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			offset, what = bad.Offset, fmt.Sprintf("%q is not a %s", bad.Field, bad.Type)
		}
		before := text[:max(min(offset-1, int64(len(text))), 0)]
		line := bytes.Count(before, []byte("\n")) + 1
		column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
		return fmt.Errorf("%s:%d:%d: %s", manifestName, line, column, what)
	}
	m := b.manifest
	switch m.Server.Type {
	case "node", "python", "binary", "uv":
	default:
		return fmt.Errorf("%s: server.type is %q, and node, python, uv and binary are known",
			manifestName, m.Server.Type)
	}
	switch {
	case !bundleName.MatchString(m.Name):
		return fmt.Errorf("%s: name is missing, or has other characters than letters, digits, spaces and . _ -",
			manifestName)
	case m.Server.Config == nil && m.Server.Type != "uv":
		return fmt.Errorf("%s: server.mcp_config is missing", manifestName)
	}
	return nil
}
