package goplugin

import (
	"fmt"
	"io"
	"net"
	"net/rpc"
	"os"
	"sync"

	"github.com/hashicorp/yamux"
)

// An Object makes the receiver of net/rpc for one connection to a host. It may use the broker of
// the connection.
type Object func(*Broker) any

// Serve prints the handshake to standard output, and serves the objects, by name, to every host
// that dials the address, until one of them asks the plugin to quit. majors are the versions of the
// protocol of these objects. From the handshake on, os.Stdout is a pipe to the host; os.Stderr is
// left as it is.
//
// A host dials once. The goroutines of its connection end with the process.
func Serve(majors []int, objects map[string]Object) error {
	l, certificate, err := listen()
	if err != nil {
		return err
	}
	defer l.Close()
	printed, w, err := os.Pipe()
	if err != nil {
		return err
	}
	_, err = fmt.Println(Handshake{
		Major: negotiate(majors), Network: l.Addr().Network(), Address: l.Addr().String(), Certificate: certificate,
	})
	if err != nil {
		return fmt.Errorf("printing the handshake: %w", err)
	}
	os.Stdout = w
	quit := make(chan struct{})
	s := &server{objects: objects, printed: printed, quit: sync.OnceFunc(func() { close(quit) })}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go s.serve(conn)
		}
	}()
	<-quit
	return nil
}

// ServeConn serves the objects to one host until it disconnects. The host gets nothing of what this
// process prints. Calls that have begun may still run when ServeConn returns: the caller ends them.
func ServeConn(conn net.Conn, objects map[string]Object) {
	s := &server{objects: objects, quit: func() {}}
	s.serve(conn)
}

// A server serves the connections of a plugin.
type server struct {
	objects map[string]Object
	printed io.Reader // what the plugin prints to os.Stdout; nil: nothing
	quit    func()
}

// serve serves one connection until it ends, and closes it. The calls of objects go on until they
// return.
func (s *server) serve(conn net.Conn) {
	session, err := yamux.Server(conn, muxConfig())
	if err != nil {
		_ = conn.Close()
		return
	}
	defer session.Close()
	streams, err := openStreams(session.Accept)
	if err != nil {
		return
	}
	if s.printed != nil {
		go func() { _, _ = io.Copy(streams.stdout, s.printed) }()
	}
	b := newBroker(session)
	brokering := make(chan struct{})
	go func() { defer close(brokering); b.run() }()
	calls := rpc.NewServer()
	_ = calls.RegisterName("Control", control{s.quit})
	_ = calls.RegisterName("Dispenser", &dispenser{b, s.objects})
	calls.ServeConn(streams.calls)
	_ = session.Close()
	<-brokering
}

// control has the calls about the plugin itself. Its exported methods are the protocol.
type control struct{ quit func() }

// Ping answers.
func (control) Ping(bool, *struct{}) error { return nil }

// Quit ends the plugin.
func (c control) Quit(bool, *struct{}) error {
	c.quit()
	return nil
}

// A dispenser makes objects. Its exported methods are the protocol.
type dispenser struct {
	broker  *Broker
	objects map[string]Object
}

// Dispense makes an object, and returns the number of the stream for its calls.
func (d *dispenser) Dispense(name string, id *uint32) error {
	object, ok := d.objects[name]
	if !ok {
		return fmt.Errorf("the plugin has no object %.100q", name)
	}
	calls := rpc.NewServer()
	if err := calls.RegisterName("Plugin", object(d.broker)); err != nil {
		return err
	}
	*id = d.broker.NextId()
	go func(number uint32) {
		if stream, err := d.broker.Accept(number); err == nil {
			calls.ServeConn(stream)
		}
	}(*id)
	return nil
}
