package audit

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"slices"

	"github.com/junctor-mcp/junctor/host/visible"
)

// Formats are the formats of an export.
var Formats = []string{"jsonl", "csv", "ocsf"}

// An Exporter writes rows in a format.
type Exporter struct {
	json    *json.Encoder
	csv     *csv.Writer
	format  string
	version string
	begun   bool
}

// NewExporter returns an exporter for one of Formats; ok is false for any other format.
// version is that of Junctor.
func NewExporter(to io.Writer, format, version string) (x *Exporter, ok bool) {
	x = &Exporter{format: format, version: version, json: json.NewEncoder(visible.Writer(to)), csv: csv.NewWriter(to)}
	x.json.SetEscapeHTML(false)
	return x, slices.Contains(Formats, format)
}

// Write writes one row.
func (x *Exporter) Write(r *Row) error {
	switch x.format {
	case "csv":
		if !x.begun {
			x.begun = true
			if err := x.csv.Write(csvHeader); err != nil {
				return err
			}
		}
		return x.csv.Write(csvRow(r))
	case "ocsf":
		return x.json.Encode(ocsfOf(r, x.version))
	}
	return x.json.Encode(r)
}

// Flush writes what is buffered.
func (x *Exporter) Flush() error {
	x.csv.Flush()
	return x.csv.Error()
}
