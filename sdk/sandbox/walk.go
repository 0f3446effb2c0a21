package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// maxWalked bounds the links of a path that Walk follows.
const maxWalked = 40

// Walk follows the symbolic links of an absolute path, each read once and in its real
// directory. It returns what the path leads to, which need not exist, and what decides that: the
// links, and the directories that the target of a link enters and leaves again by "..". On
// Windows it names no single link. The result is that of one moment.
func Walk(path string) (real string, links []string, err error) {
	if runtime.GOOS == "windows" {
		if real = Resolve(path); real != filepath.Clean(path) {
			links = []string{path}
		}
		return real, links, nil
	}
	const root = string(filepath.Separator)
	real = root
	rest := strings.Split(filepath.Clean(path), root)
	for len(rest) > 0 {
		if rest[0] == ".." && len(links) > 0 && !Within(links[len(links)-1], real) {
			links = append(links, real)
		}
		next := filepath.Join(real, rest[0])
		rest = rest[1:]
		target, err := os.Readlink(next)
		if err != nil {
			real = next
			continue
		}
		if links = append(links, next); len(links) > maxWalked {
			return "", nil, fmt.Errorf("%s leads through too many links", path)
		}
		if filepath.IsAbs(target) {
			real = root
		}
		rest = append(strings.Split(target, root), rest...)
	}
	return real, links, nil
}
