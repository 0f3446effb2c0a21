package sandbox

import (
	_ "embed"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

//go:embed needs.txt
var needsText string

// A Kind is what a program needs.
type Kind string

// ServerPart stands for the server in the paths of a [CacheNeed].
const ServerPart = "SERVER"

// The kinds of needs.
const (
	ReadNeed        Kind = "read"
	WriteNeed       Kind = "write"
	CacheNeed       Kind = "cache"
	NetworkNeed     Kind = "network"
	UnixSocketsNeed Kind = "unix_sockets"
)

// A Need is what one program needs beside the system and its working directory.
type Need struct {
	Kind Kind
	// For ReadNeed, WriteNeed and CacheNeed; "~" is the home directory, and "/" at the end a directory to
	// make.
	Paths []string
	// Variables are for CacheNeed: the environment variable that names each path.
	Variables []string
	Reason    string
}

// readNeeds returns the needs of each program.
var readNeeds = sync.OnceValues(func() (map[string][]Need, error) { return parseNeeds(needsText) })

// parseNeeds parses the table; its head describes the format.
func parseNeeds(text string) (map[string][]Need, error) {
	table := map[string][]Need{}
	n := 0
	for line := range strings.Lines(text) {
		n++
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Fields(line)
		if len(fields) < 4 {
			return nil, fmt.Errorf("line %d has %d columns, want 4", n, len(fields))
		}
		need := Need{Kind: Kind(fields[1]), Reason: strings.Join(fields[3:], " ")}
		paths := strings.Split(fields[2], ",")
		switch need.Kind {
		case ReadNeed, WriteNeed, CacheNeed:
			for i, path := range paths {
				if need.Kind == CacheNeed {
					var variable string
					variable, path, _ = strings.Cut(path, "=")
					paths[i], need.Variables = path, append(need.Variables, variable)
				}
				if !strings.HasPrefix(path, "~/") && !filepath.IsAbs(path) {
					return nil, fmt.Errorf("line %d: %q is neither absolute nor below the home directory", n, path)
				}
			}
			need.Paths = paths
		case NetworkNeed, UnixSocketsNeed:
			if fields[2] != "-" {
				return nil, fmt.Errorf("line %d: %s has no items", n, need.Kind)
			}
		default:
			return nil, fmt.Errorf("line %d: %q is not a kind", n, need.Kind)
		}
		for program := range strings.SplitSeq(fields[0], ",") {
			table[program] = append(table[program], need)
		}
	}
	return table, nil
}

// runners run the program that their arguments name.
var runners = []string{"env", "nice", "ionice", "nohup", "stdbuf", "setsid", "timeout", "time", "sudo", "doas"}

// skipped matches arguments of runners.
var skipped = regexp.MustCompile(`^-|=|^[0-9.]+[smhd]?$`)

var versioned = regexp.MustCompile(`^(.*[^-.0-9])-?[0-9][0-9.]*$`)

// Needs returns the needs of the program of a command, in the order of the table.
// For a runner such as env they are those of the program that it runs.
func Needs(command []string) []Need {
	table, err := readNeeds()
	if err != nil {
		panic("sandbox: needs.txt: " + err.Error()) // a test parses the table
	}
	for i, word := range command {
		if i > 0 && skipped.MatchString(word) {
			continue
		}
		name := strings.TrimSuffix(filepath.Base(filepath.ToSlash(word)), ".exe")
		if slices.Contains(runners, name) {
			continue
		}
		if m := versioned.FindStringSubmatch(name); table[name] == nil && m != nil {
			name = m[1]
		}
		return table[name]
	}
	return nil
}
