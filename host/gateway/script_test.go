package gateway

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/junctor-mcp/junctor/host/policy"
	conversation "github.com/junctor-mcp/junctor/testdata/conversations"
)

// TestConversations plays testdata/conversations/gateway. First, about servers:
//
//	server NAME REVISION CAPABILITIES
//	bare NAME · deny NAME TOOL · repeat NAME · timeout NAME DURATION
//	list NAME METHOD ITEM        one item more in a list
//	cold                         nobody has asked the servers before
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
//	a exit · a set METHOD ITEM   it ends; one of its lists becomes another
//	wait DURATION · log N TEXT   time; how often the log has a text
//	connections a N
//
// Before each step everything has come to rest, and whoever was sent something
// must have been expected to by the time a server speaks or time passes.
func TestConversations(t *testing.T) {
	for name, steps := range conversation.Load(t, "../../testdata/conversations/gateway/*.txt") {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { play(t, steps) })
		})
	}
}

// A stage is where a conversation is played.
type stage struct {
	t       *testing.T
	fakes   []*fake
	lists   map[string]map[string][]string
	cold    bool
	desk    *desk
	clients map[string]*client
}

func play(t *testing.T, steps []conversation.Step) {
	s := &stage{t: t, lists: map[string]map[string][]string{}, clients: map[string]*client{}}
	for len(steps) > 0 && s.setUp(steps[0]) {
		steps = steps[1:]
	}
	for _, f := range s.fakes {
		for method, items := range s.lists[f.name] {
			f.Set(method, items...)
		}
	}
	s.desk = newDesk(s.fakes...)
	defer s.desk.end()
	if !s.cold {
		s.desk.warm(t)
	}
	s.clients["C"] = s.desk.client()
	defer func() {
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

func (s *stage) setUp(step conversation.Step) bool {
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
		f.rules.Deny = append(f.rules.Deny, policy.Rule{At: "f:1:1", Match: func(name string) bool { return name == w[1] }})
	case "repeat":
		s.fake(w[0]).repeat = func(string) bool { return true }
	case "timeout":
		s.fake(w[0]).call, _ = time.ParseDuration(w[1])
	case "list":
		s.lists[w[0]][w[1]] = append(s.lists[w[0]][w[1]], w[2])
	case "cold":
		s.cold = true
	default:
		return false
	}
	return true
}

func (s *stage) fake(name string) *fake {
	for _, f := range s.fakes {
		if f.name == name {
			return f
		}
	}
	s.t.Fatalf("no server %q", name)
	return nil
}

// quiet fails when somebody was sent something that is not in the script.
func (s *stage) quiet() error {
	for name, c := range s.clients {
		if err := conversation.Nothing(c.Sent); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	for _, f := range s.fakes {
		if err := conversation.Nothing(f.got); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	return nil
}

func (s *stage) step(step conversation.Step) error {
	if who, ok := strings.CutSuffix(step.Verb, "<"); ok {
		if c := s.clients[who]; c != nil {
			return conversation.Next(c.Sent, expand(step.Rest))
		}
		return conversation.Next(s.fake(who).got, expand(step.Rest))
	}
	if who, ok := strings.CutSuffix(step.Verb, ">"); ok {
		if c := s.clients[who]; c != nil {
			c.say("%s", step.Rest)
			return nil
		}
		if err := s.quiet(); err != nil {
			return err
		}
		s.fake(who).Link().Say(expand(step.Rest))
		return nil
	}
	return s.direct(step)
}

// direct plays what is not a message.
func (s *stage) direct(step conversation.Step) error {
	w := step.Words(2)
	switch step.Verb {
	case "greet":
		if s.clients[w[0]] == nil {
			s.clients[w[0]] = s.desk.client()
		}
		s.clients[w[0]].greet(s.t, w[1])
	case "wait":
		if err := s.quiet(); err != nil {
			return err
		}
		d, err := time.ParseDuration(step.Rest)
		time.Sleep(d)
		return err
	case "log":
		if n := s.desk.log.count(w[1]); fmt.Sprint(n) != w[0] {
			return fmt.Errorf("%d times", n)
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
func (s *stage) act(who, verb, text string) error {
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
	switch verb {
	case "joins":
		s.clients[who] = s.desk.client()
	case "exit":
		s.fake(who).Link().End(nil)
	case "set":
		method, item, _ := strings.Cut(text, " ")
		s.fake(who).Set(method, item)
	default:
		return errors.New("no such verb")
	}
	return nil
}
