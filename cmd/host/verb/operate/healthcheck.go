package operate

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/processes"
	"github.com/junctor-mcp/junctor/host/fault"
)

// healthWait is the maximum time of a health check.
const healthWait = 2 * time.Second

// readyPath is the path that says whether a gateway accepts requests.
const readyPath = "/readyz"

// healthcheckOptions are the arguments of healthcheck.
type healthcheckOptions struct {
	inv   *invocation.Invocation
	given bool // a URL is given; else the running processes are asked
	url   string
}

// Healthcheck returns the verb healthcheck.
func Healthcheck(inv *invocation.Invocation) *cobra.Command {
	o := &healthcheckOptions{inv: inv}
	return &cobra.Command{
		Use:   "healthcheck [URL]",
		Short: "Ask whether a running junctor serve accepts requests",
		Long: `Ask /readyz of the running processes that serve this configuration, or of the gateway at URL, which may be unix:PATH. The
answer is one line. The exit status is 0 if all of them accept requests within 2 seconds, and else 1. It is meant for HEALTHCHECK of
a container. The certificate of a gateway at an https URL is verified. That of a process on this machine is not, because
the process itself says where it listens.`,
		Example:           "  junctor healthcheck\n  junctor healthcheck http://127.0.0.1:7575",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.given, o.url = len(args) == 1, strings.Join(args, "")
			return o.run(cmd.Context())
		},
	}
}

func (o *healthcheckOptions) run(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, healthWait)
	defer cancel()
	if o.given {
		return reportHealth(o.inv, o.url, askHealth(ctx, o.url))
	}
	return checkProcesses(ctx, o.inv)
}

// checkProcesses asks all processes that serve the configuration.
func checkProcesses(ctx context.Context, inv *invocation.Invocation) error {
	found, _, err := processes.Find(ctx, inv, "")
	if err != nil {
		return unhealthy("the gateway is not ready: %v", err)
	}
	if len(found) == 0 {
		return unhealthy("the gateway is not ready: no running process serves this configuration")
	}
	names := make([]string, 0, len(found))
	for _, a := range found {
		names = append(names, a.Name)
		if a.Status.Transport != "http" {
			continue // it answered on its control socket
		}
		if a.Status.Address == "" {
			return unhealthy("the gateway is not ready: process %s does not listen yet", a.Name)
		}
		if err := askProcess(ctx, a.Status.Address); err != nil {
			return unhealthy("the gateway is not ready: process %s: %v", a.Name, err)
		}
	}
	return reportHealth(inv, "process "+strings.Join(names, ", "), nil)
}

// reportHealth prints that a gateway is ready, or returns why it is not.
func reportHealth(inv *invocation.Invocation, of string, err error) error {
	if err != nil {
		return unhealthy("the gateway is not ready: %v", err)
	}
	if inv.Machine() {
		return inv.PrintJSON(map[string]bool{"ready": true})
	}
	inv.Printf("ready: %s\n", of)
	return nil
}

func unhealthy(format string, values ...any) error {
	return fault.New(fault.NotReady, format, values...)
}

// askProcess asks a process by the address that it reported. The address does not say whether it
// uses TLS.
func askProcess(ctx context.Context, address string) error {
	if filepath.IsAbs(address) {
		return askHealth(ctx, "unix:"+address)
	}
	if at, err := netip.ParseAddrPort(address); err == nil && at.Addr().IsUnspecified() {
		host := "127.0.0.1"
		if at.Addr().Is6() {
			host = "::1"
		}
		_, port, _ := net.SplitHostPort(address)
		address = net.JoinHostPort(host, port)
	}
	plain := getReady(ctx, &http.Transport{}, "http://"+address)
	if plain == nil {
		return nil
	}
	own := &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
	} //nolint:gosec // only a status is read
	if getReady(ctx, own, "https://"+address) == nil {
		return nil
	}
	return plain
}

// askHealth asks the gateway at a URL, or at unix:PATH.
func askHealth(ctx context.Context, at string) error {
	if path, ok := strings.CutPrefix(at, "unix:"); ok {
		dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", path)
		}
		return getReady(ctx, &http.Transport{DialContext: dial}, "http://localhost")
	}
	u, err := url.Parse(at)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fault.New(fault.Usage, "%q is neither an http URL nor unix:PATH", at)
	}
	return getReady(ctx, &http.Transport{}, u.Scheme+"://"+u.Host)
}

// getReady asks GET /readyz once. It follows no redirects and uses no proxy.
func getReady(ctx context.Context, transport *http.Transport, base string) error {
	defer transport.CloseIdleConnections()
	client := http.Client{Transport: transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, base+readyPath, nil)
	if err != nil {
		return err
	}
	answer, err := client.Do(r)
	switch {
	case ctx.Err() != nil:
		return fault.New(fault.NotReady, "no answer within %v", healthWait)
	case err != nil:
		return fault.New(fault.NotReady, "%s cannot be reached", base)
	}
	defer func() { _ = answer.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 64<<10))
	if answer.StatusCode != http.StatusOK {
		return fault.New(fault.NotReady, "%s answered %d", readyPath, answer.StatusCode)
	}
	return nil
}
