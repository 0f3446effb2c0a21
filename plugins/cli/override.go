package main

import (
	"cmp"
	"time"

	"github.com/junctor-mcp/junctor/plugins/cli/pick"
	"github.com/junctor-mcp/junctor/plugins/cli/run"
	"github.com/junctor-mcp/junctor/plugins/cli/tool"
	"github.com/junctor-mcp/junctor/sdk/process"
)

// block returns the tool block of a tool, or an empty one. The methods of this file choose between the
// settings of the transport and those of the block, for each run.
func block(t *tool.Tool) *tool.Block {
	if t.Block == nil {
		return &tool.Block{}
	}
	return t.Block
}

// timeout returns how long a run of a tool may take.
func (s *server) timeout(t *tool.Tool) time.Duration {
	if own := block(t).Timeout; own != nil {
		return *own
	}
	return s.set.Timeout
}

// maxOutput returns how many bytes of the output of a tool are kept.
func (s *server) maxOutput(t *tool.Tool) int {
	if own := block(t).MaxOutput; own != nil {
		return *own
	}
	return s.set.MaxOutput
}

// limits returns the resource limits for the runs of a tool.
func (s *server) limits(t *tool.Tool) process.Limits {
	if own := block(t).Limits; own != nil {
		return own.Process()
	}
	return s.set.Limits.Process()
}

// form returns how the output of a tool becomes a result. Exit codes that are data come
// from the block, else from the transport, else from the table of programs.
func (s *server) form(t *tool.Tool) run.Form {
	f := run.Form{Output: s.set.Output, OKCodes: s.set.OKCodes, DataCodes: t.DataCodes}
	if s.set.DataCodes != nil {
		f.DataCodes = s.set.DataCodes
	}
	b := block(t)
	path := s.set.Select
	if b.Output != "" {
		f.Output, path = b.Output, ""
	}
	if path = cmp.Or(b.Select, path); path != "" {
		f.Select, _ = pick.Parse(path) // Validate has parsed it
	}
	if b.OKCodes != nil {
		f.OKCodes = b.OKCodes
	}
	if b.DataCodes != nil {
		f.DataCodes = b.DataCodes
	}
	return f
}
