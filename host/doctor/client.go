package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/junctor-mcp/junctor/host/clientconfig"
	"github.com/junctor-mcp/junctor/sdk/stdio"
)

// An Export is an entry that Junctor wrote into the file of a client.
type Export struct {
	Client string // its name for `junctor export`
	Title  string
	Path   string
	Entry  string
	Again  string // the command that writes it again
	// Write writes the entry again; nil: it cannot be written now.
	Write func(ctx context.Context) (done string, err error)
}

// Clients returns a check of the files of clients: each exported entry is there, and leads to
// a program and a configuration that exist.
func Clients(all []Export, env []string) Check {
	return Check{"clients", func(context.Context) (found []Finding) {
		for _, x := range all {
			if f := exported(x, env); f != nil {
				found = append(found, *f)
			}
		}
		return found
	}}
}

func exported(x Export, env []string) *Finding {
	f := &Finding{Severity: Error, At: x.Path, Remedy: "run `" + x.Again + "`", Mend: x.Write,
		Ask: fmt.Sprintf("Write the entry %q into %s again?", x.Entry, x.Path)}
	info, err := os.Stat(x.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.Message = fmt.Sprintf("the file of %s with the entry %q is gone", x.Title, x.Entry)
		f.Severity = Warning
		return f
	case err != nil || info.Size() > clientconfig.MostBytes:
		f.Message, f.Mend = fmt.Sprintf("the file of %s cannot be read", x.Title), nil
		f.Remedy = "run `ls -l " + quote(x.Path) + "` and correct its owner, mode or size"
		return f
	}
	text, err := os.ReadFile(x.Path)
	if err != nil {
		f.Message, f.Mend, f.Remedy = fmt.Sprintf("the file of %s cannot be read: %s", x.Title, reason(err)), nil,
			"run `chmod u+r "+quote(x.Path)+"`"
		return f
	}
	content, err := clientconfig.ReadContent(text, clientconfig.Find(x.Client))
	servers := content.Servers
	if bad, ok := errors.AsType[*clientconfig.SyntaxError](err); ok {
		f.Message, f.Mend = fmt.Sprintf("the file of %s is broken, so the client reads no server: %s",
			x.Title, bad.What), nil
		f.At = fmt.Sprintf("%s:%d:%d", x.Path, bad.Line, bad.Column)
		f.Remedy = fmt.Sprintf("correct %s, or restore the copy beside it, then run `%s`", f.At, x.Again)
		return f
	}
	i := slices.IndexFunc(servers, func(s clientconfig.Server) bool { return s.Name == x.Entry })
	if err != nil || i < 0 {
		f.Message = fmt.Sprintf("%s has no entry %q any more", x.Title, x.Entry)
		return f
	}
	f.Message = entryProblem(x, servers[i], env)
	if f.Message == "" {
		return nil
	}
	return f
}

// entryProblem returns what is wrong with an entry, or "".
func entryProblem(x Export, s clientconfig.Server, env []string) string {
	switch {
	case s.Disabled:
		return fmt.Sprintf("the entry %q of %s is disabled", x.Entry, x.Title)
	case len(s.Command) == 0:
		return ""
	}
	if _, err := stdio.Resolve(s.Command[0], s.Dir, env); err != nil {
		return fmt.Sprintf("the entry %q of %s starts %s, which is gone", x.Entry, x.Title, s.Command[0])
	}
	for i, arg := range s.Command[:len(s.Command)-1] {
		path := s.Command[i+1]
		if arg != "--config" && arg != "-c" || !filepath.IsAbs(path) {
			continue
		}
		if _, err := os.Stat(path); err != nil {
			return fmt.Sprintf("the entry %q of %s uses the configuration %s, which is gone", x.Entry, x.Title, path)
		}
	}
	return ""
}
