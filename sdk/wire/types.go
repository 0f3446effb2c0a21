package wire

// The structs below cross net/rpc as gob. They hold plain values, slices of
// plain values and maps of strings. They hold no pointers, interfaces or types
// of other packages. The reasons are in gob: it decodes a pointer to a zero
// value as nil and cannot send an interface. It breaks the connection if a
// field changes its type. TestTypes checks all of them against a golden list.

// Call is part of the arguments of every method. Fields may be added only: see the package
// comment.
type Call struct {
	ID      uint64 // unique on the connection; Cancel refers to it
	Timeout int64  // nanoseconds until the caller gives up; 0: no limit
	Trace   string // W3C traceparent; may be empty
}

// Status is part of every reply. The zero Status is success.
type Status struct {
	Code    string // an sdk.Code; empty: success
	Reason  string
	Message string
	Hint    string
	Output  []string
	Diags   []Diagnostic
	Stack   string // of a panic; else empty
}

// Diagnostic is one error in settings.
type Diagnostic struct {
	Path    string
	Message string
	Hint    string
}

// AttachArgs start the connection. The host calls Attach first and once.
type AttachArgs struct {
	Call        Call
	HostVersion string
	Features    []string
	LogLevel    string // level of hclog; the plugin sends nothing below it
	Secret      string // that of SecretVariable
}

// AttachReply answers AttachArgs. The host dials Services and serves the
// methods of [HostControl] on it.
type AttachReply struct {
	Status   Status
	Manifest []byte
	Services uint32
}

// ValidateArgs request the plugin's own validation of settings.
type ValidateArgs struct {
	Call      Call
	Kind      string // "transport", "auth" or "secret_store"
	Component string
	Settings  []byte
}

// OpenArgs open a connection to a server.
type OpenArgs struct {
	Call       Call
	Component  string // name of the transport
	Server     string
	Instance   string // the host's name of the connection; unique in the process
	Tenant     string
	Settings   []byte
	Dir        string
	Env        []string
	MaxMessage int
	Capability string // authorizes the plugin to call services for this instance
	Cache      string // directory of the plugin for data that can be rebuilt; empty: none
	Private    []string
	Protected  []string
	Changeable []string
}

// OpenReply names the connection's data stream: Stream is an id of the broker.
// If both sides have the feature "sockets", Socket is the name of a unix socket
// in the directory that the host made for the plugin's sockets.
type OpenReply struct {
	Status Status
	Stream uint32
	Socket string
	// Pipes says that the first byte on the socket carries two descriptors: the
	// messages from the server, and those to it.
	Pipes bool
}

// InstanceArgs name an open connection to a server.
type InstanceArgs struct {
	Call     Call
	Instance string
}

// CloseArgs end a connection: in order for Grace nanoseconds, then by force.
type CloseArgs struct {
	Call     Call
	Instance string
	Grace    int64
}

// InstanceReply is the status of a connection to a server.
type InstanceReply struct {
	Status  Status
	State   string
	PID     int
	Stderr  []string
	Dropped uint64
}

// HealthArgs request a stream on which the plugin writes one byte.
type HealthArgs struct{ Call Call }

// StreamReply names a stream that the host may dial.
type StreamReply struct {
	Status Status
	Stream uint32
}

// ShutdownArgs end the plugin: it closes every connection within Grace
// nanoseconds, then the process exits.
type ShutdownArgs struct {
	Call  Call
	Grace int64
}

// CancelArgs cancel another call, which then returns soon.
type CancelArgs struct{ ID uint64 }

// Reply is a reply that has only a status.
type Reply struct{ Status Status }

// AuthStartArgs start an authorizer.
type AuthStartArgs struct {
	Call       Call
	Component  string // name of the auth provider
	Server     string
	Tenant     string
	Handle     string // the host's name of the authorizer
	Settings   []byte
	Capability string
	URL        string // of the server, if it has one
	Dir        string
	Env        []string
}

// AuthArgs name an authorizer.
type AuthArgs struct {
	Call   Call
	Handle string
}

// AuthorizeArgs request a credential. In calls of the host, Handle names an
// authorizer. In calls of the plugin, Handle names an instance and Capability
// authorizes the call.
type AuthorizeArgs struct {
	Call       Call
	Handle     string
	Capability string
	Method     string
	URL        string
	Resource   string
	Scopes     []string
	Subject    string
}

// AuthorizeReply holds a credential.
type AuthorizeReply struct {
	Status  Status
	Headers map[string]string
	Query   map[string]string
	Expires int64 // unix nanoseconds; 0: unknown
	Account string
	Name    string // set by the host only

	PerRequest bool // good for one request; see sdk.Credential
}

// ChallengeArgs report a rejected credential.
type ChallengeArgs struct {
	Call            Call
	Handle          string
	Capability      string
	Method          string
	URL             string
	Resource        string
	Scopes          []string
	Subject         string
	HTTPStatus      int
	WWWAuthenticate []string
	Attempt         int
	Presented       string // Name of the rejected credential; empty: unknown
}

// ChallengeReply says how to proceed after a challenge.
type ChallengeReply struct {
	Status     Status
	Retry      bool
	NeedsLogin bool
	Reason     string
	Scopes     []string
}

// LoginArgs start a login.
type LoginArgs struct {
	Call   Call
	Handle string
	Scopes []string
}

// AuthStatusReply is the state of a login.
type AuthStatusReply struct {
	Status  Status
	State   string
	Account string
	Scopes  []string
	Expires int64 // unix nanoseconds; 0: unknown
	Ends    int64 // unix nanoseconds; 0: unknown, or never
}

// SecretArgs name a secret and hold its value for SecretSet.
type SecretArgs struct {
	Call       Call
	Capability string
	Key        string
	Value      []byte
	Label      string
}

// SecretReply holds a secret.
type SecretReply struct {
	Status Status
	Found  bool
	Value  []byte
}

// OpenURLArgs request that a page is shown to the user.
type OpenURLArgs struct {
	Call       Call
	Capability string
	URL        string
	Why        string
}

// PromptArgs request input from the user. Names, Labels and Hidden have one
// element for each field.
type PromptArgs struct {
	Call       Call
	Capability string
	Title      string
	Names      []string
	Labels     []string
	Hidden     []bool
}

// PromptReply holds the answers by name.
type PromptReply struct {
	Status  Status
	Answers map[string]string
}

// CallbackArgs open (Path), await or close (Handle) a loopback listener.
type CallbackArgs struct {
	Call       Call
	Capability string
	Path       string
	Handle     string
}

// CallbackReply holds the listener's handle and URL, or the query that it
// received.
type CallbackReply struct {
	Status Status
	Handle string
	URL    string
	Query  string
}

// EventArgs report an event to the host.
type EventArgs struct {
	Call       Call
	Capability string
	Name       string
	Detail     string
}

// StoreOpenArgs open a vault.
type StoreOpenArgs struct {
	Call      Call
	Component string // name of the secret store
	Handle    string // the host's name of the vault
	Settings  []byte
	Dir       string // directory of the store; empty: none
}

// StoreArgs name a vault and, for methods about one secret, its key. For
// StoreSet they hold the value too.
type StoreArgs struct {
	Call   Call
	Handle string
	Key    string
	Value  []byte
	Label  string
}

// StoreKeysReply lists the keys in a vault.
type StoreKeysReply struct {
	Status Status
	Keys   []string
}
