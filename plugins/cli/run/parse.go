package run

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// parse adds an output in the format of the form. shown is what the text of the result shows
// in place of the output, or "". problem says why the output is not of the format, or is "".
func (f Form) parse(o *Output, s *structured) (shown, problem string) {
	parsed := f.Output == JSON || f.Output == JSONL
	switch {
	case parsed && o.Omitted > 0:
		return "", "it is larger than max_output or a message, so it was cut; print less, or raise max_output"
	case o.Omitted > 0:
		return "", ""
	}
	switch f.Output {
	case JSON:
		return f.parseJSON(o.Head, s)
	case JSONL:
		return f.parseJSONL(o.Head, s)
	case Lines:
		s.Lines = list(texts(o), func(line string) any { return line })
	case TSV:
		s.Lines = list(texts(o), func(line string) any { return strings.Split(line, "\t") })
	case Table:
		rows, ok := table(texts(o))
		if !ok {
			return "", "it is no table: its lines have no columns below the names of a header"
		}
		s.Lines = rows
	}
	return "", ""
}

// parseJSON reads one value. Some programs print nothing where a list would be empty, which is
// no error.
func (f Form) parseJSON(text []byte, s *structured) (shown, problem string) {
	if len(bytes.TrimSpace(text)) == 0 {
		return "", ""
	}
	value, problem := readJSON(text)
	if problem != "" {
		return "", problem
	}
	if f.Select == nil {
		s.JSON = value
		return "", ""
	}
	picked, err := f.Select.Apply(value)
	if err != nil {
		return "", "select finds nothing: " + err.Error()
	}
	s.JSON = picked
	return plainJSON(picked), ""
}

// parseJSONL reads a JSON value on each line. The selected part of each is an element, or
// elements if the path has [].
func (f Form) parseJSONL(text []byte, s *structured) (shown, problem string) {
	values := []json.RawMessage{}
	number := 0
	for line := range bytes.Lines(text) {
		if number++; len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		value, problem := readJSON(line)
		if problem != "" {
			return "", fmt.Sprintf("line %d: %s", number, problem)
		}
		if f.Select == nil {
			values = append(values, value)
			continue
		}
		picked, err := f.Select.Apply(value)
		if err != nil {
			return "", fmt.Sprintf("line %d: select finds nothing: %v", number, err)
		}
		var several []json.RawMessage
		if !f.Select.Many() || json.Unmarshal(picked, &several) != nil {
			several = []json.RawMessage{picked}
		}
		values = append(values, several...)
	}
	s.Lines = mustJSON(values)
	if f.Select == nil {
		return "", ""
	}
	return string(s.Lines), ""
}

// texts returns the lines of an output as plain text, without their ends.
func texts(o *Output) []string {
	text := strings.ReplaceAll(o.Text(), "\r\n", "\n")
	if text = strings.TrimSuffix(text, "\n"); text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// list returns a JSON list with an element for each line.
func list(lines []string, element func(string) any) json.RawMessage {
	all := make([]any, 0, len(lines))
	for _, line := range lines {
		all = append(all, element(line))
	}
	return mustJSON(all)
}
