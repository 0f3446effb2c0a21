package operate

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/host/control"
	"github.com/junctor-mcp/junctor/host/doctor"
	"github.com/junctor-mcp/junctor/host/fault"
)

// The bounds of a support bundle.
const (
	bundlePart      = 1 << 20 // bytes of a file; of logs and events the newest
	bundleProcesses = 8
	bundleTime      = 2 * time.Second // for a process to answer
)

// isSupportBundle reports whether the file of --report is a support bundle.
func isSupportBundle(path string) bool { return strings.HasSuffix(strings.ToLower(path), ".zip") }

// toStdout is the value of --report for standard output, which gets a support bundle.
const toStdout = "-"

// bundleToStdout writes a support bundle to standard output. It ends like doctor does without it.
func bundleToStdout(ctx context.Context, inv *invocation.Invocation, p *examined, found []doctor.Finding,
	checks int) error {
	inside, err := writeBundle(ctx, inv.Stdout, p, found, checks)
	if err != nil {
		return terminal.WriteFault("standard output", err)
	}
	inv.Remark("the report has %s; read it before you send it", strings.Join(inside, ", "))
	if doctor.HasErrors(found) {
		return terminal.Reported(fault.New(fault.DoctorErrors, "junctor doctor found errors"))
	}
	return nil
}

// A supportBundle is a zip archive of masked files.
type supportBundle struct {
	zip   *zip.Writer
	mask  doctor.Mask
	files []string // their names and sizes
	err   error
}

// add adds a file without secrets, and without names of users and machines. A file above the
// bound loses its beginning.
func (b *supportBundle) add(name, text string) {
	if b.err != nil || text == "" {
		return
	}
	lines := strings.Split(strings.ToValidUTF8(text, "?"), "\n")
	for i := range lines {
		lines[i] = terminal.Safe(b.mask.Text(lines[i]))
	}
	masked := strings.Join(lines, "\n")
	if len(masked) > bundlePart {
		masked = "(the beginning is left out)\n" + strings.ToValidUTF8(masked[len(masked)-bundlePart:], "")
	}
	w, err := b.zip.Create(name)
	if err == nil {
		_, err = io.WriteString(w, masked)
	}
	b.err = err
	b.files = append(b.files, fmt.Sprintf("%s (%d bytes)", name, len(masked)))
}

// writeBundle writes the report, the structure of the configuration, and the status, log,
// events and metrics of the running processes. It returns what is inside. doctor calls it. What
// the bundle holds is masked.
func writeBundle(ctx context.Context, w io.Writer, p *examined, found []doctor.Finding, checks int) ([]string, error) {
	b := &supportBundle{zip: zip.NewWriter(w), mask: p.mask()}
	var report bytes.Buffer
	if err := doctor.Report(&report, p.facts(), found, checks, b.mask); err != nil {
		return nil, err
	}
	b.add("report.txt", report.String())
	findings, _ := json.MarshalIndent(found, "", "  ")
	b.add("findings.json", string(findings))
	if p.app != nil {
		for i, file := range p.app.Config().Files {
			if text, err := os.ReadFile(file); err == nil {
				b.add(fmt.Sprintf("configuration-%d.hcl", i+1), maskedConfiguration(string(text)))
			}
		}
		if m := p.app.Config().Telemetry.Metrics; m != nil {
			b.add("metrics.txt", metricsOf(ctx, m.Listen))
		}
	}
	if p.inv.Dirs.Run != "" {
		answers, _ := control.StatusOfAll(ctx, control.Find(p.inv.Dirs.Runs))
		for _, a := range answers[:min(len(answers), bundleProcesses)] {
			addProcess(ctx, b, a)
		}
	}
	if err := b.zip.Close(); b.err == nil {
		b.err = err
	}
	return b.files, b.err
}

// addProcess adds what a running process says about itself, without its clients.
func addProcess(ctx context.Context, b *supportBundle, a control.Answer) {
	ctx, cancel := context.WithTimeout(ctx, bundleTime)
	defer cancel()
	st := *a.Status
	st.Clients, st.Sessions.List, st.Limits = nil, nil, nil
	servers := make([]*control.Server, len(st.Servers))
	for i, s := range st.Servers {
		one := *s
		one.Settings = nil
		one.Tenants = namelessTenants(s.Tenants)
		servers[i] = &one
	}
	st.Servers = servers
	status, _ := json.MarshalIndent(st, "", "  ")
	b.add(fmt.Sprintf("status-%d.json", st.PID), string(status))
	var log, events strings.Builder
	_ = a.Logs(ctx, control.LogQuery{}, func(l control.LogLine) error { // an error leaves the rest out
		if l.Record != nil {
			log.WriteString(recordText(l.Record) + "\n")
		}
		return nil
	})
	b.add(fmt.Sprintf("log-%d.txt", st.PID), log.String())
	_ = a.EventsOf(ctx, false, func(l control.EventLine) error {
		if l.Event != nil {
			fmt.Fprintf(&events, "%s %s %s %s\n", l.Time.UTC().Format(time.RFC3339), l.Type, l.Server, l.Code)
		}
		return nil
	})
	b.add(fmt.Sprintf("events-%d.txt", st.PID), events.String())
}

// namelessTenants returns what a server has for tenants, without their names and errors.
func namelessTenants(all []control.TenantUse) (nameless []control.TenantUse) {
	for _, t := range all {
		t.Tenant, t.Error = "…", nil
		nameless = append(nameless, t)
	}
	return nameless
}

// metricsOf returns the metrics at an address of this machine, or "".
func metricsOf(ctx context.Context, listen string) string {
	ctx, cancel := context.WithTimeout(ctx, bundleTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+listen+"/metrics", nil)
	if err != nil {
		return ""
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return ""
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, bundlePart))
	if err != nil || resp.StatusCode != http.StatusOK {
		return ""
	}
	lines := strings.Split(string(text), "\n")
	for i, line := range lines {
		lines[i] = tenantLabel.ReplaceAllString(line, `tenant="…"`)
	}
	return strings.Join(lines, "\n")
}

var (
	tenantLabel = regexp.MustCompile(`tenant="(?:[^"\\]|\\.)*"`)
	blockLine   = regexp.MustCompile(`^\s*[a-z_]+(?:\s+"[^"$%\\]*")*\s*\{\s*\}?\s*$`)
	plainValue  = regexp.MustCompile(`^\s*[a-z_]+\s*=\s*(?:true|false|null|-?[0-9.]+|[\[{(])?\s*,?\s*$`)
	closing     = regexp.MustCompile(`^[\s\]})(,]*$`)
	attribute   = regexp.MustCompile(`^\s*"?[A-Za-z0-9_]+"?\s*=`)
)

// maskedConfiguration returns the blocks of a configuration with the names of their
// attributes. Of values it keeps numbers and truth values only, and no comment.
func maskedConfiguration(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case blockLine.MatchString(line), plainValue.MatchString(line), closing.MatchString(line):
			b.WriteString(line + "\n")
		case attribute.MatchString(line):
			b.WriteString(attribute.FindString(line) + " …\n")
		default:
			b.WriteString("…\n")
		}
	}
	return b.String()
}
