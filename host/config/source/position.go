package source

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// A Position is a place in the configuration. File is as the user named it. Line
// and Column count from 1; a Line of 0 means the whole file. It is a value.
type Position struct {
	File         string
	Line, Column int
}

// String returns FILE:LINE:COLUMN, or FILE for the whole file.
func (p Position) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// StartOf returns the start of a range.
func StartOf(r hcl.Range) Position {
	return Position{File: r.Filename, Line: r.Start.Line, Column: r.Start.Column}
}

// EndOf returns the end of a range.
func EndOf(r hcl.Range) Position {
	return Position{File: r.Filename, Line: r.End.Line, Column: r.End.Column}
}

// Portable returns a path relative to the directory of the file that has it, or the last
// element of a path elsewhere.
func (p Position) Portable(path string) string {
	if path == "" {
		return ""
	}
	dir, err := filepath.Abs(filepath.Dir(p.File))
	if err != nil {
		return filepath.Base(path)
	}
	rel, err := filepath.Rel(dir, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return filepath.Base(path)
	}
	return filepath.ToSlash(rel)
}
