package gateway

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/approval"
	"github.com/junctor-mcp/junctor/host/audit"
	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/connpool"
	"github.com/junctor-mcp/junctor/host/event"
	"github.com/junctor-mcp/junctor/host/gateway/question"
	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/host/schema"
	"github.com/junctor-mcp/junctor/host/seal"
	"github.com/junctor-mcp/junctor/host/upstream"
	"github.com/junctor-mcp/junctor/host/usage"
)

// Options configure a gateway. New copies them. Stop closes Lines; all else that they refer to
// belongs to the caller.
type Options struct {
	Version string // of Junctor
	// Catalog is the catalog of all generations. The gateway calls its OnChange.
	Catalog *catalog.Catalog
	// Audit, Approval and Limit are used by the stages record, confirm and limit. If one
	// is nil, its stage does nothing.
	Audit    audit.Recorder
	Approval approval.Gate
	Limit    limit.Limiter
	// States seals what clients carry from one request to the next; nil: with a key of the
	// gateway's own. The gateway does not close it.
	States *seal.Codec
	// Usage counts the requests that servers get; nil: a counter of the gateway's own.
	Usage *usage.Counter
	Log   hclog.Logger
	// Events gets the beginnings and ends of sessions; it may be nil.
	Events *event.Stream
	// Budget limits the bytes of messages in memory; nil: no limit.
	Budget *limit.Memory
	// Lines takes the log lines of servers; nil: a limit of the gateway's own.
	Lines *limit.Lines
	// Login returns the page on which a principal's user logs in to a server. It begins a login if none is in
	// progress. ok is false if only the command line can log in. Login may be nil.
	Login func(ctx context.Context, server string, p authn.Principal) (page Page, ok bool)
	// Hide masks the secrets in a text about a failure; nil: it has none.
	Hide func(text string) string
	// Local is the command line if it is the only client, and nil for a gateway.
	Local LocalClient
	// Roots is the result of roots/list for clients without roots; it may be nil.
	Roots []byte
}

// A Server is what the configuration says about one server. It is part of a Generation and does
// not change. Its functions may be called concurrently.
type Server struct {
	// Upstream is the connection that all clients share, and that lists come from. A
	// server that is unchanged in another generation has the same one there.
	Upstream *upstream.Upstream
	// Share selects the clients that share a connection; empty means all.
	Share Share
	// Open returns another upstream of the server for a principal. Messages of the server
	// go to peer. Of the principal of a tenant's connection only the tenant is set. Open
	// may be nil if all clients share one connection.
	Open func(peer upstream.Peer, p authn.Principal) *upstream.Upstream
	// Repeat reports whether a call of a tool may be repeated after a lost connection,
	// because the tool is marked read-only or idempotent.
	Repeat func(tool string) bool
	// Timeout returns the timeout of calls of a tool by a principal; zero: the server's own. It may be nil.
	Timeout func(tool string, p authn.Principal) upstream.Timeout
	// Context lists what the server learns about the client of a request: "subject",
	// "tenant", "issuer", "method", "session" and "client".
	Context []string
	// Level is the lowest level of the server's messages that are logged. A legacy server
	// is asked for it. Empty: all that the server sends are logged.
	Level string
	// Unlisted allows clients to read resources that the server does not list.
	Unlisted bool
	// Pinned says that the catalog compares the tools with pins.
	Pinned bool
	// Untraced keeps trace contexts and ids of requests from the server.
	Untraced bool
}

// A Gateway relays between clients and upstreams. Its methods may be called
// concurrently, after the first Apply. Package host makes one with New, gives it generations
// with Apply and ends it: EndListens, the ends of all sessions, then Stop. The fields before
// observer are set by New and do not change; each type that they refer to has its own lock.
type Gateway struct {
	opts      Options
	serve     handler      // takes a request through the stages
	serverLog *limit.Lines // log lines of servers
	catalog   *catalog.Catalog
	finder    *finder
	tools     *toolValidator
	local     *localAnswerer
	warnings  *warnings
	failures  failures

	generations  generations
	descriptions serverDescriptions
	shared       sharedPeers
	levels       logLevels
	conns        *connpool.Pool[*serverPeer, *exclusivePeer]
	clientWaits  clientWaits

	sessions  sessionRegistry
	suspended *suspendedCalls
	states    *seal.Codec
	audit     *record
	tasks     *tasks
	links     *resourceLinks
	observer  atomic.Pointer[Observer] // nil: there is none

	work   sync.WaitGroup // waits for logins and calls that outlive their requests
	ending atomic.Bool    // EndListens was called: no connection or session may begin
}

// schemasKept limits the number of cached compiled schemas.
const schemasKept = 20_000

// New makes a gateway without servers, which Apply adds.
func New(o Options) *Gateway {
	if o.Lines == nil {
		o.Lines = limit.NewLines(o.Log, "server")
	}
	if o.Audit == nil {
		o.Audit = audit.Discard{}
	}
	if o.Approval == nil {
		o.Approval = approval.Refuse{}
	}
	if o.Limit == nil {
		o.Limit = limit.Unlimited{}
	}
	if o.States == nil {
		o.States = seal.New([]seal.Key{seal.NewKey()}, "", nil)
	}
	if o.Usage == nil {
		o.Usage = &usage.Counter{}
	}
	if o.Hide == nil {
		o.Hide = func(text string) string { return text }
	}
	g := &Gateway{
		opts: o, serverLog: o.Lines, catalog: o.Catalog, warnings: newWarnings(o.Log), failures: failures{log: o.Log},
		suspended: newSuspendedCalls(), states: o.States, audit: newRecord(o.Audit), tasks: newTasks(),
		links: newLinks(),
	}
	g.finder = &finder{o.Catalog, g.links, g.warnings, o.Log}
	g.tools = &toolValidator{schema.NewCache(schemasKept), g.warnings, g.serverLog, g.catalog.RemoveOutputSchema}
	g.descriptions.inEffect = g.generations.version
	g.local = &localAnswerer{o.Local, question.Filter{Log: o.Log, Roots: o.Roots}}
	g.shared = sharedPeers{gw: g, byServer: map[string]*serverPeer{}}
	g.levels = logLevels{gw: g, byTenant: map[string]string{}}
	g.conns = connpool.New[*serverPeer, *exclusivePeer](g.generations.poolServer)
	g.serve = (&pipeline{o, g.suspended, o.States, g.audit}).serve
	if g.catalog != nil {
		g.catalog.OnChange(g.ListsChanged)
	}
	g.generations.swap(&Generation{Policy: policy.New(nil, policy.Rules{})})
	return g
}

// Budget limits the bytes of messages in memory; nil: no limit.
func (g *Gateway) Budget() *limit.Memory { return g.opts.Budget }

// Audit is the recorder of requests.
func (g *Gateway) Audit() audit.Recorder { return g.opts.Audit }

// Catalog is the catalog that the gateway serves.
func (g *Gateway) Catalog() *catalog.Catalog { return g.catalog }

// Visible reports whether a list shows an item to the principal.
func (g *Gateway) Visible(p authn.Principal, kind policy.Kind, server, name string) bool {
	q := policy.Query{Principal: &p, Item: policy.Item{Server: server, Kind: kind, Name: name}}
	return g.Explain(q, g.ownTool(kind, server, name), nil).Decision.Lists()
}

// Locate returns the resource that a URI names, whether or not the principal may read it.
func (g *Gateway) Locate(ctx context.Context, p authn.Principal, uri string) (catalog.Location, error) {
	return g.finder.locate(ctx, g.generations.current(), p, uri)
}

// ownTool returns the definition of a tool, if it is known.
func (g *Gateway) ownTool(kind policy.Kind, server, name string) *catalog.Tool {
	if kind != policy.Tool {
		return nil
	}
	t, _ := g.catalog.Snapshot().OwnTool(server, name)
	return t
}

// Stop abandons suspended calls and closes the connections that not all clients share. It returns when nothing
// is left. Sessions must have been closed. It may be called once.
func (g *Gateway) Stop() {
	g.EndListens()
	g.suspended.stop()
	g.work.Wait()
	g.audit.unfinished.stop()
	g.conns.Close()
	g.serverLog.Close()
}

// Peer returns the peer of a server on the connection that all clients share.
func (g *Gateway) Peer(server string) upstream.Peer { return g.shared.of(server) }

// Retry ends the backoff of all connections to a server. Use it when the cause of the
// failure has changed, such as after a login.
func (g *Gateway) Retry(server string) {
	if u := g.generations.current().upstream(server); u != nil {
		u.Retry()
	}
	g.conns.Retry(server)
}

// GiveUp cancels the requests in flight of all sessions. Each client gets an error. It does not
// wait for their ends.
func (g *Gateway) GiveUp() {
	for _, s := range g.sessions.all() {
		s.cancelRequests()
	}
}

// EndListens ends all listen requests of modern clients with a result, and refuses
// new ones. It is the first step of an end, and does not wait.
func (g *Gateway) EndListens() {
	g.ending.Store(true)
	g.suspended.refuse()
	g.conns.Refuse()
	for _, s := range g.sessions.all() {
		s.subs.EndListens()
	}
}

// Ending reports whether the gateway stops.
func (g *Gateway) Ending() bool { return g.ending.Load() }

// Restart closes all connections to a server and ends the wait after earlier failures. It
// returns the upstream that all clients share, or nil if there is no such server. The
// connections of single clients are opened again when they need them.
func (g *Gateway) Restart(server string) *upstream.Upstream {
	u := g.generations.current().upstream(server)
	if u != nil {
		u.Restart()
		g.conns.Restart(server)
	}
	return u
}
