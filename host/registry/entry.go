package registry

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/lazyregexp"
)

// An Entry is one version of a server in a registry.
type Entry struct {
	Name        string // such as io.github.user/weather
	Title       string
	Description string
	Version     string
	Status      string // "active", "deprecated" or "deleted"; empty: not known
	Message     string // why the status is not active
	Packages    []Package
	Remotes     []Remote
}

// Short returns the part of the name that says the most, as the name of a server block.
func (e Entry) Short() string {
	space, last, _ := strings.Cut(e.Name, "/")
	if last == "" || slices.Contains([]string{"mcp", "server", "mcp-server"}, strings.ToLower(last)) {
		last = space[strings.LastIndexByte(space, '.')+1:]
	}
	return last
}

// A Package is a program that a package manager fetches and runs.
type Package struct {
	Type             string     `json:"registryType"` // npm, pypi, oci, nuget, mcpb
	Registry         string     `json:"registryBaseUrl"`
	Identifier       string     `json:"identifier"`
	Version          string     `json:"version"`
	Hint             string     `json:"runtimeHint"`
	Transport        Remote     `json:"transport"`
	RuntimeArguments []Argument `json:"runtimeArguments"`
	PackageArguments []Argument `json:"packageArguments"`
	Environment      []Named    `json:"environmentVariables"`
}

// A Remote is a server that others run.
type Remote struct {
	Type      string           `json:"type"` // streamable-http, sse; stdio for the transport of a package
	URL       string           `json:"url"`
	Headers   []Named          `json:"headers"`
	Variables map[string]Input `json:"variables"` // in URL, as {NAME}
}

// An Input is a value, or how to ask for one.
type Input struct {
	Value       string           `json:"value"` // fixed, with {NAME} for each of Variables
	Default     string           `json:"default"`
	Description string           `json:"description"`
	Required    bool             `json:"isRequired"`
	Secret      bool             `json:"isSecret"`
	Choices     []string         `json:"choices"`
	Variables   map[string]Input `json:"variables"`
}

// Named is a variable of the environment or a header.
type Named struct {
	Name string `json:"name"`
	Input
}

// An Argument is one on the command line. One with the type "named" is preceded by its name.
type Argument struct {
	Type     string `json:"type"`
	Name     string `json:"name"`
	Hint     string `json:"valueHint"`
	Repeated bool   `json:"isRepeated"`
	Input
}

// id returns the name of the input.
func (a Argument) id() string {
	if a.Type == "named" {
		return strings.TrimLeft(a.Name, "-")
	}
	return a.Hint
}

// listPage is one page of a list.
type listPage struct {
	Servers  []listed `json:"servers"`
	Metadata struct {
		NextCursor string `json:"nextCursor"`
	} `json:"metadata"`
}

// listed is an entry as the API returns it.
type listed struct {
	Server struct {
		Name        string    `json:"name"`
		Title       string    `json:"title"`
		Description string    `json:"description"`
		Version     string    `json:"version"`
		Packages    []Package `json:"packages"`
		Remotes     []Remote  `json:"remotes"`
	} `json:"server"`
	Meta struct {
		Official struct {
			Status  string `json:"status"`
			Message string `json:"statusMessage"`
		} `json:"io.modelcontextprotocol.registry/official"`
	} `json:"_meta"`
}

// entryName matches the name and version of an entry.
var entryName = lazyregexp.New(`^[A-Za-z0-9._-]+/[A-Za-z0-9._-]+@[A-Za-z0-9][A-Za-z0-9.+_-]*$`)

// ReadEntry reads an entry from a file: server.json as its author wrote it, or as the API
// returns it.
func ReadEntry(text []byte) (Entry, error) {
	var l listed
	if err := json.Unmarshal(text, &l); err != nil {
		return Entry{}, err
	}
	if l.Server.Name == "" {
		if err := json.Unmarshal(text, &l.Server); err != nil {
			return Entry{}, err
		}
	}
	e := l.entry()
	if !entryName.MatchString(e.Name + "@" + e.Version) {
		return Entry{},
			errors.New("its name and version are not those of an entry, such as io.github.user/server and 1.2.3")
	}
	return e, nil
}

func (l listed) entry() Entry {
	return Entry{
		Name: l.Server.Name, Title: l.Server.Title, Description: l.Server.Description, Version: l.Server.Version,
		Status: l.Meta.Official.Status, Message: l.Meta.Official.Message, Packages: l.Server.Packages,
		Remotes: l.Server.Remotes,
	}
}
