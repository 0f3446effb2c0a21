package operate

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/kballard/go-shellquote"

	"github.com/junctor-mcp/junctor/cmd/host/clientfiles"
	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/host/clientconfig"
	"github.com/junctor-mcp/junctor/host/doctor"
	"github.com/junctor-mcp/junctor/host/fault"
)

// Exports lists the entries that junctor export wrote. The checks of doctor call it.
func (p *examined) exports() (all []doctor.Export) {
	for _, r := range clientfiles.Exports(p.inv) {
		c := clientconfig.Find(r.Client)
		if c == nil {
			continue
		}
		again := "junctor export " + c.Name + " --write"
		if r.Scope == string(clientconfig.Project) {
			again = "cd " + shellquote.Join(filepath.Dir(r.Path)) + " && " + again + " --scope project"
		}
		if r.Name != "junctor" {
			again += " --name " + shellquote.Join(r.Name)
		}
		if r.URL != "" {
			again += " --http=" + shellquote.Join(r.URL)
		}
		all = append(all, doctor.Export{Client: c.Name, Title: c.Title, Path: r.Path, Entry: r.Name, Again: again,
			Write: exportAgain(p.inv, c, r)})
	}
	return all
}

// exportAgain returns a function that writes an entry again, with this program in place of the
// one that wrote it; nil if its configuration is gone.
func exportAgain(inv *invocation.Invocation, c *clientconfig.Client,
	r clientfiles.Export) func(context.Context) (string, error) {
	t := clientconfig.Target{Name: r.Name, Command: slices.Clone(r.Command), URL: r.URL, Token: r.Token}
	for i, arg := range t.Command[:max(0, len(t.Command)-1)] {
		if arg == "--config" && !clientfiles.FileExists(t.Command[i+1]) {
			return nil
		}
	}
	if len(t.Command) > 0 {
		program, err := os.Executable()
		if err != nil {
			return nil
		}
		t.Command[0] = program
	}
	return func(context.Context) (string, error) {
		if real, err := filepath.EvalSymlinks(filepath.Dir(r.Path)); r.Scope == string(clientconfig.Project) &&
			(err != nil || real != filepath.Dir(r.Path)) {
			return "", fault.New(fault.ExportFile, "%s leads elsewhere now", r.Path).
				WithHint("run `junctor export %s --write --scope project` there", c.Name)
		}
		f, err := clientfiles.Configuration(r.Path, r.Scope == string(clientconfig.Project))
		if err != nil {
			return "", err
		}
		text, err := c.Merge(f.Text, t)
		if err != nil {
			return "", err
		}
		if _, err := f.Write(text, time.Now()); err != nil {
			return "", err
		}
		clientfiles.Record(inv, r.Scope, r.Path, r.Client, t)
		return "wrote the entry " + r.Name + " into " + r.Path, nil
	}
}
