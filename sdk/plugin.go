package sdk

import (
	"context"
	"errors"

	"github.com/hashicorp/go-hclog"
)

// A Plugin is a program's whole offer. The maps are keyed by the name that
// stands in the configuration: transport "acme" { }, auth "acme" { } or
// secret_store "acme" { }.
type Plugin struct {
	// Name is the plugin's own name: lower case letters, digits and dashes,
	// at most 64, beginning with a letter or digit.
	Name string
	// Version is the plugin's own version, a semantic version without "v".
	Version string
	// Description says in one sentence what the plugin is for.
	Description string

	Transports   map[string]Transport
	Auths        map[string]Auth
	SecretStores map[string]SecretStore
}

// A Transport reaches MCP servers of one kind. [NewTransport] makes one from a
// settings struct and a function; implement the interface only when the
// settings cannot be a struct.
//
// Every method may be called concurrently.
type Transport interface {
	// Schema describes the settings. It returns the same value every time.
	Schema() Schema

	// Validate checks settings beyond what the schema can say, without
	// reaching anything outside the process. Its error may be several,
	// joined, each made by [AttrErrorf] so that the host can point at the line.
	Validate(ctx context.Context, settings []byte) error

	// Open connects to the server that settings, a JSON object that fits the
	// schema, describe. ctx bounds the connecting only: the connection lasts
	// until it is closed or the server goes away. Open returns within 250 ms
	// of ctx being done.
	Open(ctx context.Context, server *Server, settings []byte) (Conn, error)
}

// A Conn is one open channel to an MCP server. It carries whole JSON-RPC
// messages.
//
// The host calls Recv from one goroutine and Send from another; Close may be
// called at any time, more than once, and makes a waiting Recv or Send return.
type Conn interface {
	// Recv returns the next message from the server. The bytes belong to the
	// caller until the next Recv. It returns io.EOF when the server ended the
	// connection in order, and otherwise an error that says what happened,
	// preferably an [*Error] with the last lines that the server printed. The
	// errors after which it is called again are [*Dropped] and [*Failed].
	Recv() ([]byte, error)

	// Send delivers one message to the server. msg contains neither CR nor LF
	// and must not be kept after Send returns.
	Send(msg []byte) error

	// Close ends the connection: politely while ctx lasts, then by force. It
	// returns when nothing of the connection is left.
	Close(ctx context.Context) error
}

// A Server is one "server" block of the configuration, as far as the plugin
// needs to know it.
type Server struct {
	Name     string // the block's label
	Instance string // unique to this opening
	Tenant   string // on whose behalf, where servers are shared by tenant; else empty
	Dir      string // the directory of the file that holds the block
	// Env holds, as NAME=value, the host's environment variables that the
	// settings name in an attribute of the format "env_names".
	Env []string
	// MaxMessage is how many bytes a message may have, in either direction.
	MaxMessage int
	// Cache is a directory of the plugin's own for what can be found out again,
	// private to the user. It may not exist yet; empty: there is none.
	Cache string
	Log   hclog.Logger
	Host  Host
}

// A Statuser is a [Conn] that can say how it is. The host asks when it
// explains a timeout and for "junctor status".
type Statuser interface {
	Status() ConnStatus
}

// A Flusher is a [Conn] whose Send may hold messages back to send several at
// once. The host calls Flush, from the same goroutine as Send, when nothing
// more is waiting to be sent.
type Flusher interface {
	Flush() error
}

// A Waiter is a [Conn] that says when Recv is about to wait. Messages that it
// returned without waiting in between reach the host together, which is worth
// having when a server answers many calls at once.
type Waiter interface {
	// BeforeWait is called once, before the first Recv; f is called by Recv.
	BeforeWait(f func())
}

// A Limiter is a [Conn] that wants to know Server.MaxMessage. [PipeConn] makes
// one, so that its author need not pass the number on.
type Limiter interface {
	// LimitMessages is called once, before the first Recv.
	LimitMessages(max int)
}

// A Relater is a [Conn] that knows to which of the host's requests something
// belongs that the server sent on its own account, as where every request has a
// stream of its own.
type Relater interface {
	// Related returns the id, as it stood in the request, that the message
	// which Recv returned last belongs to, or nil. The goroutine of Recv calls
	// it.
	Related() []byte
}

// ConnStatus is how a connection is at one moment. The zero value of a field
// means that it is not known.
type ConnStatus struct {
	State   string   // one word, such as "running"
	PID     int      // of the server's process, where there is one
	Stderr  []string // the last lines the server printed, oldest first
	Dropped uint64   // lines from the server that were not messages
}

// NewTransport makes a Transport from a settings struct C and a function that
// opens a connection. C's fields carry tags; see [SchemaOf]. When *C has a
// method Validate() error, it is called once the settings are decoded.
//
// It panics when C cannot be described: that is a mistake in the program.
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
