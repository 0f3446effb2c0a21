package conversation

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// A Message is a decoded message of the host.
type Message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
	Text   string          `json:"-"` // the whole message
}

// A Server is a fake MCP server. It answers the handshake, lists and pings by
// itself. Set its fields before Open. Set and On may be called later.
type Server struct {
	Revision     string // supported revision: a modern one, or the newest legacy one
	Capabilities string // JSON; empty: tools, resources, prompts
	Instructions string // empty: none
	// Answer returns the response to a request, or "" to use the server's own
	// response. It is also called for notifications and responses of the host.
	// The goroutine of the link calls it. See On.
	Answer func(l *Link, m Message) (reply string)

	mu    sync.Mutex
	lists map[string][]string // guarded by mu; items by list method
	seen  []string            // guarded by mu; all messages of the host
	links []*Link             // guarded by mu
}

// Result returns a response with a result.
func Result(m Message, result string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

// Error returns a response with an error.
func Error(m Message, rpcError string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":%s}`, m.ID, rpcError)
}

// Set sets the items that a list method returns.
func (s *Server) Set(method string, items ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lists == nil {
		s.lists = map[string][]string{}
	}
	s.lists[method] = items
}

// On replaces Answer while connections are open.
func (s *Server) On(answer func(l *Link, m Message) (reply string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Answer = answer
}

// Seen returns the methods of the host's requests and notifications in order.
// If whole is true, it returns all messages.
func (s *Server) Seen(whole bool) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for _, text := range s.seen {
		var m Message
		_ = json.Unmarshal([]byte(text), &m)
		if whole {
			all = append(all, text)
		} else if m.Method != "" {
			all = append(all, m.Method)
		}
	}
	return all
}

// Count returns how often the host sent a method.
func (s *Server) Count(method string) (n int) {
	for _, m := range s.Seen(false) {
		if m == method {
			n++
		}
	}
	return n
}

// Link returns the last opened connection, or nil.
func (s *Server) Link() *Link {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.links) == 0 {
		return nil
	}
	return s.links[len(s.links)-1]
}

// Links returns all connections ever opened, in order.
func (s *Server) Links() []*Link {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.links)
}

// Connections returns the number of connections ever opened.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.links)
}

// Open opens a connection to the server. A goroutine serves it until the host
// closes it.
func (s *Server) Open() *Link {
	l := NewLink()
	s.mu.Lock()
	s.links = append(s.links, l)
	s.mu.Unlock()
	go s.serve(l)
	return l
}

func (s *Server) serve(l *Link) {
	for {
		select {
		case text := <-l.Sent:
			s.take(l, text)
		case <-l.Closed():
			for len(l.Sent) > 0 { // messages sent before the close
				s.take(l, <-l.Sent)
			}
			return
		}
	}
}

func (s *Server) take(l *Link, text string) {
	s.mu.Lock()
	s.seen = append(s.seen, text)
	answer := s.Answer
	s.mu.Unlock()
	var m Message
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		panic(fmt.Sprintf("the host sent %q: %v", text, err))
	}
	m.Text = text
	reply := ""
	if answer != nil {
		reply = answer(l, m)
	}
	switch {
	case reply == Later || m.ID == nil || m.Method == "":
	case reply != "":
		l.Say(reply)
	default:
		s.reply(l, m)
	}
}

func (s *Server) reply(l *Link, m Message) {
	s.mu.Lock()
	items, isList := s.lists[m.Method]
	s.mu.Unlock()
	result := s.standardResult(m.Method)
	for method, member := range Lists {
		if m.Method == method && (isList || result == "{}") {
			result = fmt.Sprintf(`{%q:[%s]}`, member, strings.Join(items, ","))
		}
	}
	if result == "" {
		l.Say(Error(m, `{"code":-32601,"message":"Method not found"}`))
		return
	}
	l.Say(Result(m, result))
}

// Later is the return value of Answer for a request without an immediate
// response.
const Later = "later"

// Lists maps list methods to the member of the result with the items.
var Lists = map[string]string{
	"tools/list": "tools", "resources/list": "resources",
	"resources/templates/list": "resourceTemplates", "prompts/list": "prompts",
}

// standardResult returns the result of a method that every server supports. An
// empty result means an error.
func (s *Server) standardResult(method string) string {
	caps := s.Capabilities
	if caps == "" {
		caps = `{"tools":{},"resources":{},"prompts":{}}`
	}
	modern := s.Revision >= "2026"
	instructions := ""
	if s.Instructions != "" {
		instructions = fmt.Sprintf(`,"instructions":%q`, s.Instructions)
	}
	switch {
	case method == "server/discover" && modern:
		return fmt.Sprintf(
			`{"resultType":"complete","supportedVersions":[%q],"capabilities":%s,"ttlMs":0,"cacheScope":"private"%s}`,
			s.Revision, caps, instructions,
		)
	case method == "initialize" && !modern:
		return fmt.Sprintf(`{"protocolVersion":%q,"capabilities":%s,"serverInfo":{"name":"fake","version":"1"}%s}`,
			s.Revision, caps, instructions)
	case method == "server/discover" || method == "initialize":
		return ""
	}
	return "{}"
}
