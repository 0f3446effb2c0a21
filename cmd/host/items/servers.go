package items

import (
	"context"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/control"
	"github.com/junctor-mcp/junctor/host/policy"
)

// ConnectAll connects to servers at the same time and returns their statuses. It blocks until each
// is connected or has failed.
func ConnectAll(ctx context.Context, inv *invocation.Invocation, app *host.App,
	servers []*config.Server) []*control.Server {
	wait := inv.Spin("connecting")
	defer wait.Stop()
	took, errs := make([]time.Duration, len(servers)), make([]error, len(servers))
	var wg sync.WaitGroup
	for i, s := range servers {
		if s.Enabled {
			wg.Go(func() { took[i], errs[i] = connect(ctx, app, s.Name) })
		}
	}
	wg.Wait()
	list := app.ServerStatuses(ctx, servers)
	for i, st := range list {
		st.Latency = took[i].Milliseconds()
		if errs[i] != nil {
			st.OK, st.Error = false, terminal.ErrorOf(errs[i]).Masked(app.Hide)
		}
	}
	return list
}

// connect connects to a server, measures the time, and fetches the server's lists.
func connect(ctx context.Context, app *host.App, name string) (took time.Duration, err error) {
	start := time.Now()
	err = app.Upstreams()[name].Connect(ctx)
	took = time.Since(start)
	if err == nil {
		err = app.Catalog.Refresh(ctx, name)[name]
	}
	return took, err
}

func DecisionOn(app *host.App, who authn.Principal, t *catalog.Tool) policy.Decision {
	q := policy.Query{Principal: &who, Item: policy.Item{Server: t.Server, Kind: policy.Tool, Name: t.Name}}
	q.AnyRequest = who.Method != authn.Local().Method // the command line is here, and its time is now
	return app.Explain(q, t, nil).Decision
}

// CliTransport is the transport for programs.
const CliTransport = "cli"

// FailureOf returns the error of the first server that has one.
func FailureOf(list []*control.Server) error {
	for _, st := range list {
		if st.Error != nil {
			return st.Error.Fault()
		}
	}
	return nil
}
