package main

import (
	"encoding/json"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// isJSON checks that a file, stdout or stderr is one JSON document and, for
// each further word PATH=VALUE, what stands in it: "json stdout 0.name=x".
func isJSON(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 1 {
		ts.Fatalf("usage: json FILE [PATH=VALUE…]")
	}
	var doc any
	text := ts.ReadFile(args[0])
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		ts.Fatalf("%s is not one JSON document: %v\n%s", args[0], err, text)
	}
	for _, word := range args[1:] {
		path, want, _ := strings.Cut(word, "=")
		got := lookup(doc, strings.Split(path, "."))
		text, ok := got.(string)
		if !ok {
			b, _ := json.Marshal(got)
			text = string(b)
		}
		if (text == want) == neg {
			ts.Fatalf("%s is %q, want %q (%v)", path, text, want, !neg)
		}
	}
}

func lookup(doc any, path []string) any {
	for _, name := range path {
		switch at := doc.(type) {
		case map[string]any:
			doc = at[name]
		case []any:
			i := 0
			for _, c := range name {
				i = i*10 + int(c-'0')
			}
			if i >= len(at) {
				return nil
			}
			doc = at[i]
		default:
			return nil
		}
	}
	return doc
}
