package config

import (
	"fmt"
	"path/filepath"

	"github.com/hashicorp/hcl/v2"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/ownership"
)

// exposureOf returns a problem when another user could change the file at path, or
// put another in its place: there, or where a symbolic link leads.
func exposureOf(path string) *problem {
	real, err := canonical(path)
	if err != nil {
		return nil // reading it says why
	}
	places := []string{real, filepath.Dir(real)}
	if dir, err := canonical(filepath.Dir(path)); err == nil && dir != places[1] {
		places = append(places, dir)
	}
	for _, p := range places {
		if why, command := ownership.Exposed(p); why != "" {
			return &problem{
				at: hcl.Range{Filename: path}, code: fault.ConfigExposed,
				summary: fmt.Sprintf("the configuration is not used: %s %s", p, why), hint: fmt.Sprintf("run `%s %s`", command, p),
			}
		}
	}
	return nil
}
