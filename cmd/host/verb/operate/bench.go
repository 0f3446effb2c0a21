package operate

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/cmd/host/arguments"
	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/items"
	"github.com/junctor-mcp/junctor/cmd/host/results"
	"github.com/junctor-mcp/junctor/cmd/host/verb"
	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/bench"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/classify"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/control"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/gateway"
	"github.com/junctor-mcp/junctor/host/mcp"
)

// benchOptions are the flags of bench.
type benchOptions struct {
	inv         *invocation.Invocation
	tool        string
	words       []string // arguments of the tool
	rate        float64
	concurrency int
	duration    time.Duration
	arguments   string
	yes         bool
	needs       invocation.Needs
}

// Bench returns the verb bench.
func Bench(inv *invocation.Invocation) *cobra.Command {
	o := &benchOptions{inv: inv, needs: invocation.Needs{Unasked: true}} // a question would stop the clock
	cmd := &cobra.Command{
		Use:   "bench TOOL [key=value…]",
		Short: "Call a tool again and again, and measure",
		Long: fmt.Sprintf(`Call a tool for some seconds, and print how long calls took, how many there were a second, the errors by code, and the
computing time of this process, the plugins and the server. The policy and the limits apply, as to any client. The tool is
one of the configuration, or of the server that --url or --command names, such as a running gateway.

Without --rps each of the concurrent callers calls as soon as it has its answer. With --rps the time of a call begins when
it is due, so that calls which wait for a slow server count as slow.

Arguments are written as for call. A tool that is not known to read only is refused: it would do the same thing many
times. --yes calls it nevertheless, and so does an idempotent pattern in the server block. Ctrl-C ends the calls and prints what was measured.

At most %d calls, %d a second, %d at a time and %s in all.`,
			bench.MostCalls, bench.MostRate, bench.MostConcurrency, bench.MostDuration),
		Example: `  junctor bench files__list_directory path=.
  junctor bench --url http://127.0.0.1:7575/mcp demo__add a=1 b=2 --rps 200 --concurrency 20 --yes
  junctor bench --command 'npx -y @modelcontextprotocol/server-everything' echo --args '{"message": "x"}' --yes`,
		Args:              verb.TakesMore("TOOL"),
		ValidArgsFunction: inv.CompletesFor(&o.needs, items.CompleteCall),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("args") && len(args) > 1 {
				return fault.New(fault.Usage, "--args and %q are both arguments of the tool", args[1]).
					WithHint("leave one of them out")
			}
			o.tool, o.words = args[0], args[1:]
			return o.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.Float64Var(&o.rate, "rps", 0, "`CALLS` a second; as many as the callers can if not given")
	f.IntVar(&o.concurrency, "concurrency", 1, "`CALLS` at a time")
	f.DurationVar(&o.duration, "duration", 10*time.Second, "a `DURATION`: how long to call")
	f.StringVar(&o.arguments, "args", "{}", "the arguments as a `JSON` object, instead of key=value")
	f.BoolVarP(&o.yes, "yes", "y", false, "also call a tool that may change something")
	invocation.DirectFlags(cmd, &o.needs.Direct)
	return cmd
}

// check checks the flags.
func (o *benchOptions) check() error {
	switch {
	case o.rate < 0 || o.rate > bench.MostRate:
		return fault.New(fault.Usage, "--rps %g is not between 0 and %d", o.rate, bench.MostRate)
	case o.concurrency < 1 || o.concurrency > bench.MostConcurrency:
		return fault.New(fault.Usage, "--concurrency %d is not between 1 and %d", o.concurrency, bench.MostConcurrency)
	case o.duration <= 0 || o.duration > bench.MostDuration:
		return fault.New(fault.Usage, "--duration %s is not between 0 and %s", o.duration, bench.MostDuration)
	}
	return nil
}

func (o *benchOptions) run(ctx context.Context) error {
	inv := o.inv
	if err := o.check(); err != nil {
		return err
	}
	args, err := arguments.Object([]byte(o.arguments), "--args")
	if err != nil {
		return err
	}
	app, err := inv.Load(ctx, o.needs)
	if err != nil {
		return err
	}
	wait := inv.Spin("asking for the tool")
	t, err := items.FindTool(ctx, inv, app, o.tool)
	wait.Stop()
	if err != nil {
		return err
	}
	if len(o.words) > 0 {
		if args, err = arguments.Read(ctx, inv, t.Input, o.words); err != nil {
			return err
		}
	}
	if !o.yes && t.Class.Kind != classify.Read && !idempotent(app, t) {
		return fault.New(fault.Usage,
			"the tool %s is not known to only read, and bench would call it many times", t.Exposed).
			WithHint("add --yes if that is meant, or write the tool into tools { read = [...] } or tools { idempotent = [...] } of the server block")
	}
	return measure(ctx, inv, app, t, args, o)
}

// idempotent reports whether the configuration says that a tool may be repeated.
func idempotent(app *host.App, t *catalog.Tool) bool {
	s, err := items.ServerNamed(app, t.Server)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(s.Tools.Idempotent, func(p config.Pattern) bool { return p.Match(t.Name) })
}

// measure calls the tool once, so that the start of the server does not count, and then
// again and again.
func measure(ctx context.Context, inv *invocation.Invocation, app *host.App, t *catalog.Tool, args []byte,
	o *benchOptions) error {
	params, err := json.Marshal(map[string]any{"name": t.Exposed, "arguments": json.RawMessage(args)})
	if err != nil {
		return fault.New(fault.Usage, "the arguments are not JSON")
	}
	call := func(ctx context.Context) error {
		reply, err := app.Gateway.CallLocally(ctx, gateway.LocalCall{Method: mcp.MethodCallTool, Params: params,
			Tool: t, Limited: true, Warn: func(string) {}})
		if err != nil {
			return err
		}
		defer reply.Release()
		if err := results.Answered(inv, t.Server, reply); err != nil {
			return err
		}
		if string(mcp.Member(reply.Result, "isError")) == "true" {
			return fault.New(fault.CallToolError, "the tool %s reported an error", t.Exposed)
		}
		return nil
	}
	wait := inv.Spin("calling " + t.Exposed)
	if err := call(ctx); err != nil && !isAnswer(err) {
		wait.Stop()
		return err // no call would arrive
	}
	before := usedCPU(ctx, inv, app, t)
	result := bench.Run(ctx, bench.Options{Rate: o.rate, Concurrency: o.concurrency, Duration: o.duration,
		Call: func(ctx context.Context) string {
			if err := call(ctx); err != nil {
				return string(fault.As(verb.CommandLine(err)).Code)
			}
			return ""
		}})
	used := usedCPU(context.WithoutCancel(ctx), inv, app, t)
	wait.Stop()
	for i := range used {
		used[i].subtract(before, result.Took)
	}
	if result.Calls == 0 {
		return fault.New(fault.CallTimeout, "no call of %s ended within %s", t.Exposed, o.duration).
			WithHint("raise --duration")
	}
	return printBench(inv, t, result, used)
}

// isAnswer reports whether an error is an answer of the server.
func isAnswer(err error) bool {
	code := fault.As(verb.CommandLine(err)).Code
	return code == fault.CallToolError || code == fault.UpstreamError
}

// A cpuUse is the computing time of one process.
type cpuUse struct {
	Process string  `json:"process"`
	PID     int     `json:"pid"`
	Seconds float64 `json:"seconds"`
	Percent float64 `json:"percent"` // of one processor

	used float64 // seconds since the start of the process
}

// subtract leaves the time that was used since before.
func (u *cpuUse) subtract(before []cpuUse, took time.Duration) {
	u.Seconds = u.used
	for _, b := range before {
		if b.PID == u.PID {
			u.Seconds = max(0, u.used-b.used) // a child that has ended counts no more
		}
	}
	u.Percent = 100 * u.Seconds / max(took.Seconds(), 1e-3)
}

// usedCPU returns the computing times of this process, the plugins and the server of a tool
// with its descendants.
func usedCPU(ctx context.Context, inv *invocation.Invocation, app *host.App, t *catalog.Tool) []cpuUse {
	var all []cpuUse
	add := func(name string, pid int, used float64) {
		if pid > 0 {
			all = append(all, cpuUse{Process: name, PID: pid, used: used})
		}
	}
	add("junctor", os.Getpid(), control.UseOf(os.Getpid()).CPU)
	for _, p := range app.Supervisor.Status() {
		add("plugin "+p.Name, p.PID, control.UseOf(p.PID).CPU)
	}
	if s, err := items.ServerNamed(app, t.Server); err == nil {
		for _, st := range app.ServerStatuses(ctx, []*config.Server{s}) {
			add("server "+st.Server, st.PID, st.CPU)
		}
	}
	return all
}

// benchJSON is the JSON form of bench.
type benchJSON struct {
	Tool    string             `json:"tool"`
	Calls   int                `json:"calls"`
	Seconds float64            `json:"seconds"`
	Rate    float64            `json:"calls_per_second"`
	Latency map[string]float64 `json:"latency_ms"` // p50, p95, p99 and max
	Failed  int                `json:"failed"`
	Errors  map[string]int     `json:"errors"` // by code
	CPU     []cpuUse           `json:"cpu"`
}

func printBench(inv *invocation.Invocation, t *catalog.Tool, r bench.Result, used []cpuUse) error {
	if inv.Machine() {
		ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
		return inv.PrintJSON(benchJSON{
			Tool: t.Exposed, Calls: r.Calls, Seconds: r.Took.Seconds(), Rate: r.PerSecond(), Failed: r.Failed(),
			Errors: r.Errors, CPU: used,
			Latency: map[string]float64{"p50": ms(r.Latency.P50), "p95": ms(r.Latency.P95),
				"p99": ms(r.Latency.P99), "max": ms(r.Latency.Max)},
		})
	}
	inv.Printf("calls    %d in %.1f s, %.1f a second\n", r.Calls, r.Took.Seconds(), r.PerSecond())
	inv.Printf("latency  p50 %s, p95 %s, p99 %s, max %s\n",
		latency(r.Latency.P50), latency(r.Latency.P95), latency(r.Latency.P99), latency(r.Latency.Max))
	inv.Printf("errors   %s\n", errorCounts(r.Errors))
	var parts []string
	for _, u := range used {
		parts = append(parts, fmt.Sprintf("%s %.2f s (%.0f %%)", u.Process, u.Seconds, u.Percent))
	}
	inv.Printf("cpu      %s\n", strings.Join(parts, ", "))
	return nil
}

// errorCounts lists the codes of errors, the most frequent first.
func errorCounts(counts map[string]int) string {
	if len(counts) == 0 {
		return "none"
	}
	codes := slices.SortedFunc(maps.Keys(counts),
		func(a, b string) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b)) })
	var parts []string
	for _, code := range codes {
		parts = append(parts, fmt.Sprintf("%s %d", code, counts[code]))
	}
	return strings.Join(parts, ", ")
}

// latency formats a duration with three digits.
func latency(d time.Duration) string {
	switch {
	case d >= time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d >= time.Millisecond:
		return d.Round(10 * time.Microsecond).String()
	}
	return d.Round(time.Microsecond).String()
}
