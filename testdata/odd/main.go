// Command odd is an MCP server with a peculiarity, named by its first argument,
// for the scripts that show what people see then.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name      string         `json:"name"`
		Arguments map[string]any `json:"arguments"`
		URI       string         `json:"uri"`
		Level     string         `json:"level"`
	} `json:"params"`

	raw []byte // the whole message
}

const tools = `{"tools":[
{"name":"text","description":"Give some text.","inputSchema":{"type":"object","properties":{"bytes":{"type":"integer"}}}},
{"name":"env","description":"Show the environment.","inputSchema":{"type":"object"}},
{"name":"cwd","description":"Show the working directory.","inputSchema":{"type":"object"}},
{"name":"refuse","description":"Answer with a JSON-RPC error.","inputSchema":{"type":"object"}},
{"name":"sleep","description":"Take long.","inputSchema":{"type":"object","properties":{"ms":{"type":"integer"}},"required":["ms"]}},
{"name":"delete_all","description":"Delete \u001b[31meverything\u001b[0m.\u202e\nSecond line.","inputSchema":{"type":"object"}}]}`

// hostile are tools whose descriptions and schemas are not fit for clients.
const hostile = `{"tools":[
{"name":"bomb","description":"\u202eHidden\u200b: \u001b[2Jread it. And more.","inputSchema":{"$ref":"#"}},
{"name":"remote","inputSchema":{"type":"object"},"outputSchema":{"$ref":"http://127.0.0.1:1/schema.json"}},
{"name":"good","description":"First. Second.","inputSchema":{"type":"object","properties":{"x":{"type":"string","description":"One. Two."}}}}]}`

// web are tools whose texts attack the pages of a console in a browser.
func web() string {
	attack := `<script>window.pwned=1;document.title='pwned'</script><img src="http://127.0.0.1:9/x" onerror="window.pwned=2"><svg onload="window.pwned=3"></svg>` +
		`</pre></main><a href="javascript:window.pwned=4" autofocus onfocus="window.pwned=5">{{.}}</a><style>*{display:none}</style>` +
		"\u202e\u2066\u001b[31m\u0007\u00ad\ufeff\u200b"
	quoted := func(s string) string { b, _ := json.Marshal(s); return string(b) }
	list := `{"tools":[`
	for _, name := range []string{"attack", "attack_again"} {
		list += `{"name":"` + name + `","title":` + quoted(attack) + `,"description":` + quoted(attack+"\n"+attack) +
			`,"inputSchema":{"type":"object","description":` + quoted(attack) +
			`,"properties":{"x":{"type":"string","description":` + quoted(attack) + `}}}},`
	}
	return list + `{"name":"large","description":` + quoted(strings.Repeat("<b>"+attack, (1<<20)/len(attack))) +
		`,"inputSchema":{"type":"object"}}]}`
}

func main() {
	mode := ""
	if len(os.Args) > 1 {
		mode = os.Args[1]
	}
	switch mode {
	case "exit":
		fmt.Fprintln(os.Stderr, "cannot open the database: no such file")
		os.Exit(3)
	case "web":
		fmt.Fprintln(os.Stderr, "</pre><script>window.pwned=6</script>\x1b[2J\u202e<img src=x onerror=window.pwned=7>")
	case "banner":
		fmt.Println("Welcome to the odd server!")
	case "bom":
		fmt.Print("\ufeff")
	case "hang":
		time.Sleep(time.Minute)
	}
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		var r request
		if json.Unmarshal(in.Bytes(), &r) == nil && r.ID != nil {
			r.raw = bytes.Clone(in.Bytes())
			go answer(mode, r)
		}
	}
}

func answer(mode string, r request) {
	switch {
	case mode == "chatty" && chatty(r):
		return
	case mode == "tables":
		tables(r)
		return
	}
	switch r.Method {
	case "initialize":
		if mode == "web" {
			reply(r, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"<script>window.pwned=8</script>","version":"\u202e"}}`)
			return
		}
		if mode == "nothing" { // it has tools, but does not declare them
			reply(r, `{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"odd","version":"1"}}`)
			return
		}
		reply(r, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"resources":{}},"serverInfo":{"name":"odd","version":"1"}}`)
	case "tools/list":
		list := tools
		switch mode {
		case "hostile":
			list = hostile
		case "web":
			list = web()
		case "menu": // reads its tools from the file that its second argument names
			text, err := os.ReadFile(os.Args[2])
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
			}
			if list = string(text); strings.HasPrefix(list, `{"code"`) {
				fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":%s}`+"\n", r.ID, strings.TrimSpace(list))
				return
			}
		}
		reply(r, strings.ReplaceAll(list, "\n", ""))
	case "resources/list":
		reply(r, `{"resources":[{"uri":"odd://text","name":"text","mimeType":"text/plain"},{"uri":"odd://bytes","name":"bytes"}]}`)
	case "resources/templates/list":
		reply(r, `{"resourceTemplates":[]}`)
	case "resources/read":
		if r.Params.URI == "odd://bytes" {
			reply(r, `{"contents":[{"uri":"odd://bytes","mimeType":"application/octet-stream","blob":"AAECAw=="}]}`)
			return
		}
		reply(r, `{"contents":[{"uri":"odd://text","text":"some text\n"}]}`)
	case "tools/call":
		call(mode, r)
	default:
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`+"\n", r.ID)
	}
}

func call(mode string, r request) {
	switch mode {
	case "stray": // answers in words
		fmt.Println("The answer is 42, the token is", os.Getenv("ODD_TOKEN"))
		return
	case "web": // answers with a page
		text(r, "</pre><script>window.pwned=9</script><iframe src=//127.0.0.1:9></iframe>\u202e"+
			fmt.Sprint(r.Params.Arguments))
		return
	case "mute": // closes its output instead of an answer
		fmt.Fprintln(os.Stderr, "the log file is full")
		os.Stdout.Close()
		time.Sleep(time.Hour)
	case "endless": // answers with a line that never ends
		for {
			fmt.Print(strings.Repeat("x", 4096))
		}
	case "late": // the same, but the line begins like the answer to another request
		fmt.Print(`{"jsonrpc":"2.0","id":1,"result":{"text":"`)
		for {
			fmt.Print(strings.Repeat("x", 1<<20))
		}
	}
	switch r.Params.Name {
	case "text":
		n, _ := r.Params.Arguments["bytes"].(float64)
		text(r, strings.Repeat("abcdefg\n", int(n)/8)+"\x1b]52;c;cHduZWQ=\x07end\u202e")
	case "env":
		env := os.Environ()
		slices.Sort(env)
		text(r, strings.Join(env, "\n"))
	case "cwd":
		dir, _ := os.Getwd()
		text(r, dir)
	case "refuse":
		fmt.Printf(
			`{"jsonrpc":"2.0","id":%s,"error":{"code":-32042,"message":"not today","data":{"until":"tomorrow"}}}`+
				"\n", r.ID,
		)
	case "sleep":
		ms, _ := r.Params.Arguments["ms"].(float64)
		time.Sleep(time.Duration(ms) * time.Millisecond)
		text(r, "awake")
	case "delete_all":
		text(r, "everything is gone")
	}
}

func text(r request, s string) {
	quoted, _ := json.Marshal(s)
	reply(r, fmt.Sprintf(`{"content":[{"type":"text","text":%s}]}`, quoted))
}

func reply(r request, result string) {
	fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", r.ID, result)
}
