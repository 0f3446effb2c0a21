package doctor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/host/control"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/sdk/process"
)

// Processes returns a check of the running processes of this user: their versions, their
// configurations, and notices that were lost. failed are those that did not answer.
func Processes(running []*control.Status, failed []error, version string) Check {
	return Check{"processes", func(context.Context) (found []Finding) {
		for _, s := range running {
			found = append(found, ofProcess(s, version)...)
		}
		for _, err := range failed {
			found = append(found, ofError("processes", err))
		}
		return found
	}}
}

func ofProcess(s *control.Status, version string) (found []Finding) {
	add := func(severity Severity, remedy, format string, args ...any) {
		found = append(found, Finding{Severity: severity,
			Message: fmt.Sprintf("process %d ", s.PID) + fmt.Sprintf(format, args...), Remedy: remedy})
	}
	if s.Version != version {
		add(Warning,
			fmt.Sprintf("run `kill %d`, then start `junctor serve` again; a client that started it starts the new one",
				s.PID),
			"runs version %s, and this is %s", s.Version, version)
	}
	reload := fmt.Sprintf("run `junctor reload --instance %s`", s.Instance)
	switch newest := newestOf(s.Directory, s.Generation.Files); {
	case s.Generation.Failed != nil:
		add(Error, "run `junctor validate`, correct the configuration, then "+reload,
			"serves an older configuration: its last reload failed: %s", s.Generation.Failed.Error.Message)
	case newest.After(s.Generation.Loaded.Add(time.Second)):
		add(Warning, reload, "serves an older configuration: the files changed at %s",
			newest.Local().Format(time.DateTime))
	}
	if n := s.Notices; n != nil && n.Error != "" {
		add(Error, "correct the notify block, or start its receiver", "cannot send notices: %s", n.Error)
	}
	ofClients(s, add)
	return found
}

// Servers returns a check of the servers of the running processes of a configuration: those
// that are not connected although a client wanted them, and those with tools that are held back.
func Servers(own []*control.Status) Check {
	return Check{"servers", func(context.Context) (found []Finding) {
		for _, p := range own {
			for _, s := range p.Servers {
				if s.HeldTools > 0 {
					found = append(found, Finding{
						Severity: Warning, Server: s.Server, Message: fmt.Sprintf(
							"process %d holds back tools of server %q: the definitions of %d were not accepted",
							p.PID, s.Server, s.HeldTools,
						),
						Remedy: fmt.Sprintf("run `junctor diff %s`, then `junctor lock --accept %s` if the definitions are right, and `junctor reload --instance %s`",
							s.Server, s.Server, p.Instance),
					})
				}
				if s.State != "failed" || s.Error == nil {
					continue
				}
				remedy := fmt.Sprintf("run `junctor status %s --instance %s` to see its last words, and `junctor restart %s --instance %s` after the correction",
					s.Server, p.Instance, s.Server, p.Instance)
				if s.Error.Code == fault.PluginChecksum { // the process keeps the digest of its first start
					remedy = fmt.Sprintf(
						"run `kill %d`, then start `junctor serve` again, to use the new program of the plugin", p.PID,
					)
				}
				found = append(found, Finding{
					Severity: Error, Server: s.Server, At: s.Error.At, Remedy: remedy,
					Message: fmt.Sprintf("process %d has no connection to server %q: %s",
						p.PID, s.Server, s.Error.Message),
				})
			}
		}
		return found
	}}
}

// newestOf returns the time of the latest change of files. Relative ones are in dir, the
// directory of the process.
func newestOf(dir string, files []string) (newest time.Time) {
	for _, path := range files {
		switch {
		case filepath.IsAbs(path):
		case dir == "":
			continue // it is gone
		default:
			path = filepath.Join(dir, path)
		}
		if info, err := os.Stat(path); err == nil && info.ModTime().After(newest) {
			newest = info.ModTime()
		}
	}
	return newest
}

// Leftovers returns a check of what processes left behind that were killed: their directories
// with sockets, and the processes that they had started. prefixes are those of the
// directories.
func Leftovers(prefixes []string) Check {
	return Check{"leftovers", func(context.Context) (found []Finding) {
		for _, dir := range staleDirectories(prefixes) {
			found = append(found, Finding{
				Severity: Warning, Message: "a process that has ended left its sockets in " + dir, At: dir,
				Remedy: "run `rm -r " + quote(dir) + "`",
				Mend:   func(context.Context) (string, error) { return "removed " + dir, os.RemoveAll(dir) },
			})
		}
		for _, pid := range orphans() {
			found = append(found, Finding{
				Severity: Warning,
				Message:  fmt.Sprintf("process %d (%s) was started by a junctor that has ended", pid, nameOf(pid)),
				Remedy:   fmt.Sprintf("run `kill %d`", pid),
				Ask:      fmt.Sprintf("End process %d (%s)?", pid, nameOf(pid)),
				Mend: func(context.Context) (string, error) {
					process.EndStale()
					return fmt.Sprintf("ended process %d", pid), nil
				},
			})
		}
		return found
	}}
}

// staleDirectories returns the directories of processes that have certainly ended.
func staleDirectories(prefixes []string) (stale []string) {
	seen := map[string]bool{}
	for _, prefix := range prefixes {
		base, name := filepath.Split(prefix)
		entries, err := os.ReadDir(base)
		if err != nil {
			continue
		}
		for _, e := range entries {
			rest, ok := strings.CutPrefix(e.Name(), name)
			run, _, dashed := strings.Cut(rest, "-")
			dir := filepath.Join(base, e.Name())
			if ok && dashed && e.IsDir() && !seen[dir] && process.Gone(run) {
				seen[dir] = true
				stale = append(stale, dir)
			}
		}
	}
	return stale
}
