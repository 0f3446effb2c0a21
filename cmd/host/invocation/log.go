package invocation

import (
	"bufio"
	stdlog "log"
	"log/slog"
	"os"
	"strings"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/logbuffer"
	"github.com/junctor-mcp/junctor/host/visible"
)

// logLevel returns the level of --log or JUNCTOR_LOG.
func (inv *Invocation) logLevel(fallback hclog.Level) (hclog.Level, error) {
	name, from := inv.LogFlag, "--log"
	if name == "" {
		name, from = inv.Get("JUNCTOR_LOG"), "the variable JUNCTOR_LOG"
	}
	if name == "" {
		return fallback, nil
	}
	level := hclog.LevelFromString(name)
	if level == hclog.NoLevel {
		return fallback, fault.New(fault.Usage, "%s: %q is not a log level", from, name).
			WithHint("the levels are %s", strings.Join(host.HostLevels, ", "))
	}
	return level, nil
}

// StartLog creates the logger. It also redirects other writes to standard error, by libraries
// below go-plugin, into the log. Servers log more by default and through a queue. Other
// verbs log on request only, since their errors say what failed. A plugin's own log file
// has its stack after a panic.
func (inv *Invocation) StartLog(serves bool) error {
	fallback, out := hclog.Off, inv.Stderr
	if serves {
		fallback = hclog.Info
	}
	level, err := inv.logLevel(fallback)
	if err != nil {
		return err
	}
	if serves {
		inv.logs = newLogQueue(out)
		out = inv.logs
	}
	asJSON := inv.Get("JUNCTOR_LOG_FORMAT") == "json"
	if asJSON {
		out = visible.Writer(out)
	} else {
		out = terminal.SafeWriter(out)
	}
	inv.masked = newMaskedLog(hclog.LoggerOptions{Name: "junctor", Level: level, Output: out, JSONFormat: asJSON})
	if serves {
		inv.Records = logbuffer.Attach(inv.masked.log)
	}
	inv.Log = inv.masked.log
	redirectLogs(inv.Log)
	return nil
}

// redirectLogs sends what libraries write on standard error, or with the loggers of the
// standard library, to a log. Its goroutine reads the pipe until the process ends.
func redirectLogs(to hclog.Logger) {
	w := to.StandardWriter(&hclog.StandardLoggerOptions{ForceLevel: hclog.Debug})
	stdlog.SetFlags(0)
	stdlog.SetOutput(w)
	slog.SetDefault(slog.New(slog.NewTextHandler(w, nil)))
	if r, pipe, err := os.Pipe(); err == nil {
		os.Stderr = pipe
		go func() {
			lines := bufio.NewReader(r)
			for line, _, err := lines.ReadLine(); err == nil; line, _, err = lines.ReadLine() {
				to.Debug("stderr of a library", "line", string(line))
			}
		}()
	}
}
