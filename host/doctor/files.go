package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/junctor-mcp/junctor/host/ownership"
)

// A Directory is one of Junctor's directories.
type Directory struct {
	What string // such as "data"
	Path string // empty: there is none
	// Mixed is set for a directory that may have other files than Junctor's. Their sizes
	// are not counted.
	Mixed bool
}

const (
	leastSpace  = 50 << 20  // bytes; less is an error
	littleSpace = 500 << 20 // bytes; less is a warning
	largeFile   = 2 << 30   // bytes of one file
	largeTree   = 5 << 30   // bytes of a directory
	maxWalked   = 100_000   // files of a directory that are counted
)

// Directories returns a check of Junctor's directories: whether they can be written to, are
// private, have space, and how large their files are.
func Directories(all []Directory) Check {
	return Check{"directories", func(ctx context.Context) (found []Finding) {
		for _, d := range all {
			if d.Path == "" {
				found = append(found, Finding{Severity: Error, Message: "there is no " + d.What + " directory",
					Remedy: "set HOME, or JUNCTOR_HOME to a directory for everything that Junctor keeps"})
				continue
			}
			found = append(found, directory(ctx, d)...)
		}
		return found
	}}
}

func directory(ctx context.Context, d Directory) (found []Finding) {
	info, err := os.Stat(d.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return missing(d)
	case err != nil:
		return []Finding{{Severity: Error,
			Message: fmt.Sprintf("the %s directory cannot be read: %s", d.What, reason(err)), At: d.Path,
			Remedy: "run `ls -ld " + quote(d.Path) + "` and correct its owner or mode"}}
	case !info.IsDir():
		return []Finding{{Severity: Error, Message: fmt.Sprintf("the %s directory is a file", d.What), At: d.Path,
			Remedy: "run `mv " + quote(d.Path) + " " + quote(d.Path+".old") + "`"}}
	}
	if why, command := ownership.Exposed(d.Path); why != "" {
		one := Finding{Severity: Error, Message: fmt.Sprintf("the %s directory %s", d.What, why), At: d.Path,
			Remedy: "run `" + command + " " + quote(d.Path) + "`"}
		if mode, _, ok := chmod(one.Remedy); ok {
			one.Mend = tighten(mode, d.Path)
		}
		found = append(found, one)
	}
	if err := writable(d.Path); err != nil {
		found = append(found, Finding{Severity: Error,
			Message: fmt.Sprintf("the %s directory cannot be written to: %s", d.What, reason(err)), At: d.Path,
			Remedy: "run `chmod u+rwx " + quote(d.Path) + "`", Mend: tighten("u+rwx", d.Path)})
	}
	found = append(found, space(d)...)
	if d.Mixed {
		return found
	}
	return append(found, size(ctx, d)...)
}

// missing reports a directory that does not exist, unless Junctor can create it.
func missing(d Directory) []Finding {
	parent := filepath.Dir(d.Path)
	for {
		info, err := os.Stat(parent)
		if err == nil && info.IsDir() && writable(parent) == nil {
			return nil // it is created when it is needed
		}
		if err == nil || filepath.Dir(parent) == parent {
			break
		}
		parent = filepath.Dir(parent)
	}
	return []Finding{{
		Severity: Error,
		Message:  fmt.Sprintf("the %s directory does not exist and cannot be created in %s", d.What, parent),
		At:       d.Path,
		Remedy:   "run `mkdir -p " + quote(d.Path) + "` as a user who may",
		Mend:     func(context.Context) (string, error) { return "created " + d.Path, os.MkdirAll(d.Path, 0o700) },
	}}
}

// writable creates and removes a file.
func writable(dir string) error {
	f, err := os.CreateTemp(dir, ".junctor-doctor-")
	if err != nil {
		return err
	}
	_ = f.Close()
	return os.Remove(f.Name())
}

// reason returns an error without the name of a temporary file.
func reason(err error) string {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err.Error()
	}
	return err.Error()
}

func space(d Directory) []Finding {
	free, ok := freeSpace(d.Path)
	if !ok || free >= littleSpace {
		return nil
	}
	one := Finding{
		Severity: Warning, Message: fmt.Sprintf("only %s are free for the %s directory", bytesText(free), d.What),
		At: d.Path, Remedy: "free space on that disk, or set JUNCTOR_HOME to a directory on another one; `du -sh " +
			quote(d.Path) + "` shows what Junctor uses",
	}
	if free < leastSpace {
		one.Severity = Error
	}
	return []Finding{one}
}

// size reports large files, such as those of sessions and of the audit log.
func size(ctx context.Context, d Directory) (found []Finding) {
	total, files := int64(0), 0
	_ = filepath.WalkDir(d.Path, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil
		}
		if files++; files > maxWalked || ctx.Err() != nil {
			return fs.SkipAll
		}
		info, err := e.Info()
		if err != nil {
			return nil
		}
		total += info.Size()
		if info.Size() > largeFile {
			found = append(found, Finding{Severity: Warning,
				Message: fmt.Sprintf("%s has %s", path, bytesText(uint64(info.Size()))), At: path,
				Remedy: largeRemedy(path)})
		}
		return nil
	})
	if total > largeTree && len(found) == 0 {
		found = append(found, Finding{Severity: Warning,
			Message: fmt.Sprintf("the %s directory has %s", d.What, bytesText(uint64(total))), At: d.Path,
			Remedy: "run `du -sh " + quote(d.Path) + "/*` and remove what is not needed"})
	}
	return found
}

func largeRemedy(path string) string {
	switch {
	case strings.Contains(filepath.Base(path), "audit"):
		return "lower retention in the audit block, then run `junctor reload`"
	case strings.Contains(filepath.Base(path), "sessions"):
		return "lower max, life or events in gateway { http { sessions { } } }, then run `junctor reload`"
	}
	return "stop Junctor, then run `rm " + quote(path) + "` if it is not needed"
}

// Private returns a check of files and directories that only their owner may access, such as
// those with secrets: Junctor's own, and those that the configuration names. A named file may
// belong to other programs too, so its rights are taken away after a question only.
func Private(own, named []string) Check {
	return Check{"permissions", func(context.Context) (found []Finding) {
		for _, path := range own {
			found = append(found, private(path)...)
		}
		for _, path := range named {
			for _, one := range private(path) {
				if one.Mend != nil {
					one.Ask = "Take these rights from other users?"
				}
				found = append(found, one)
			}
		}
		return found
	}}
}

// private reports that others than the owner may access a file.
func private(path string) []Finding {
	info, err := os.Stat(path)
	if err != nil {
		return nil // it does not exist yet
	}
	if why, command := ownership.Exposed(path); why != "" {
		one := Finding{Severity: Error, Message: path + " " + why, At: path,
			Remedy: "run `" + command + " " + quote(path) + "`"}
		if mode, _, ok := chmod(one.Remedy); ok {
			one.Mend = tighten(mode, path)
		}
		return []Finding{one}
	}
	if !readable(info) {
		return nil
	}
	return []Finding{{Severity: Error, Message: path + " can be read by other users", At: path,
		Remedy: "run `chmod go-rwx " + quote(path) + "`", Mend: tighten("go-rwx", path)}}
}

// chmod finds a command in a text that only takes rights away, and returns its mode and path.
func chmod(text string) (mode, path string, ok bool) {
	_, rest, _ := strings.Cut(text, "`chmod ")
	command, _, closed := strings.Cut(rest, "`")
	mode, path, ok = strings.Cut(command, " ")
	if path = strings.TrimSpace(path); strings.HasPrefix(path, "'") {
		path = strings.ReplaceAll(strings.Trim(path, "'"), `'\''`, "'")
	}
	return mode, path, closed && ok && (mode == "go-w" || mode == "g-w" || mode == "go-rwx")
}

// tighten returns the Mend of a file whose mode is changed. It changes no file of another user,
// and follows no link that another user made: root may run doctor in the home of a user.
func tighten(mode, path string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) {
		if why := foreign(path); why != "" {
			return "", errors.New(why)
		}
		info, err := os.Stat(path)
		if err != nil {
			return "", err
		}
		perm := info.Mode().Perm()
		switch mode {
		case "go-w":
			perm &^= 0o022
		case "g-w":
			perm &^= 0o020
		case "go-rwx":
			perm &^= 0o077
		case "u+rwx":
			perm |= 0o700
		}
		return "ran chmod " + mode + " " + path, os.Chmod(path, perm)
	}
}

// bytesText formats a number of bytes.
func bytesText(n uint64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d KiB", n>>10)
}
