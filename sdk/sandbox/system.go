package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// systemDirs hold the programs, libraries and settings of the system. They have
// nothing of a person.
var systemDirs = []string{
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/etc", "/nix/store", "/gnu/store", "/snap",
	"/run/current-system", "/sys/devices", "/sys/class", "/sys/block", "/sys/bus", "/sys/dev", "/sys/fs", "/sys/module",
	"/sys/kernel/mm", "/var/cache/fontconfig", "/var/cache/man", "/var/lib/terminfo", "/var/lib/dpkg", "/var/lib/rpm",
}

// Unchanged are the directories that hold what the machine runs and remembers, and those of
// PATH. A program whose arguments may be paths anywhere changes nothing in them.
func Unchanged(path string) []string {
	all := append([]string{"/boot", "/efi", "/dev", "/proc", "/sys", "/run"}, systemDirs...)
	for _, dir := range filepath.SplitList(path) {
		if filepath.IsAbs(dir) {
			all = append(all, filepath.Clean(dir))
		}
	}
	entries, _ := os.ReadDir("/var") // if it cannot be listed, nothing in it is granted either
	for _, e := range entries {
		if name := e.Name(); name != "tmp" && name != "home" {
			all = append(all, filepath.Join("/var", name))
		}
	}
	return present(all)
}

// resolverFiles are read to look up names; some systems have links to them in
// /etc.
var resolverFiles = []string{"/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager/resolv.conf"}

// Devices are the devices that programs use as files.
var Devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}

// System returns what every program may read: the system's directories without
// the credentials in them, and the facts about the machine in /proc. Other
// processes are not among them.
var System = sync.OnceValue(func() []string {
	var all []string
	secrets := append(readable(systemSecrets), closed(os.Geteuid(), configured)...)
	for _, dir := range systemDirs {
		if g, err := Around(dir, secrets); err == nil {
			all = append(all, g.Paths...)
		}
	}
	return outermost(append(all, facts()...))
})

// configured are the system's directories in which passwords and keys are kept, readable by
// the superuser alone.
var configured = []string{"/etc", "/usr/local/etc", "/opt"}

// maxClosed bounds the entries of a directory that closed looks at.
const maxClosed = 20_000

// closed returns what in the directories only some users may read, if the user is the
// superuser, whom modes do not stop. A wrapped program of the superuser may read of the
// system what everybody may.
func closed(user int, dirs []string) []string {
	if user != 0 {
		return nil
	}
	var all []string
	for _, dir := range dirs {
		left := maxClosed
		_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if left--; left < 0 {
				return fs.SkipAll
			}
			if err != nil || e.Type()&fs.ModeSymlink != 0 {
				return nil
			}
			info, err := e.Info()
			switch {
			case err != nil:
			case e.IsDir() && info.Mode()&0o005 != 0o005:
				all = append(all, path)
				return fs.SkipDir
			case !e.IsDir() && info.Mode()&0o004 == 0:
				all = append(all, path)
			}
			return nil
		})
	}
	return all
}

// outermost returns the paths that lie in no other of the paths, once each.
func outermost(paths []string) []string {
	slices.Sort(paths)
	var all []string
	for _, path := range paths {
		if !slices.ContainsFunc(all, func(p string) bool { return p == path || Within(path, p) }) {
			all = append(all, path)
		}
	}
	return all
}

// Resolver returns what a program with a network reads to look up names.
func Resolver() []string { return resolverFiles }

// readable returns the paths that this user can open. The others need no rule.
func readable(paths []string) []string {
	var all []string
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			continue
		}
		if !info.IsDir() {
			f, err := os.Open(path)
			if err != nil {
				continue
			}
			_ = f.Close()
		} else if _, err := os.ReadDir(path); err != nil {
			continue
		}
		all = append(all, path)
	}
	return all
}

// facts returns the entries of /proc that are about the machine or the program
// itself.
func facts() []string {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	all := []string{"/proc/self"}
	for _, e := range entries {
		name := e.Name()
		switch {
		case strings.Trim(name, "0123456789") == "", name == "kcore", name == "kmsg", name == "keys",
			name == "key-users", e.Type()&os.ModeSymlink != 0:
		default:
			all = append(all, "/proc/"+name)
		}
	}
	return all
}
