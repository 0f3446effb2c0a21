package wire

// The structs below cross net/rpc as gob. They hold plain values, slices of
// plain values and maps of strings, never pointers, interfaces or types of
// another package: gob turns a pointer to zero into nil, cannot send an
// interface, and breaks the whole connection over a field whose type changed.
// TestTypes walks all of them and compares a golden list.

// Call stands in the arguments of every method.
type Call struct {
	ID      uint64 // unique on the connection; names the call to Cancel
	Timeout int64  // nanoseconds the caller still waits; 0: no limit
	Trace   string // W3C traceparent, may be empty
}

// Status stands in every reply. A zero Status is success.
type Status struct {
	Code    string // an sdk.Code; empty: success
	Reason  string
	Message string
	Hint    string
	Output  []string
	Diags   []Diagnostic
	Stack   string // of a panic
}

// Diagnostic is one complaint about settings.
type Diagnostic struct {
	Path    string
	Message string
	Hint    string
}

// AttachArgs begin a conversation. The host calls Attach first and once.
type AttachArgs struct {
	Call        Call
	HostVersion string
	Features    []string
	LogLevel    string // of hclog; what is below is not worth sending
}

// AttachReply answers AttachArgs. The host dials Services and serves its own
// methods, those of [HostControl], on it.
type AttachReply struct {
	Status   Status
	Manifest []byte
	Services uint32
}

// ValidateArgs ask for the plugin's own opinion of settings.
type ValidateArgs struct {
	Call      Call
	Kind      string // "transport", "auth" or "secret_store"
	Component string
	Settings  []byte
}

// OpenArgs open a connection to one server.
type OpenArgs struct {
	Call       Call
	Component  string // which transport
	Server     string
	Instance   string // the host's name for this opening; unique in the process
	Tenant     string
	Settings   []byte
	Dir        string
	Env        []string
	MaxMessage int
	Capability string // the plugin's right to ask for services on behalf of this instance
	Cache      string // a directory of the plugin's own; empty: none
}

// OpenReply names the connection's data stream: a broker stream, or when both
// sides have that feature a unix socket, by its name in the directory that the
// host made for the plugin's.
type OpenReply struct {
	Status Status
	Stream uint32
	Socket string
}

// InstanceArgs name an open connection.
type InstanceArgs struct {
	Call     Call
	Instance string
}

// CloseArgs end a connection: politely for Grace nanoseconds, then by force.
type CloseArgs struct {
	Call     Call
	Instance string
	Grace    int64
}

// InstanceReply says how a connection is.
type InstanceReply struct {
	Status  Status
	State   string
	PID     int
	Stderr  []string
	Dropped uint64
}

// HealthArgs ask for a throw-away stream, on which the plugin writes one byte.
type HealthArgs struct{ Call Call }

// StreamReply names a stream that the host may dial.
type StreamReply struct {
	Status Status
	Stream uint32
}

// ShutdownArgs end the plugin: every connection is closed within Grace
// nanoseconds, then the process exits.
type ShutdownArgs struct {
	Call  Call
	Grace int64
}

// CancelArgs end another call, which then returns soon.
type CancelArgs struct{ ID uint64 }

// Reply is a reply with nothing in it but the status.
type Reply struct{ Status Status }

// AuthStartArgs make an authorizer.
type AuthStartArgs struct {
	Call       Call
	Component  string // which auth provider
	Server     string
	Tenant     string
	Handle     string // the host's name for the authorizer
	Settings   []byte
	Capability string
	URL        string // of the server, where it has one
	Dir        string
	Env        []string
}

// AuthArgs name an authorizer.
type AuthArgs struct {
	Call   Call
	Handle string
}

// AuthorizeArgs ask for a credential. The plugin's method of this shape names
// an authorizer in Handle; the host's names an instance and its capability.
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
	Expires int64 // unix nanoseconds; 0: not known
	Account string
	Name    string // from the host only

	PerRequest bool // not to be kept
}

// ChallengeArgs report a refusal.
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
	Presented       string // the credential's Name; empty: not known
}

// ChallengeReply says what to do about it.
type ChallengeReply struct {
	Status     Status
	Retry      bool
	NeedsLogin bool
	Reason     string
	Scopes     []string
}

// LoginArgs ask to log in.
type LoginArgs struct {
	Call   Call
	Handle string
	Scopes []string
}

// AuthStatusReply says who is logged in.
type AuthStatusReply struct {
	Status  Status
	State   string
	Account string
	Scopes  []string
	Expires int64 // unix nanoseconds; 0: not known
}

// SecretArgs name a secret and, for SecretSet, hold it.
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

// OpenURLArgs ask for a page to be shown to a person.
type OpenURLArgs struct {
	Call       Call
	Capability string
	URL        string
	Why        string
}

// PromptArgs ask a person something. Names, Labels and Hidden are parallel.
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

// CallbackReply holds the listener's address, or the query it received.
type CallbackReply struct {
	Status Status
	Handle string
	URL    string
	Query  string
}

// EventArgs tell the host something.
type EventArgs struct {
	Call       Call
	Capability string
	Name       string
	Detail     string
}
