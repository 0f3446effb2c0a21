package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"time"
)

// publisherURI is the resource of the publisher.
const publisherURI = "news://n"

// publisher is an MCP server for the tests of reloads. Its first argument is the era,
// its second one the description of its tools. The tool "publish" sends subscribers
// the next number. The tool "hold" waits until a file exists, then logs and reports
// progress. Both return the process id.
func publisher() {
	p := &publishing{modern: os.Args[1] == "modern", description: os.Args[2], subs: map[string]string{}}
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		var r publisherRequest
		if json.Unmarshal(in.Bytes(), &r) == nil {
			p.serve(r)
		}
	}
}

type publishing struct {
	modern      bool
	description string
	number      int               // of the last notification
	subs        map[string]string // the subscriptions by request, with the members that their notifications have

	mu sync.Mutex // held while a line is written
}

type publisherRequest struct {
	ID     json.RawMessage
	Method string
	Params struct {
		URI, Name     string
		RequestID     json.RawMessage
		Arguments     struct{ File string }
		Notifications struct{ ResourceSubscriptions []string }
		Meta          struct {
			ProgressToken json.RawMessage
		} `json:"_meta"`
	}
}

func (p *publishing) print(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Printf(`{"jsonrpc":"2.0",`+format+"}\n", args...)
}

func (p *publishing) reply(r publisherRequest, result string) {
	p.print(`"id":%s,"result":{"resultType":"complete",%s}`, r.ID, result)
}

func (p *publishing) serve(r publisherRequest) {
	const capabilities = `"capabilities":{"tools":{"listChanged":true},"resources":{"subscribe":true},"logging":{}}`
	switch {
	case r.Method == "initialize" && !p.modern:
		p.reply(r, `"protocolVersion":"2025-11-25","serverInfo":{"name":"publisher","version":"1"},`+capabilities)
	case r.Method == "server/discover" && p.modern:
		p.reply(r, `"supportedVersions":["2026-07-28"],`+capabilities)
	case r.Method == "tools/list":
		p.reply(r, fmt.Sprintf(`"tools":[{"name":"publish","description":%q,"inputSchema":{"type":"object"}},{"name":"hold","inputSchema":{"type":"object"}}]`,
			p.description))
	case r.Method == "resources/list":
		p.reply(r, `"resources":[{"uri":"`+publisherURI+`","name":"n"}]`)
	case r.Method == "resources/templates/list":
		p.reply(r, `"resourceTemplates":[]`)
	case r.Method == "resources/subscribe":
		p.subs[r.Params.URI] = ""
		p.reply(r, `"subscribed":true`)
	case r.Method == "resources/unsubscribe":
		delete(p.subs, r.Params.URI)
		p.reply(r, `"unsubscribed":true`)
	case r.Method == "subscriptions/listen":
		p.listen(r)
	case r.Method == "notifications/cancelled":
		delete(p.subs, string(r.Params.RequestID))
	case r.Method == "logging/setLevel":
		p.reply(r, `"set":true`)
	case r.Params.Name == "publish":
		p.publish(r)
	case r.Params.Name == "hold":
		go p.hold(r)
	case r.ID != nil:
		p.print(`"id":%s,"error":{"code":-32601,"message":"no such method"}`, r.ID)
	}
}

// listen accepts a listen request, which stays open.
func (p *publishing) listen(r publisherRequest) {
	about := fmt.Sprintf(`,"_meta":{"io.modelcontextprotocol/subscriptionId":%s}`, r.ID)
	uris, _ := json.Marshal(r.Params.Notifications.ResourceSubscriptions)
	if len(r.Params.Notifications.ResourceSubscriptions) > 0 {
		p.subs[string(r.ID)] = about
	}
	p.print(
		`"method":"notifications/subscriptions/acknowledged","params":{"notifications":{"resourceSubscriptions":%s}%s}`,
		uris, about,
	)
}

func (p *publishing) publish(r publisherRequest) {
	p.number++
	for _, about := range p.subs {
		p.print(`"method":"notifications/resources/updated","params":{"uri":%q,"n":%d,"pid":%d%s}`, publisherURI,
			p.number, os.Getpid(), about)
	}
	p.finish(r)
}

// hold polls for the file, because the calls of the test that would create it could
// reach another process.
func (p *publishing) hold(r publisherRequest) {
	p.progress(r, 1)
	for {
		if _, err := os.Stat(r.Params.Arguments.File); err == nil {
			break
		}
		time.Sleep(5 * time.Millisecond) // this is a server process, with no test to fail
	}
	p.print(`"method":"notifications/message","params":{"level":"info","data":%q}`, r.Params.Arguments.File)
	p.progress(r, 2)
	p.finish(r)
}

func (p *publishing) progress(r publisherRequest, n int) {
	if token := r.Params.Meta.ProgressToken; token != nil {
		p.print(`"method":"notifications/progress","params":{"progressToken":%s,"progress":%d}`, token, n)
	}
}

func (p *publishing) finish(r publisherRequest) {
	text, _ := json.Marshal(fmt.Sprint(os.Getpid()))
	p.reply(r, fmt.Sprintf(`"content":[{"type":"text","text":%s}]`, text))
}
