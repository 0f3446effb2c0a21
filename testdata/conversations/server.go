package conversation

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// A Message is what the host sent, as encoding/json reads it.
type Message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
	Text   string          `json:"-"` // the whole
}

// A Server is an MCP server that answers the handshake, lists and pings by
// itself. Its fields are set before it serves; the lists may be changed later
// through Set.
type Server struct {
	Revision     string // that it speaks: a modern one, or the newest of the old ones that it has
	Capabilities string // JSON; empty: tools, resources, prompts
	Instructions string // for models; empty: none
	// Answer says what to answer a request with, before the server does; nothing
	// leaves it to the server. Notifications and answers of the host it is told
	// as well. The goroutine that serves a link calls it. See On.
	Answer func(l *Link, m Message) (reply string)

	mu    sync.Mutex
	lists map[string][]string // guarded by mu; items by the method that lists them
	seen  []string            // guarded by mu; messages of the host, whole
	links []*Link             // guarded by mu
}

// Result is the reply that carries a result.
func Result(m Message, result string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

// Error is the reply that carries an error.
func Error(m Message, rpcError string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":%s}`, m.ID, rpcError)
}

// Set replaces the list that a method asks for.
func (s *Server) Set(method string, items ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lists == nil {
		s.lists = map[string][]string{}
	}
	s.lists[method] = items
}

// On replaces Answer while the server serves.
func (s *Server) On(answer func(l *Link, m Message) (reply string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Answer = answer
}

// Seen returns what the host sent: the methods of its requests and
// notifications, or, with whole, the messages.
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

// Count is how often the host sent a method.
func (s *Server) Count(method string) (n int) {
	for _, m := range s.Seen(false) {
		if m == method {
			n++
		}
	}
	return n
}

// Link is the connection that was opened last, nil when there was none.
func (s *Server) Link() *Link {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.links) == 0 {
		return nil
	}
	return s.links[len(s.links)-1]
}

// Links are all connections that there were, in order.
func (s *Server) Links() []*Link {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.links)
}

// Connections is how many there were.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.links)
}

// Open opens a connection to the server. It is served until the host closes it.
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
			for len(l.Sent) > 0 { // its last words
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
	result := s.greeting(m.Method)
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

// Later is the reply of a server that answers later or not at all.
const Later = "later"

// Lists are the methods that ask for lists, with the member that holds one.
var Lists = map[string]string{
	"tools/list": "tools", "resources/list": "resources", "resources/templates/list": "resourceTemplates", "prompts/list": "prompts",
}

// greeting is the result of what every server is asked; empty: an error.
func (s *Server) greeting(method string) string {
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
		return fmt.Sprintf(`{"resultType":"complete","supportedVersions":[%q],"capabilities":%s,"ttlMs":0,"cacheScope":"private"%s}`, s.Revision, caps, instructions)
	case method == "initialize" && !modern:
		return fmt.Sprintf(`{"protocolVersion":%q,"capabilities":%s,"serverInfo":{"name":"fake","version":"1"}%s}`, s.Revision, caps, instructions)
	case method == "server/discover" || method == "initialize":
		return ""
	}
	return "{}"
}
