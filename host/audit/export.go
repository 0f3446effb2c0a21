package audit

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/junctor-mcp/junctor/host/visible"
)

// Formats are the formats of an export.
var Formats = []string{"jsonl", "csv", "ocsf"}

// An Exporter writes rows in a format. One goroutine uses it. The caller closes what it writes
// to.
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
			if err := x.csv.Write(cells(func(f *Field) string { return f.Name })); err != nil {
				return err
			}
		}
		return x.csv.Write(cells(func(f *Field) string { return inert(cmp.Or(f.Text(r), f.zero)) }))
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

// cells returns one cell for each column, in their order.
func cells(of func(*Field) string) []string {
	all := make([]string, len(fields()))
	for _, f := range fields() {
		all[f.column-1] = of(f)
	}
	return all
}

// inert returns a text that a spreadsheet does not take for a formula, and a terminal not for
// commands.
func inert(text string) string {
	text = visible.Text(text)
	if first, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(text, unicode.IsSpace)); strings.ContainsRune(formulas,
		first) {
		return "'" + text
	}
	return text
}

// formulas has the characters that a formula begins with, also in the wide forms of East Asian
// keyboards.
const formulas = "=+-@|%\uff1d\uff0b\uff0d\uff20"
