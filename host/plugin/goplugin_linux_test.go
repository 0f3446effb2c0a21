package plugin

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/rpc"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"

	"github.com/junctor-mcp/junctor/sdk/goplugin"
)

// A Talker is an object of both go-plugin and package goplugin.
type Talker struct {
	next   func() uint32
	accept func(uint32) (net.Conn, error)
}

// Say repeats a word, and fails for none.
func (Talker) Say(word string, said *string) error {
	if word == "" {
		return errors.New("say something")
	}
	*said = strings.ToUpper(word)
	return nil
}

// Stream offers a stream with a megabyte.
func (x Talker) Stream(_ bool, id *uint32) error {
	*id = x.next()
	go func(id uint32) {
		if c, err := x.accept(id); err == nil {
			_, _ = c.Write(make([]byte, 1<<20))
			_ = c.Close()
		}
	}(*id)
	return nil
}

// talkerPlugin is a talker for go-plugin, on both sides.
type talkerPlugin struct{}

func (talkerPlugin) Server(b *plugin.MuxBroker) (any, error) { return Talker{b.NextId, b.Accept}, nil }

func (talkerPlugin) Client(b *plugin.MuxBroker, c *rpc.Client) (any, error) {
	return &talkerCalls{c, b.Dial}, nil
}

type talkerCalls struct {
	*rpc.Client
	dial func(uint32) (net.Conn, error)
}

func talkers() map[string]goplugin.Object {
	return map[string]goplugin.Object{"talker": func(b *goplugin.Broker) any { return Talker{b.NextId, b.Accept} }}
}

// check talks to a talker.
func (c *talkerCalls) check(t *testing.T) {
	t.Helper()
	var said string
	if err := c.Call("Plugin.Say", "hello", &said); err != nil || said != "HELLO" {
		t.Errorf("said %q, %v", said, err)
	}
	if err := c.Call("Plugin.Say", "", &said); err == nil || err.Error() != "say something" {
		t.Errorf("the error is %v", err)
	}
	for range 20 {
		var id uint32
		if err := c.Call("Plugin.Stream", true, &id); err != nil {
			t.Fatal(err)
		}
		stream, err := c.dial(id)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(stream); err != nil || len(text) != 1<<20 {
			t.Errorf("%d bytes, %v", len(text), err)
		}
		_ = stream.Close()
	}
}

var talkerCookie = plugin.HandshakeConfig{ProtocolVersion: 2, MagicCookieKey: "TALKER", MagicCookieValue: "yes"}

// beTalker is a program with a talker, if the environment asks for it: of go-plugin or of package
// goplugin.
func beTalker() {
	switch os.Getenv("TALKER_BY") {
	case "go-plugin":
		plugin.Serve(&plugin.ServeConfig{HandshakeConfig: talkerCookie,
			Plugins: plugin.PluginSet{"talker": talkerPlugin{}}, Logger: hclog.NewNullLogger()})
	case "goplugin":
		if err := goplugin.Serve([]int{1, 2}, talkers()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	default:
		return
	}
	os.Exit(0)
}

// TestGoPluginClient starts programs of both libraries with go-plugin's client, with and without
// encryption.
func TestGoPluginClient(t *testing.T) {
	for _, by := range []string{"go-plugin", "goplugin"} {
		for _, encrypted := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, encrypted %t", by, encrypted), func(t *testing.T) {
				cmd := exec.Command(os.Args[0])
				cmd.Env = append(os.Environ(), "TALKER_BY="+by)
				c := plugin.NewClient(&plugin.ClientConfig{
					HandshakeConfig: talkerCookie, Cmd: cmd, AutoMTLS: encrypted, Logger: hclog.NewNullLogger(),
					VersionedPlugins: map[int]plugin.PluginSet{2: {"talker": talkerPlugin{}}},
				})
				defer c.Kill()
				client, err := c.Client()
				if err != nil {
					t.Fatal(err)
				}
				if err := client.Ping(); err != nil {
					t.Error(err)
				}
				object, err := client.Dispense("talker")
				if err != nil {
					t.Fatal(err)
				}
				object.(*talkerCalls).check(t)
				if c.NegotiatedVersion() != 2 {
					t.Errorf("version %d", c.NegotiatedVersion())
				}
				c.Kill()
				if !c.Exited() {
					t.Error("the plugin does not quit")
				}
			})
		}
	}
}

// TestGoPluginServer talks to the servers of both libraries with package goplugin.
func TestGoPluginServer(t *testing.T) {
	for by, serve := range map[string]func(net.Conn){
		"go-plugin": func(conn net.Conn) {
			s := &plugin.RPCServer{Plugins: plugin.PluginSet{"talker": talkerPlugin{}},
				Stdout: strings.NewReader(""), Stderr: strings.NewReader("")}
			s.ServeConn(conn)
		},
		"goplugin": func(conn net.Conn) { goplugin.ServeConn(conn, talkers()) },
	} {
		t.Run(by, func(t *testing.T) {
			ours, theirs := net.Pipe()
			served := make(chan struct{})
			go func() { defer close(served); serve(theirs) }()
			c, err := goplugin.NewClient(ours, io.Discard, io.Discard)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Ping(); err != nil {
				t.Error(err)
			}
			calls, err := c.Dispense("talker")
			if err != nil {
				t.Fatal(err)
			}
			(&talkerCalls{calls, c.Broker.Dial}).check(t)
			_ = calls.Close()
			_ = c.Close()
			<-served
		})
	}
}
