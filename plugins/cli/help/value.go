package help

import (
	"regexp"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// kinds maps type words and usual placeholders, in lower case, to kinds.
var kinds = map[string]model.Kind{
	"bool": model.Bool, "boolean": model.Bool,
	"string": model.String, "text": model.String, "str": model.String,
	"int": model.Integer, "int32": model.Integer, "int64": model.Integer, "integer": model.Integer,
	"uint": model.Integer, "uint8": model.Integer, "uint16": model.Integer,
	"uint32": model.Integer, "uint64": model.Integer,
	"n": model.Integer, "num": model.Integer, "number": model.Integer, "count": model.Integer, "nnum": model.Integer,
	"port": model.Integer, "pid": model.Integer, "depth": model.Integer, "jobs": model.Integer, "intmax": model.Integer,
	"+int": model.Integer, "long": model.Integer, "integer range": model.Integer,
	"cols": model.Integer, "columns": model.Integer,
	"float": model.Number, "float32": model.Number, "float64": model.Number,
	"double": model.Number, "decimal": model.Number,
	"float range": model.Number, "seconds": model.Number, "secs": model.Number, "sec": model.Number,
	"strings": model.List, "stringarray": model.List, "stringslice": model.List,
	"list": model.List, "array": model.List,
	"ints": model.List, "intslice": model.List, "uints": model.List, "durations": model.List,
	"stringtostring": model.Map, "stringtoint": model.Map, "map": model.Map,
	"file": model.Path, "filename": model.Path,
	"path": model.Path, "dir": model.Path, "directory": model.Path, "folder": model.Path,
	"infile": model.Path, "outfile": model.Path, "filepath": model.Path, "dirname": model.Path,
	"dirpath": model.Path, "pathname": model.Path,
	"duration": model.Duration,
}

var mapping = regexp.MustCompile(`(?i)^(key|name|k|var|field|label|prop|property|variable|header|option|config|id|setting|opt|param|parameter)(=|:)<?(value|val|v|var|string|pattern|path)$`)

// fileName matches placeholders that are the name of a file, as in "in.bam".
var fileName = regexp.MustCompile(`^(?:file|in|out|input|output)\d*\.[a-z][a-z0-9]*(?:\.[a-z0-9]+)?$`)

// generic are placeholders that name the value. Among choices they are not
// literal values.
var generic = map[string]bool{
	"name": true, "names": true, "url": true, "uri": true, "id": true, "host": true, "hostname": true, "pattern": true,
	"regex": true, "regexp": true, "glob": true,
	"expr": true, "key": true, "value": true, "val": true, "pkg": true, "package": true, "commit": true, "branch": true,
	"tag": true, "ref": true, "revision": true, "rev": true,
	"size": true, "bytes": true, "spec": true, "address": true, "addr": true, "ip": true, "user": true, "uid": true,
	"gid": true, "group": true, "token": true, "command": true,
	"cmd": true, "arg": true, "args": true, "type": true, "time": true, "date": true, "range": true,
	"regular expression": true, "script": true, "image": true, "container": true,
	"version": true, "label": true, "percent": true, "percentage": true, "word": true, "char": true, "character": true,
	"color": true, "level": true, "mode": true, "format": true,
	"title": true, "x": true, "y": true, "str": true, "option": true, "options": true, "field": true, "fields": true,
	"column": true, "row": true, "line": true, "lines": true,
	"object": true, "query": true, "target": true, "module": true, "selector": true, "signal": true, "timestamp": true,
	"index": true, "domain": true, "email": true, "ms": true,
}

// shape returns the value that a printed placeholder describes.
func shape(printed string) model.Value {
	v := model.Value{Kind: model.String, Placeholder: bare(printed)}
	p := v.Placeholder
	if c := choices(p); c != nil && (strings.Contains(p, "|") || strings.Contains(printed, "{")) {
		v.Kind, v.Choices = model.Enum, c
		return v
	}
	v.Kind = kindOf(p)
	if n := arityOf(printed); n > 1 {
		v.Kind, v.Arity = model.String, n
	}
	return v
}

var argumentName = regexp.MustCompile(`^(?:[A-Za-z][A-Za-z0-9_-]*|<[^<>]+>)$`)

// arityOf returns the number of arguments that a printed placeholder describes:
// several names side by side without a joining word.
func arityOf(printed string) int {
	if p := strings.TrimSpace(printed); bare(p) != p && !strings.Contains(p, "> <") {
		return 1
	}
	words := strings.Fields(pairs.ReplaceAllStringFunc(printed,
		func(s string) string { return strings.ReplaceAll(s, " ", "-") }))
	for _, w := range words {
		if !argumentName.MatchString(w) || joining[strings.ToLower(w)] {
			return 1
		}
	}
	return len(words)
}

var (
	pairs   = regexp.MustCompile(`<[^<>]+>`)
	joining = map[string]bool{"or": true, "and": true, "of": true, "the": true, "to": true, "for": true, "in": true,
		"with": true, "as": true, "range": true}
)

// bare removes the brackets around a placeholder.
func bare(p string) string {
	for range 4 {
		p = strings.TrimSpace(p)
		switch {
		case wrapped(p, '<', '>'), wrapped(p, '[', ']'), wrapped(p, '{', '}'), wrapped(p, '(', ')'),
			wrapped(p, '"', '"'), wrapped(p, '\'', '\''):
			p = p[1 : len(p)-1]
		case len(p) > 1 && (p[0] == '"' || p[0] == '\'') && p[len(p)-1] == p[0]:
			p = p[1 : len(p)-1]
		default:
			return p
		}
	}
	return p
}

// kindOf returns the kind that a placeholder's name suggests.
func kindOf(p string) model.Kind {
	low := strings.ToLower(strings.TrimSpace(p))
	if k, ok := kinds[low]; ok {
		return k
	}
	if mapping.MatchString(strings.NewReplacer("<", "", ">", "").Replace(low)) {
		return model.Map
	}
	if fileName.MatchString(low) {
		return model.Path
	}
	if strings.ContainsAny(low, "|=,:[") {
		return model.String
	}
	words := strings.FieldsFunc(low, func(r rune) bool { return r == '-' || r == '_' || r == ' ' || r == '/' })
	if len(words) == 0 {
		return model.String
	}
	switch words[len(words)-1] {
	case "file", "filename", "path", "dir", "directory", "folder", "infile", "outfile", "pathname":
		return model.Path
	}
	switch words[0] {
	case "int", "uint", "integer":
		return model.Integer
	case "float":
		return model.Number
	}
	return model.String
}

// choices parses "a|b|c" and "{a,b,c}". It returns nil if the words are not
// literal values.
func choices(p string) []string {
	sep := "|"
	if !strings.Contains(p, "|") {
		if sep = ","; !strings.Contains(p, ",") || strings.Contains(p, ", ") && !strings.Contains(p, "'") {
			return nil
		}
	}
	var all []string
	for c := range strings.SplitSeq(p, sep) {
		c = strings.Trim(strings.TrimSpace(c), `"'`)
		if !choice(c) {
			return nil
		}
		all = append(all, c)
	}
	if all = distinct(all); all == nil {
		return nil
	}
	// Words that name kinds or values are not literal, unless they are few:
	// "extract|list|verify".
	names := 0
	for _, c := range all {
		low := strings.ToLower(c)
		if fileName.MatchString(low) {
			return nil // "file.fa|file.fa.gz"
		}
		kind, ok := kinds[low]
		if kind == model.Integer || kind == model.Number || kind == model.Path {
			return nil
		}
		if ok || generic[low] || slices.Contains(plurals, low) || low == "globs" || low == "patterns" {
			names++
		}
	}
	if 3*names > len(all) || names > 0 && sep == "|" && shouted(p) {
		return nil
	}
	return all
}

// distinct removes duplicates. It returns nil if fewer than two choices remain.
func distinct(choices []string) []string {
	var all []string
	seen := map[string]bool{}
	for _, c := range choices {
		if !seen[c] {
			all = append(all, c)
		}
		seen[c] = true
	}
	if len(all) < 2 {
		return nil
	}
	return all
}

// choice reports whether c can be a literal value.
func choice(c string) bool {
	if c == "" || len(c) > 64 || c[0] == '@' || strings.Contains(c, "...") { // "@filename" is the content of a file
		return false
	}
	for i := 0; i < len(c); i++ {
		if !letter(c[i]) && strings.IndexByte("-_.+/:@", c[i]) < 0 {
			return false
		}
	}
	return letter(c[0]) || len(c) > 1 || c[0] == '-'
}
