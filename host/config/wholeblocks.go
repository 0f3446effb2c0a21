package config

import (
	"github.com/junctor-mcp/junctor/host/config/language"

	"github.com/junctor-mcp/junctor/host/config/inbound"
)

// The wholeBlocks are the blocks about the whole process, while the loader reads them; put moves them
// into the Config.
type wholeBlocks struct {
	gateway   Gateway
	telemetry Telemetry
	console   *Console
	notices   *Notify
	audit     Audit
}

// readWhole reads the blocks about the whole process, each from the layer whose block counts.
// That of audit is read later.
func (l *loader) readWhole(used inbound.RoleUse) (w wholeBlocks) {
	l.wholly("gateway", l.AbsentInputs, func(of *scope) {
		w.gateway = readGateway(of, used, !l.NoListener)
		w.gateway.Layer = of.layer
	})
	l.wholly("telemetry", l.AbsentInputs, func(of *scope) { w.telemetry = readTelemetry(of, w.gateway.HTTP) })
	l.wholly("console", l.AbsentInputs, func(of *scope) {
		w.console = readConsole(of, w.gateway.HTTP, w.telemetry.Metrics)
	})
	if !l.wholly("notify", l.AbsentInputs || l.NoNotices, func(of *scope) { w.notices = readNotify(of) }) {
		w.notices = nil
	}
	return w
}

// put puts the blocks into a configuration.
func (w wholeBlocks) put(c *Config) {
	c.Gateway, c.Telemetry, c.Console, c.Notify, c.Audit = w.gateway, w.telemetry, w.console, w.notices, w.audit
}

// wholly calls read with the layer whose block of a kind counts. With partly it only warns of
// env() and file() that fail, and notes that the block is not read as a whole; it returns
// whether it is.
func (l *loader) wholly(block string, partly bool, read func(of *scope)) bool {
	before := l.files.Count()
	read(l.strongest(block))
	if partly && warnOfInputs(l.files.Since(before)) {
		l.unread = append(l.unread, block)
		return false
	}
	return true
}

// warnOfInputs makes warnings of the reports of env() and file() that failed, and returns whether
// there were any.
func warnOfInputs(problems []language.Problem) (found bool) {
	for i := range problems {
		if p := &problems[i]; p.Input {
			p.Warning, found = true, true
		}
	}
	return found
}
