package gateway

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/testdata/bubble"
	conversation "github.com/junctor-mcp/junctor/testdata/conversations"
)

// TestConversations plays testdata/conversations/gateway. First, about servers:
//
//	server NAME REVISION CAPABILITIES
//	bare NAME · deny NAME TOOL · repeat NAME · timeout NAME DURATION
//	share NAME session|tenant · instructions NAME TEXT
//	describe NAME LEVEL · hide-bad NAME · unlisted NAME
//	pins NAME first_use|locked   its tools are pinned
//	list NAME METHOD ITEM        one item more in a list
//	login NAME [URL]             it needs a login first, for which there is a page
//	cold                         the servers have not been asked before
//	limit tool|principal RATE BURST CONCURRENT WAIT
//	                             limits of calls of clients over HTTP
//
// then, where C is the client, D another one, and any other name a server:
//
//	greet C CAPABILITIES         a legacy handshake; without one C is modern
//	C> MESSAGE                   C says this; $M is what modern requests say
//	C< MESSAGE                   C was sent this, … being anything
//	C long PREFIX                C says something too long that begins so
//	C leave                      C hangs up
//	a> MESSAGE · a< MESSAGE      the same for a server; its handshake, lists and
//	                             pings go on behind the scenes
//	a about ID MESSAGE           the server says this, naming a request of ours
//	a exit · a set METHOD ITEM   it ends; one of its lists becomes another
//	a login good|declined        the login ends
//	a accept                     the tools that are held back are accepted
//	wait DURATION · log N TEXT   time; how often the log has a text
//	connections a N · open a N   that there were, and that there are
//	a#2> · a#2< · a#2 exit       one of the connections to a server that is
//	                             shared by not all clients; a is the first
//	a#2 whatever                 what it was sent depends on who was quicker
//	as C SUBJECT TENANT          C is one of many clients from now on
//	C.x> MESSAGE · C.x<          C makes a request over HTTP, with a stream of its
//	                             own; without a session it is modern
//	C.x drop                     its connection is closed
//	keep A                       $A is the requestState that a client was sent
//	                             last, as $S is until there is another; $X is $S
//	                             with one bit changed
//
// Before each step everything has come to rest, and each client that was sent something
// must have been expected to by the time a server speaks or time passes.
func TestConversations(t *testing.T) {
	for name, steps := range conversation.Load(t, "../../testdata/conversations/gateway/*.txt") {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { play(t, steps) })
		})
	}
}

// A scenario is where a conversation is played.
type scenario struct {
	t       *testing.T
	fakes   []*fake
	lists   map[string]map[string][]string
	cold    bool
	limits  *limit.Tools // nil: none
	fixture *fixture
	clients map[string]*testClient
	posts   map[string]*post
	states  map[string]string // what $S and its like stand for
}

func play(t *testing.T, steps []conversation.Step) {
	s := &scenario{t: t, lists: map[string]map[string][]string{}, clients: map[string]*testClient{},
		posts: map[string]*post{}, states: map[string]string{}}
	for len(steps) > 0 && s.setUp(steps[0]) {
		steps = steps[1:]
	}
	for _, f := range s.fakes {
		for method, items := range s.lists[f.name] {
			f.Set(method, items...)
		}
	}
	s.fixture = newFixture(s.fakes...)
	if s.limits != nil {
		s.fixture = newLimitedFixture("", s.limits, s.fakes...)
	}
	defer s.fixture.end()
	if !s.cold {
		s.fixture.warm(t)
	}
	s.clients["C"] = s.fixture.client()
	defer func() {
		for _, p := range s.posts {
			p.end()
		}
		for _, c := range s.clients {
			c.hangUp()
		}
	}()
	for _, step := range steps {
		synctest.Wait()
		if err := s.step(step); err != nil {
			t.Fatalf("line %d: %s %.60s: %v", step.Line, step.Verb, step.Rest, err)
		}
	}
	synctest.Wait()
	if err := s.quiet(); err != nil {
		t.Errorf("at the end %v", err)
	}
}

func (s *scenario) setUp(step conversation.Step) bool {
	w := step.Words(3)
	switch step.Verb {
	case "server":
		f := newFake(w[0], w[1])
		f.Capabilities = w[2]
		s.fakes = append(s.fakes, f)
		s.lists[f.name] = map[string][]string{}
	case "bare":
		s.fake(w[0]).bare = true
	case "deny":
		f := s.fake(w[0])
		f.rules.Deny = append(f.rules.Deny, policy.Pattern{At: "f:1:1", Glob: w[1]})
	case "instructions":
		text := step.Words(2)[1]
		if quoted, err := strconv.Unquote(text); err == nil {
			text = quoted
		}
		s.fake(w[0]).Instructions = text
	case "describe":
		s.fake(w[0]).describe = catalog.Describe(w[1])
	case "hide-bad":
		s.fake(w[0]).hideBad = true
	case "pins":
		s.fake(w[0]).pins = &pinned{strict: w[1] == "locked", digests: map[string]string{}}
	case "unlisted":
		s.fake(w[0]).unlisted = true
	case "share":
		s.fake(w[0]).share = Share(w[1])
	case "repeat":
		s.fake(w[0]).repeat = func(string) bool { return true }
	case "timeout":
		s.fake(w[0]).call, _ = time.ParseDuration(w[1])
	case "list":
		s.lists[w[0]][w[1]] = append(s.lists[w[0]][w[1]], w[2])
	case "login":
		s.fake(w[0]).login = &login{url: w[1], done: make(chan struct{})}
	case "cold":
		s.cold = true
	case "limit":
		s.setLimit(step.Words(5))
	default:
		return false
	}
	return true
}

// setLimit limits calls: of the tools of a tenant with several principals, or of each
// principal.
func (s *scenario) setLimit(w []string) {
	if s.limits == nil {
		s.limits = limit.NewTools(hclog.NewNullLogger())
	}
	b := limit.Bounds{Block: "limits { per_" + w[0] + " }"}
	b.Rate, _ = strconv.ParseFloat(w[1], 64)
	b.Burst, _ = strconv.Atoi(w[2])
	b.Concurrent, _ = strconv.Atoi(w[3])
	b.Wait, _ = time.ParseDuration(w[4])
	if w[0] == "principal" {
		s.limits.SetPrincipal(b)
		return
	}
	s.limits.SetRules([]limit.ToolRule{{Match: everyTool, Rate: b.Rate, Burst: b.Burst, Concurrent: b.Concurrent,
		Wait: b.Wait, Shared: true, Block: b.Block}})
}

func (s *scenario) fake(name string) *fake {
	for _, f := range s.fakes {
		if f.name == name {
			return f
		}
	}
	s.t.Fatalf("no server %q", name)
	return nil
}

// quiet fails when a client was sent a message that is not in the script.
func (s *scenario) quiet() error {
	for name, c := range s.clients {
		if err := conversation.Nothing(c.Sent); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	for name, p := range s.posts {
		if err := conversation.Nothing(p.Sent); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	for _, f := range s.fakes {
		for i, l := range f.Links() {
			if err := conversation.Nothing(f.at(l)); err != nil {
				return fmt.Errorf("%s#%d: %w", f.name, i+1, err)
			}
		}
	}
	return nil
}

func (s *scenario) step(step conversation.Step) error {
	if who, ok := strings.CutSuffix(step.Verb, "<"); ok {
		return s.hears(who, s.expand(step.Rest))
	}
	if who, ok := strings.CutSuffix(step.Verb, ">"); ok {
		return s.says(who, s.expand(step.Rest))
	}
	return s.direct(step)
}

func (s *scenario) hears(who, pattern string) error {
	sent := (chan string)(nil)
	switch {
	case s.clients[who] != nil:
		sent = s.clients[who].Sent
	case s.posts[who] != nil:
		sent = s.posts[who].Sent
	default:
		f, l := s.connection(who)
		return conversation.Next(f.at(l), pattern)
	}
	select {
	case msg := <-sent:
		if state, ok := mcp.TextMember([]byte(msg), "result", "requestState"); ok {
			s.states["$S"], s.states["$X"] = state, flipped(state)
		}
		if !conversation.Match(pattern, msg) {
			return fmt.Errorf("%s was sent\n\t%s\nand not\n\t%s", who, msg, pattern)
		}
		return nil
	default:
		return fmt.Errorf("%s was not sent\n\t%s", who, pattern)
	}
}

func (s *scenario) says(who, text string) error {
	if c := s.clients[who]; c != nil {
		c.say("%s", text)
		return nil
	}
	if name, _, ok := strings.Cut(who, "."); ok {
		if s.posts[who] != nil {
			if err := conversation.Nothing(s.posts[who].Sent); err != nil {
				return err
			}
			s.posts[who].end()
		}
		s.posts[who] = s.fixture.post(s.clients[name], text)
		return nil
	}
	if err := s.quiet(); err != nil {
		return err
	}
	_, l := s.connection(who)
	l.Say(text)
	return nil
}

// expand puts states and what every modern request says into a message.
func (s *scenario) expand(text string) string {
	for name, state := range s.states {
		text = strings.ReplaceAll(text, `"`+name+`"`, `"`+state+`"`)
	}
	return expand(text)
}

// connection is one of those to a server: a, or a#2 for the second. Where all
// share one, it is the last.
func (s *scenario) connection(name string) (*fake, *conversation.Link) {
	name, number, _ := strings.Cut(name, "#")
	f := s.fake(name)
	links := f.Links()
	n, err := strconv.Atoi(number)
	switch {
	case err != nil && f.share == "":
		n = len(links)
	case err != nil:
		n = 1
	}
	if n < 1 || n > len(links) {
		s.t.Fatalf("%s has %d connections", name, len(links))
	}
	return f, links[n-1]
}

// direct plays what is not a message.
func (s *scenario) direct(step conversation.Step) error {
	w := step.Words(2)
	switch step.Verb {
	case "greet":
		if s.clients[w[0]] == nil {
			s.clients[w[0]] = s.fixture.client()
		}
		s.clients[w[0]].greet(s.t, w[1])
	case "wait":
		if err := s.quiet(); err != nil {
			return err
		}
		d, err := time.ParseDuration(step.Rest)
		bubble.Sleep(d)
		return err
	case "log":
		if n := s.fixture.log.count(w[1]); fmt.Sprint(n) != w[0] {
			return fmt.Errorf("%d times", n)
		}
	case "keep":
		s.states["$"+w[0]] = s.states["$S"]
	case "as":
		subject, tenant, _ := strings.Cut(w[1], " ")
		if c := s.clients[w[0]]; c != nil {
			c.hangUp()
		}
		s.clients[w[0]] = s.fixture.visitor(subject, tenant)
	case "open":
		n := 0
		for _, l := range s.fake(w[0]).Links() {
			select {
			case <-l.Closed():
			default:
				n++
			}
		}
		if fmt.Sprint(n) != w[1] {
			return fmt.Errorf("%d", n)
		}
	case "connections":
		if n := s.fake(w[0]).Connections(); fmt.Sprint(n) != w[1] {
			return fmt.Errorf("%d", n)
		}
	default:
		return s.act(step.Verb, w[0], w[1])
	}
	return nil
}

// act plays what one of them does.
func (s *scenario) act(who, verb, text string) error {
	if c := s.clients[who]; c != nil {
		switch verb {
		case "long":
			c.TooLong([]byte(text), "too long")
		case "leave":
			c.hangUp()
			delete(s.clients, who)
		case "joins":
		default:
			return errors.New("no such verb")
		}
		return nil
	}
	if p := s.posts[who]; p != nil && verb == "drop" {
		p.disconnect()
		return nil
	}
	switch verb {
	case "joins":
		s.clients[who] = s.fixture.client()
	case "exit":
		f, l := s.connection(who)
		l.End(nil)
		synctest.Wait()
		for len(f.at(l)) > 0 { // the host may write before it notices the end
			<-f.at(l)
		}
	case "about":
		if err := s.quiet(); err != nil {
			return err
		}
		_, l := s.connection(who)
		id, message, _ := strings.Cut(text, " ")
		l.SayAbout(id, message)
	case "whatever":
		f, l := s.connection(who)
		for len(f.at(l)) > 0 {
			<-f.at(l)
		}
	case "login":
		s.fixture.endLogin(s.fake(who), text)
	case "accept":
		held, _ := s.fixture.Catalog().Held(who)
		s.fake(who).pins.accept(held)
		s.fixture.Catalog().Recheck(who)
	case "set":
		method, item, _ := strings.Cut(text, " ")
		s.fake(who).Set(method, item)
	default:
		return errors.New("no such verb")
	}
	return nil
}
