package sdk

import (
	"context"
	"errors"
	"os"

	"github.com/hashicorp/go-hclog"
)

// A Plugin lists the components that a program offers. The keys of the maps are
// the names used in the configuration: transport "acme" { }, auth "acme" { } or
// secret_store "acme" { }.
type Plugin struct {
	// Name identifies the plugin. It has at most 64 lower case letters, digits
	// and dashes and begins with a letter or digit.
	Name string
	// Version is the plugin's version, a semantic version without "v".
	Version string
	// Description is one sentence about the purpose of the plugin.
	Description string

	Transports   map[string]Transport
	Auths        map[string]Auth
	SecretStores map[string]SecretStore
}

// A Transport connects to MCP servers of one kind. [NewTransport] makes one
// from a settings struct and a function. Implement the interface only when the
// settings cannot be a struct.
//
// All methods may be called concurrently.
type Transport interface {
	// Schema returns the schema of the settings. It returns the same value on
	// every call.
	Schema() Schema

	// Validate checks rules that the schema cannot express. It uses nothing
	// outside the process. The error may join several errors made by
	// [AttrErrorf], so that the host can point at each setting.
	Validate(ctx context.Context, settings []byte) error

	// Open connects to the server that settings describe. settings is a JSON
	// object that fits the schema. ctx bounds connecting only: the connection
	// lasts until Close or until the server ends it. Open returns within 250 ms
	// after ctx is done.
	Open(ctx context.Context, server *Server, settings []byte) (Conn, error)
}

// A Conn is one connection to an MCP server. It carries whole JSON-RPC
// messages.
//
// The host calls Recv from one goroutine and Send from another. Close may be
// called at any time and more than once. It unblocks Recv and Send.
type Conn interface {
	// Recv returns the next message from the server. The caller owns the bytes
	// until the next call of Recv. Recv returns io.EOF when the server closed
	// the connection in order. Any other error says what failed, preferably an
	// [*Error] whose Output holds the last lines that the server printed. The
	// host calls Recv again only after [*Dropped] and [*Failed].
	Recv() ([]byte, error)

	// Send sends one message to the server. msg contains neither CR nor LF.
	// Send must not keep msg after it returns.
	//
	// If Send returns an error for a request, that request fails with it at once, and
	// the connection stays usable. The host assumes that the server may have received
	// the request; a [*Failed] says more, and needs no ID. If Send returns an
	// error for another message, the connection ends with it. The error is preferably
	// an [*Error]; any other has the code Unavailable.
	//
	// An error that wraps io.EOF, io.ErrClosedPipe, os.ErrClosed, net.ErrClosed,
	// context.Canceled, EPIPE or ECONNRESET says that the connection is over. Recv
	// then has two seconds to return the reason. After that, the connection ends
	// with the error of Send.
	Send(msg []byte) error

	// Close ends the connection: in order until ctx is done, then by force. It
	// returns when every resource of the connection is released.
	Close(ctx context.Context) error
}

// A Server holds the parts of a "server" block of the configuration that a
// transport needs.
type Server struct {
	Name     string // label of the block
	Instance string // unique for each call of Open
	Tenant   string // tenant of the connection if servers are shared by tenant; else empty
	Dir      string // directory of the file that contains the block
	// Env holds environment variables of the host as NAME=value: those that the
	// settings list in an attribute of the format "env_names".
	Env []string
	// Private lists files that Junctor alone reads, such as those with passwords and keys,
	// and the audit log. A program that a client controls must neither read nor change
	// them.
	Private []string
	// Protected lists files that Junctor and the servers that it starts believe, such as
	// the configuration and the programs in it. A program that a client controls must not
	// change them.
	Protected []string
	// Changeable lists directories in which programs that clients control may make
	// links. A path through such a link is not the one that the configuration names.
	Changeable []string
	// MaxMessage is the maximum size of a message in bytes, in both directions.
	MaxMessage int
	// Cache is a private directory of the plugin for data that can be rebuilt.
	// It may not exist yet. It is empty if there is no cache.
	Cache string
	Log   hclog.Logger
	Host  Host
}

// A Statuser is a [Conn] that reports its status. The host asks for it when it
// explains a timeout and for "junctor status".
type Statuser interface {
	Status() ConnStatus
}

// A Flusher is a [Conn] whose Send may buffer messages. The host calls Flush
// from the goroutine of Send when no further message is waiting. An error of Flush ends
// the connection, like an error of Send for a message that is no request.
type Flusher interface {
	Flush() error
}

// A Waiter is a [Conn] that announces that Recv is about to block. The host
// forwards messages in one batch if Recv returned them without blocking in
// between. That is faster when a server answers many calls at once.
type Waiter interface {
	// BeforeWait is called once, before the first Recv. Recv calls f each time
	// before it blocks.
	BeforeWait(f func())
}

// A Limiter is a [Conn] that needs Server.MaxMessage. The connections of
// [PipeConn] implement it, so their authors need not pass the limit on.
type Limiter interface {
	// LimitMessages is called once, before the first Recv.
	LimitMessages(max int)
}

// A Relater is a [Conn] that can relate a notification or a request of the
// server to a request of the host. A transport with one stream for each request
// is an example.
type Relater interface {
	// Related returns the id of the host's request that the last message
	// returned by Recv belongs to. The id has the bytes that it had in the
	// request. Related returns nil if the message belongs to no request. The
	// goroutine of Recv calls it.
	Related() []byte
}

// A Piped is a [Conn] whose messages travel as lines over pipes or sockets of the
// operating system, such as the standard streams of a process. The host can take these
// files and exchange messages with the server itself, which saves a copy and a switch
// between processes for each message. The Conn keeps its other tasks: it starts the
// server, watches it, explains its end and closes it. The connections of [PipeConn] and
// of package stdio are Piped.
type Piped interface {
	// Pipes returns the files with the messages from and to the server, one per line.
	// They are nil if there are none. Pipes is called at most once, before Recv.
	Pipes() (from, to *os.File)
	// PipesPassed is called when the host takes the files, before Recv. The caller
	// closes both. From then on Recv returns no message: it waits for the end of the
	// connection and returns its reason. Send is not called.
	PipesPassed()
	// PipeEvent reports what the host has seen in a passed file.
	PipeEvent(e PipeEvent)
}

// A PipeEvent is an event of a passed file; see [Piped].
type PipeEvent int

// The events.
const (
	FirstMessage PipeEvent = iota // the server has sent a message
	EndOfOutput                   // the file with messages from the server has ended
)

// ConnStatus is a snapshot of a connection. A zero field is unknown.
type ConnStatus struct {
	State   string   // one word, such as "running"
	PID     int      // process id of the server, if it is a process
	Stderr  []string // last lines that the server printed, oldest first
	Dropped uint64   // number of lines from the server that were not messages
}

// NewTransport returns a Transport made from a settings struct C and a function
// that opens a connection. C's fields carry tags; see [SchemaOf]. If *C has a
// method Validate() error, it is called after decoding the settings.
//
// NewTransport panics if C cannot be described, because that is a mistake in
// the program.
func NewTransport[C any](open func(context.Context, *Server, *C) (Conn, error)) Transport {
	return &transport[C]{schema: SchemaOf[C](), open: open}
}

type transport[C any] struct {
	schema Schema
	open   func(context.Context, *Server, *C) (Conn, error)
}

func (t *transport[C]) Schema() Schema { return t.schema }

func (t *transport[C]) Validate(_ context.Context, settings []byte) error {
	_, err := decodeAndCheck[C](t.schema, settings)
	return err
}

func (t *transport[C]) Open(ctx context.Context, s *Server, settings []byte) (Conn, error) {
	c, err := decodeAndCheck[C](t.schema, settings)
	if err != nil {
		return nil, err
	}
	return t.open(ctx, s, c)
}

// decodeAndCheck decodes settings into a new C and calls its Validate method,
// if it has one. An error of Validate that is not an [*Error] becomes an Error
// of code Invalid.
func decodeAndCheck[C any](schema Schema, settings []byte) (*C, error) {
	c := new(C)
	if err := Decode(schema, settings, c); err != nil {
		return nil, err
	}
	if v, ok := any(c).(interface{ Validate() error }); ok {
		if err := v.Validate(); err != nil {
			if _, ok := errors.AsType[*Error](err); !ok {
				err = AttrErrorf("", "%v", err)
			}
			return nil, err
		}
	}
	return c, nil
}
