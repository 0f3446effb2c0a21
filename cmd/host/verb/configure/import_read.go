package configure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/cmd/host/verb"
	"github.com/junctor-mcp/junctor/host/clientconfig"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/suggest"
)

// maxImport is the maximum size of a client's file in bytes.
const maxImport = 8 << 20

// readScope reads the servers of a scope in the text of a client's file. Only the scope local
// is not that of the whole file. c is the client, or nil.
func readScope(text []byte, path string, c *clientconfig.Client,
	scope clientconfig.Scope) (clientconfig.Content, error) {
	if c == nil || scope != clientconfig.Local {
		return readContent(text, path, c)
	}
	here, err := os.Getwd()
	if err != nil {
		return clientconfig.Content{}, err
	}
	if real, err := filepath.EvalSymlinks(here); err == nil {
		here = real
	}
	file, dirs, err := clientconfig.ReadLocal(text, here)
	if err == nil && file.Servers == nil {
		hint := "no directory has some; omit --scope"
		if len(dirs) > 0 {
			hint = "run the command in one of " + terminal.Shortened(dirs)
		}
		return file, fault.New(fault.Usage, "%s has no servers of the scope local for %s", path, here).
			WithHint("%s", hint)
	}
	return located(file, path, err)
}

// readContent reads the text of a client's file. c is the client, or nil.
func readContent(text []byte, path string, c *clientconfig.Client) (clientconfig.Content, error) {
	if c == nil {
		c = clientconfig.ForPath(path)
	}
	file, err := clientconfig.ReadContent(text, c)
	return located(file, path, err)
}

// located adds the path of a file to what was read, or to the error.
func located(file clientconfig.Content, path string, err error) (clientconfig.Content, error) {
	if bad, ok := errors.AsType[*clientconfig.SyntaxError](err); ok {
		early := ""
		if strings.Contains(bad.What, "unexpected EOF") {
			early = "the file ends too early: a closing brace or bracket is missing"
		}
		formats := "give a file of one of " + strings.Join(clientconfig.Names(clientconfig.Clients), ", ") +
			", a catalog of Docker MCP, or an mcpServers object"
		hint := cmp.Or(bad.Hint, early, formats)
		return file, &fault.Error{
			Code:    fault.ImportFile,
			Message: bad.What,
			At:      fmt.Sprintf("%s:%d:%d", path, bad.Line, bad.Column),
			Hint:    hint,
		}
	}
	if dir, failed := filepath.Abs(filepath.Dir(path)); failed == nil && path != standardInput {
		for i := range file.Servers {
			file.Servers[i].Base = dir
		}
	}
	return file, err
}

// onlyServers returns the servers with these names, or all if there are no names.
func onlyServers(all []clientconfig.Server, names []string) (some []clientconfig.Server, err error) {
	if len(names) == 0 {
		return all, nil
	}
	var have []string
	for _, s := range all {
		have = append(have, s.Name)
		if slices.Contains(names, s.Name) {
			some = append(some, s)
		}
	}
	for _, name := range names {
		if !slices.Contains(have, name) {
			return nil, verb.WithSuggestion(fault.New(fault.Usage, "the file has no server %q", name),
				suggest.Nearest(name, have), "its servers are "+terminal.Shortened(have))
		}
	}
	return some, nil
}

// readImport reads the file of a client, by its name or its path.
func readImport(ctx context.Context, inv *invocation.Invocation, x importOptions,
	from string) (text []byte, path string, err error) {
	if from == "-" {
		text, err = terminal.Interruptible(ctx,
			func() ([]byte, error) { return io.ReadAll(io.LimitReader(inv.Stdin, maxImport+1)) })
		path = standardInput
	} else {
		if path, err = importPath(x, from, inv.Get); err != nil {
			return nil, "", err
		}
		text, err = readRegular(path)
	}
	if err == nil && len(text) > maxImport {
		err = fmt.Errorf("it is larger than %d MiB", maxImport>>20)
	}
	if c := clientconfig.Find(from); c != nil && errors.Is(err, fs.ErrNotExist) {
		return nil, "", fault.New(fault.ImportFile, "%s has no configuration file at %s", c.Title, path).
			WithHint("%s", missingFileHint(c, x))
	}
	if err != nil {
		return nil, "", fault.Because(fault.ImportFile, err, "%s cannot be read", path).
			WithHint("give the path of the file, or one of %s",
				strings.Join(clientconfig.Names(clientconfig.Clients), ", "))
	}
	return text, path, nil
}

// missingFileHint says where else the servers of a client may be.
func missingFileHint(c *clientconfig.Client, x importOptions) string {
	hint := "`junctor import` lists the clients that have servers here; a file elsewhere can be given by its path"
	if x.scope == string(clientconfig.User) &&
		c.Places(clientconfig.Project, clientconfig.Home{Lookup: func(string) string { return "" }}) != nil {
		hint = "for the servers of a project add --scope project; " + hint
	}
	return hint
}

// importPath returns the first existing file of a client, or the path as given.
func importPath(x importOptions, from string, get func(string) string) (string, error) {
	c := clientconfig.Find(from)
	if c == nil {
		return from, nil
	}
	paths, err := clientPaths(c, clientconfig.Scope(x.scope), get)
	if err != nil {
		return "", err
	}
	for _, path := range paths {
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	return paths[len(paths)-1], nil
}

// isFileOfUser reports whether a path is that of a regular file. ~/ is the home directory.
func isFileOfUser(path string) bool {
	if below, ok := strings.CutPrefix(path, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return false
		}
		path = filepath.Join(home, below)
	}
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// readRegular reads a regular file, at most one byte more than maxImport.
func readRegular(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return io.ReadAll(io.LimitReader(f, maxImport+1))
}
