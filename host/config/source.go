package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/hcltext"
	"github.com/junctor-mcp/junctor/host/ownership"
	"github.com/junctor-mcp/junctor/host/regularfile"
)

const (
	maxFile  = hcltext.MaxBytes // of one file
	maxTotal = 8 << 20          // bytes in all files
	maxFiles = 256
)

// A source is one file of the configuration.
type source struct {
	name   string // as the user would write it, for messages
	dir    string // absolute
	text   []byte
	tokens hclsyntax.Tokens
	body   *hclsyntax.Body

	snip snippetState
}

// readFile reads a regular file of at most limit bytes.
func readFile(path string, limit int64) ([]byte, error) {
	text, err := regularfile.Read(path, limit)
	if tooLarge, ok := errors.AsType[*regularfile.TooLargeError](err); ok {
		return nil, fmt.Errorf("larger than %d KiB", tooLarge.Limit>>10)
	}
	if err != nil {
		return nil, cause(err)
	}
	return text, nil
}

// cause returns err without the operation and the path, which the caller's message
// already names.
func cause(err error) error {
	var at *os.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// readSources reads the file, or the files of the directory, at path.
func (l *loader) readSources(path string) {
	if l.Texts[path] != nil {
		l.readFiles([]string{path})
		return
	}
	names, err := filesAt(path)
	if err != nil {
		l.problem(language.Problem{At: hcl.Range{Filename: path}, Summary: err.Error()})
		return
	}
	l.readFiles(names)
}

// readFiles adds files of the configuration.
func (l *loader) readFiles(names []string) {
	total := 0
	for _, name := range names {
		text, edited := l.Texts[name]
		var err error
		if !edited {
			text, err = readFile(name, maxFile)
		}
		if err == nil && !edited {
			if exposed := ownershipProblem(name); exposed != nil {
				l.problem(*exposed)
				continue
			}
		}
		if err == nil && total+len(text) > maxTotal {
			err = fmt.Errorf("the files of the configuration are larger than %d MiB together", maxTotal>>20)
		}
		if err != nil {
			l.problem(language.Problem{At: hcl.Range{Filename: name}, Summary: "cannot read the file: " + err.Error()})
			continue
		}
		total += len(text)
		l.addSource(name, text)
	}
}

// addSource adds the text of a file to the present scope.
func (l *loader) addSource(name string, text []byte) {
	dir, err := filepath.Abs(filepath.Dir(name))
	if err != nil {
		dir = filepath.Dir(name) // the working directory was deleted
	}
	s := &source{name: name, dir: dir, text: text}
	l.sources, l.scope.sources = append(l.sources, s), append(l.scope.sources, s)
	l.byName[name] = s
}

// filesAt lists the files to read, sorted. It skips hidden files and lock files of a
// directory. Lock files are HCL but not configuration.
func filesAt(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the configuration: %w", cause(err))
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the directory: %w", cause(err))
	}
	var names []string
	for _, e := range entries {
		name := e.Name()
		if !strings.HasSuffix(name, ".hcl") || strings.HasSuffix(name, ".lock.hcl") || name[0] == '.' {
			continue
		}
		names = append(names, filepath.Join(path, name))
	}
	if len(names) == 0 {
		return nil, errors.New("the directory holds no *.hcl file")
	}
	if len(names) > maxFiles {
		return nil, fmt.Errorf("the directory holds more than %d *.hcl files", maxFiles)
	}
	return names, nil
}

// parse parses every source and the modules that they use. It returns false if a file has
// a syntax error: later steps would only report blocks that the broken file lacks.
func (l *loader) parse() bool {
	files := slices.Clone(l.sources)
	return l.parseSources(files) && l.readModules(files, nil)
}

func (l *loader) parseSources(sources []*source) bool {
	whole := true
	for _, s := range sources {
		if p := l.pastedJSON(s); p != nil {
			l.problem(*p)
			whole = false
			continue
		}
		scanned := hcltext.Scan(s.name, s.text, hcltext.Configuration)
		s.tokens = scanned.Tokens
		if wrong := scanProblem(scanned); wrong != nil {
			if p := l.pastedInside(s, wrong.At); p != nil {
				wrong = p
			}
			l.problem(*wrong)
			whole = false
			continue
		}
		var diags hcl.Diagnostics
		s.body, diags = scanned.Parse()
		if diags.HasErrors() && diags[0].Subject != nil {
			if p := l.pastedInside(s, *diags[0].Subject); p != nil {
				l.problem(*p)
				whole = false
				continue
			}
		}
		var found []parsedProblem
		for _, d := range diags {
			found = append(found, s.parseProblem(d))
		}
		for _, p := range foreignOnly(found) {
			l.problem(p.Problem)
			whole = whole && (p.whole || p.Warning)
		}
	}
	return whole
}

// scanProblem returns the reason why a text is not parsed, or nil.
func scanProblem(s *hcltext.Scanned) *language.Problem {
	if s.Problem == nil {
		return nil
	}
	return &language.Problem{At: s.Problem.At, Summary: s.Problem.Summary, Hint: s.Problem.Hint}
}

// ownershipProblem returns a problem if another user could change or replace the
// file at path, or the target of a symbolic link at path. It returns nil otherwise.
func ownershipProblem(path string) *language.Problem {
	real, err := canonical(path)
	if err != nil {
		return nil // readFile reports it
	}
	places := []string{real, filepath.Dir(real)}
	if dir, err := canonical(filepath.Dir(path)); err == nil && dir != places[1] {
		places = append(places, dir)
	}
	for _, p := range places {
		if why, command := ownership.Exposed(p); why != "" {
			return &language.Problem{
				At: hcl.Range{Filename: path}, Code: fault.ConfigExposed,
				Summary: fmt.Sprintf("the configuration is not used: %s %s", p, why), Hint: fmt.Sprintf("run `%s %s`", command, p),
			}
		}
	}
	return nil
}
