package wall

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/junctor-mcp/junctor/sdk/sandbox"
)

const (
	// maxNamed bounds the entries that are compared with files which have several names.
	maxNamed = 500_000
	// maxMounts bounds what is read of the list of mounts, in bytes.
	maxMounts = 1 << 20
)

// aliases returns other names that files have in a directory: behind mounts of the directories
// above them, and by hard links. The kernel's rules are about files, not about names. A
// directory that is shut may hold others, so it counts as one. It fails where there are too many
// entries.
func aliases(files []string, dir string) ([]string, error) {
	all := mounted(files, append(mountsIn(dir), dir))
	hard, err := linked(files, dir)
	return append(all, hard...), err
}

// mounted returns the names of files behind directories that are one of those above them.
func mounted(files, dirs []string) (all []string) {
	known := map[string]os.FileInfo{}
	info := func(dir string) os.FileInfo {
		if _, ok := known[dir]; !ok {
			known[dir], _ = os.Stat(dir)
		}
		return known[dir]
	}
	for _, file := range files {
		for above := filepath.Dir(file); ; above = filepath.Dir(above) {
			for _, dir := range dirs {
				if a, d := info(above), info(dir); above != dir && a != nil && d != nil && os.SameFile(a, d) {
					all = append(all, filepath.Join(dir, strings.TrimPrefix(file, above)))
				}
			}
			if above == filepath.Dir(above) {
				break
			}
		}
	}
	return all
}

// mountsIn returns the mount points below a directory.
func mountsIn(dir string) (all []string) {
	file, err := os.Open("/proc/thread-self/mountinfo")
	if err != nil {
		return nil
	}
	defer file.Close()
	lines := bufio.NewScanner(io.LimitReader(file, maxMounts))
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 5 {
			continue
		}
		if at := unescape(fields[4]); sandbox.Within(at, dir) {
			all = append(all, at)
		}
	}
	return all
}

// unescape replaces the octal escapes of a path in the list of mounts, such as \040.
func unescape(path string) string {
	var b strings.Builder
	for i := 0; i < len(path); i++ {
		if path[i] == '\\' && i+4 <= len(path) {
			if code, err := strconv.ParseUint(path[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(code))
				i += 3
				continue
			}
		}
		b.WriteByte(path[i])
	}
	return b.String()
}

// linked returns the hard links below a directory to those of the files that have several
// names, and the directories in which they may be.
func linked(files []string, dir string) (all []string, err error) {
	type inode struct{ device, number uint64 }
	several := map[inode]bool{}
	one := ""
	for _, file := range files {
		if at, links := inodeOf(file); links > 1 {
			several[inode(at)], one = true, file
		}
	}
	if len(several) == 0 {
		return nil, nil
	}
	left := maxNamed
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if left--; left < 0 {
			return fmt.Errorf(
				"it has more than %d entries, too many to look for other names of %s, which has several hard links",
				maxNamed, one,
			)
		}
		if errors.Is(err, fs.ErrPermission) {
			all = append(all, path)
		}
		if err != nil || !e.Type().IsRegular() || slices.Contains(files, path) {
			return nil
		}
		if at, links := inodeOf(path); links > 1 && several[inode(at)] {
			all = append(all, path)
		}
		return nil
	})
	return all, err
}

// inodeOf returns the identity of a regular file, and how many names it has; 0 if it is none.
func inodeOf(path string) (at struct{ device, number uint64 }, links uint64) {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return at, 0
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return at, 0
	}
	at.device, at.number = uint64(stat.Dev), stat.Ino
	return at, uint64(stat.Nlink) // its size differs between machines
}
