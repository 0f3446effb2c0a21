package config

import (
	"fmt"
	"path/filepath"

	"github.com/hashicorp/hcl/v2"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/ownership"
)

// exposureOf returns a problem when another user could change the file at path, or
// put another in its place.
func exposureOf(path string) *problem {
	real, err := canonical(path)
	if err != nil {
		return nil // reading it says why
	}
	for _, p := range []string{real, filepath.Dir(real)} {
		if why, command := ownership.Exposed(p); why != "" {
			return &problem{
				at: hcl.Range{Filename: path}, code: fault.ConfigExposed,
				summary: fmt.Sprintf("the configuration is not used: %s %s", p, why), hint: fmt.Sprintf("run `%s %s`", command, p),
			}
		}
	}
	return nil
}
