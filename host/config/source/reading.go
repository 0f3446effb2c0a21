package source

import (
	"fmt"
	"path/filepath"

	"github.com/hashicorp/hcl/v2"

	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/hcltext"
	"github.com/junctor-mcp/junctor/host/ownership"
)

// Read adds the file, or the files of the directory, at path, and returns them.
func (s *Set) Read(path string) []*File {
	if s.Texts[path] != nil {
		return s.ReadFiles([]string{path})
	}
	names, err := FilesAt(path)
	if err != nil {
		s.Problem(language.Problem{At: hcl.Range{Filename: path}, Summary: err.Error()})
		return nil
	}
	return s.ReadFiles(names)
}

// ReadFiles adds files of the configuration, and returns them.
func (s *Set) ReadFiles(names []string) (added []*File) {
	total := 0
	for _, name := range names {
		text, edited := s.Texts[name]
		var err error
		if !edited {
			text, err = ReadFile(name, MaxFile)
		}
		if err == nil && !edited {
			if exposed := OwnershipProblem(name); exposed != nil {
				s.Problem(*exposed)
				continue
			}
		}
		if err == nil && total+len(text) > MaxTotal {
			err = fmt.Errorf("the files of the configuration are larger than %d MiB together", MaxTotal>>20)
		}
		if err != nil {
			s.Problem(language.Problem{At: hcl.Range{Filename: name}, Summary: "cannot read the file: " + err.Error()})
			continue
		}
		total += len(text)
		added = append(added, s.Add(name, text))
	}
	return added
}

// Add adds the text of a file, and returns the file.
func (s *Set) Add(name string, text []byte) *File {
	dir, err := filepath.Abs(filepath.Dir(name))
	if err != nil {
		dir = filepath.Dir(name) // the working directory was deleted
	}
	f := &File{Name: name, Dir: dir, Text: text, words: &s.words}
	s.All = append(s.All, f)
	s.byName[name] = f
	return f
}

// Parse parses files of the set. It returns false if a file has a syntax error: later steps
// would only report blocks that the broken file lacks.
func (s *Set) Parse(files []*File) bool {
	whole := true
	for _, f := range files {
		whole = s.parseFile(f) && whole
	}
	return whole
}

// parseFile parses one file. It returns false if the file has a syntax error.
func (s *Set) parseFile(f *File) bool {
	if p := s.pastedJSON(f); p != nil {
		s.Problem(*p)
		return false
	}
	scanned := hcltext.Scan(f.Name, f.Text, hcltext.Configuration)
	f.Tokens = scanned.Tokens
	if wrong := ScanProblem(scanned); wrong != nil {
		if p := s.pastedInside(f, wrong.At); p != nil {
			wrong = p
		}
		s.Problem(*wrong)
		return false
	}
	var diags hcl.Diagnostics
	f.Body, diags = scanned.Parse()
	if diags.HasErrors() && diags[0].Subject != nil {
		if p := s.pastedInside(f, *diags[0].Subject); p != nil {
			s.Problem(*p)
			return false
		}
	}
	var found []parsedProblem
	for _, d := range diags {
		found = append(found, f.parseProblem(d))
	}
	whole := true
	for _, p := range foreignOnly(found) {
		s.Problem(p.Problem)
		whole = whole && (p.whole || p.Warning)
	}
	return whole
}

// ScanProblem returns the reason why a text is not parsed, or nil.
func ScanProblem(s *hcltext.Scanned) *language.Problem {
	if s.Problem == nil {
		return nil
	}
	return &language.Problem{At: s.Problem.At, Summary: s.Problem.Summary, Hint: s.Problem.Hint}
}

// OwnershipProblem returns a problem if another user could change or replace the
// file at path, or the target of a symbolic link at path. It returns nil otherwise.
func OwnershipProblem(path string) *language.Problem {
	real, err := Canonical(path)
	if err != nil {
		return nil // readFile reports it
	}
	places := []string{real, filepath.Dir(real)}
	if dir, err := Canonical(filepath.Dir(path)); err == nil && dir != places[1] {
		places = append(places, dir)
	}
	for _, p := range places {
		if why, command := ownership.Exposed(p); why != "" {
			return &language.Problem{
				At: hcl.Range{Filename: path}, Code: fault.ConfigExposed,
				Summary: fmt.Sprintf("the configuration is not used: %s %s", p, why),
				Hint:    fmt.Sprintf("run `%s %s`", command, p),
			}
		}
	}
	return nil
}
