package main

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/goplugin"
	"github.com/junctor-mcp/junctor/sdk/wire"
)

// wrong lists the mistakes in the connection to the host.
var wrong = map[string]bool{
	"deaf": true, "liar": true, "fickle": true, "future": true,
	"attachhang": true, "attachexit": true, "attachpanic": true, "attachjunk": true,
	"healthhang": true, "healthdeaf": true, "healthsilent": true,
	"hugereply": true, "wrongtype": true,
	"closehang": true, "shutdownhang": true, "noaccept": true,
	"dialtwice": true, "dialmany": true,
	"hangup": true, "requests": true,
	"away": true, "parent": true, "nobody": true,
}

// serveWrong serves like package serve, without its safeguards.
func serveWrong(mode string, sockets bool) {
	dir := os.Getenv(goplugin.SocketDirVariable)
	server := wire.NewServer(manifest(), hclog.NewNullLogger(), nil)
	if mode != "deaf" {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			os.Exit(3)
		}()
	}
	_ = goplugin.Serve(wire.Majors(), map[string]goplugin.Object{
		wire.Object: side{server, mode, sockets, dir}.control,
	})
	time.Sleep(time.Hour) // also after the host has sent Quit
}

type side struct {
	server  *wire.Server
	mode    string
	sockets bool
	dir     string // directory of the sockets
}

func (s side) control(b *goplugin.Broker) any {
	return &control{Control: s.server.Objects()[wire.Object](b).(*wire.Control), broker: b, side: s}
}

// A control is the SDK's Control with mistakes.
type control struct {
	*wire.Control
	broker *goplugin.Broker
	side
}

// Attach starts the connection.
func (c *control) Attach(a wire.AttachArgs, r *wire.AttachReply) error {
	switch c.mode {
	case "attachhang":
		select {}
	case "attachexit":
		_, _ = io.WriteString(standardError, "no, thanks\n")
		os.Exit(9)
	case "attachpanic":
		r.Status = wire.Status{Code: string(sdk.Panicked), Message: "panic: oh no"}
		return nil
	}
	err := c.Control.Attach(a, r)
	switch c.mode {
	case "attachjunk":
		r.Manifest = []byte("\x00\x01")
	case "fickle", "liar":
		r.Manifest = describe("6.6.6")
	case "future":
		r.Manifest = []byte(strings.Replace(string(r.Manifest), "{", `{"homepage": "https://example.com",`, 1))
	case "requests":
		r.Services = c.broker.NextId()
		go flood(c.broker, r.Services)
	}
	return err
}

// Open opens a connection, or misbehaves.
func (c *control) Open(a wire.OpenArgs, r *wire.OpenReply) error {
	switch c.mode {
	case "noaccept":
		r.Stream = c.broker.NextId()
		return nil
	case "dialtwice":
		for range 2 {
			_, _ = c.broker.Dial(7)
		}
	case "hangup":
		_ = c.broker.Close()
		select {}
	case "dialmany":
		for {
			_, _ = c.broker.Dial(c.broker.NextId())
		}
	}
	if name, ok := elsewhere[c.mode]; ok {
		r.Socket = name
		return nil
	}
	send := streams[c.mode]
	if send == nil {
		return c.Control.Open(a, r)
	}
	accept := c.offer(r)
	go func() {
		if conn, err := accept(); err == nil {
			send(conn)
		}
	}()
	return nil
}

// elsewhere holds names of sockets that the host must not dial or that do not
// exist.
var elsewhere = map[string]string{"away": "/run/docker.sock", "parent": "../plugin", "nobody": "data0"}

// offer offers a data stream.
func (c *control) offer(r *wire.OpenReply) func() (net.Conn, error) {
	if !c.sockets {
		id := c.broker.NextId()
		r.Stream = id
		return func() (net.Conn, error) { return c.broker.Accept(id) }
	}
	r.Socket = "evil" + strconv.Itoa(int(c.broker.NextId()))
	l, err := net.Listen("unix", filepath.Join(c.dir, r.Socket))
	if err != nil {
		return func() (net.Conn, error) { return nil, err }
	}
	return l.Accept
}

// Validate validates settings, or returns a huge reply.
func (c *control) Validate(a wire.ValidateArgs, r *wire.Reply) error {
	if c.mode == "hugereply" {
		r.Status = wire.Status{Code: string(sdk.Internal), Message: strings.Repeat("x", 512<<20)}
		return nil
	}
	return c.Control.Validate(a, r)
}

// Health offers a stream that is never accepted, or that stays silent.
func (c *control) Health(a wire.HealthArgs, r *wire.StreamReply) error {
	switch c.mode {
	case "healthhang":
		select {}
	case "healthdeaf":
		r.Stream = c.broker.NextId()
		return nil
	case "healthsilent":
		r.Stream = c.broker.NextId()
		go func(id uint32) { _, _ = c.broker.Accept(id) }(r.Stream)
		return nil
	}
	return c.Control.Health(a, r)
}

// Close ends a connection.
func (c *control) Close(a wire.CloseArgs, r *wire.Reply) error {
	if c.mode == "closehang" {
		select {}
	}
	return c.Control.Close(a, r)
}

// Shutdown ends the plugin.
func (c *control) Shutdown(a wire.ShutdownArgs, r *wire.Reply) error {
	if c.mode == "shutdownhang" || c.mode == "deaf" {
		select {}
	}
	return c.Control.Shutdown(a, r)
}
