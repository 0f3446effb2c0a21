package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// The mode "tables DIR" serves the odd definitions, results and errors in the tables of a
// directory. A tool, prompt or resource for each result and error has its name behind
// "r_", "e_", "g_", "c_" or "odd:read/".

// A table has the raw text "<" of each case, by its first line.
type table struct {
	names []string
	raw   map[string]string
}

func readTable(file string) table {
	f, err := os.Open(filepath.Join(os.Args[2], file))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	defer f.Close()
	t, name := table{raw: map[string]string{}}, ""
	for in := bufio.NewScanner(f); in.Scan(); {
		line := in.Text()
		raw, found := strings.CutPrefix(line, "< ")
		switch {
		case line == "":
			name = ""
		case strings.HasPrefix(line, "#"):
		case name == "":
			name = line
			t.names = append(t.names, name)
		case found:
			t.raw[name] = raw
		}
	}
	return t
}

// list returns the definitions of a kind.
func (t table) list(kind string) (all []string) {
	for _, name := range t.names {
		if strings.HasPrefix(name, kind+" ") {
			all = append(all, t.raw[name])
		}
	}
	return all
}

// uses returns a definition for each case of a method.
func (t table) uses(method, format string) (all []string) {
	for _, name := range t.names {
		if rest, ok := strings.CutPrefix(name, method); ok {
			all = append(all, fmt.Sprintf(format, strings.TrimSpace(rest)))
		}
	}
	return all
}

// tables answers a request in the mode "tables".
func tables(r request) {
	definitions, results, errors := readTable("definitions.txt"), readTable("results.txt"), readTable("errors.txt")
	const tool = `{"name":"%s_%%s","inputSchema":{"type":"object"}}`
	lists := func(member string, parts ...[]string) {
		var all []string
		for _, part := range parts {
			all = append(all, part...)
		}
		reply(r, fmt.Sprintf(`{%q:[%s]}`, member, strings.Join(all, ",")))
	}
	given := func(raw string) {
		if raw == "" {
			raw = `{"content":[{"type":"text","text":"good"}],"contents":[{"uri":"odd:good","text":"good"}],"messages":[],"completion":{"values":[]}}`
		}
		reply(r, raw)
	}
	switch r.Method {
	case "initialize":
		reply(r, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"resources":{},"prompts":{},"completions":{}},"serverInfo":{"name":"odd","version":"1"}}`)
	case "tools/list":
		lists("tools", definitions.list("tool"), results.uses("tools/call", fmt.Sprintf(tool, "r")),
			errors.uses("", fmt.Sprintf(tool, "e")))
	case "prompts/list":
		lists("prompts", definitions.list("prompt"), results.uses("prompts/get", `{"name":"g_%s"}`),
			results.uses("completion/complete", `{"name":"c_%s","arguments":[{"name":"a"}]}`))
	case "resources/list":
		lists("resources", definitions.list("resource"),
			results.uses("resources/read", `{"uri":"odd:read/%[1]s","name":"%[1]s"}`),
			[]string{`{"uri":"relative/path.txt","name":"relative"}`})
	case "resources/templates/list":
		lists("resourceTemplates", definitions.list("template"))
	case "tools/call":
		if raw := errors.raw[strings.TrimPrefix(r.Params.Name, "e_")]; raw != "" &&
			strings.HasPrefix(r.Params.Name, "e_") {
			raw = strings.ReplaceAll(raw, "$LARGE", strings.Repeat("x", 5_000_000))
			fmt.Printf(`{"jsonrpc":"2.0","id":%s%s}`+"\n", r.ID, raw)
			return
		}
		switch name := r.Params.Name; { // as their output schemas ask for
		case name == "output_array":
			reply(r, `{"content":[],"structuredContent":["a"]}`)
		case strings.HasPrefix(name, "output_"):
			reply(r, `{"content":[],"structuredContent":{"a":"x"}}`)
		default:
			given(results.raw["tools/call "+strings.TrimPrefix(r.Params.Name, "r_")])
		}
	case "prompts/get":
		given(results.raw["prompts/get "+strings.TrimPrefix(r.Params.Name, "g_")])
	case "resources/read":
		given(results.raw["resources/read "+strings.TrimPrefix(r.Params.URI, "odd:read/")])
	case "completion/complete":
		var ref struct {
			Params struct {
				Ref struct{ Name string }
			}
		}
		_ = json.Unmarshal(r.raw, &ref)
		given(results.raw["completion/complete "+strings.TrimPrefix(ref.Params.Ref.Name, "c_")])
	default:
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`+"\n", r.ID)
	}
}
