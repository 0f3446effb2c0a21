package discover

import (
	"slices"
	"strings"
)

// How a command's name sounds. It decides only in which order commands are
// tried out, and which are left alone while it is not known how they take it.
const (
	harmless = iota
	unknown
	writing
	drastic
	fatal
)

var sounds = map[int][]string{
	harmless: {
		"list", "ls", "show", "status", "info", "get", "version", "describe", "view", "log", "logs", "search", "find",
		"print", "cat", "check", "diff", "inspect", "query", "stat", "stats", "which", "explain", "whoami", "env", "doctor", "help",
	},
	writing: {
		"add", "apply", "build", "clean", "clear", "commit", "copy", "cp", "create", "disable", "edit", "enable", "exec", "import", "init",
		"install", "kill", "login", "logout", "move", "mv", "patch", "pull", "push", "put", "rename", "replace", "reset", "restart",
		"restore", "rollback", "run", "save", "send", "set", "start", "stop", "switch", "sync", "test", "update", "upgrade", "upload", "write",
	},
	drastic: {
		"delete", "deploy", "drop", "erase", "exit", "format", "prune", "publish", "purge", "release", "remove", "rm", "rmdir",
		"terminate", "truncate", "uninstall", "unregister",
	},
	fatal: {
		"destroy", "emergency", "factory-reset", "halt", "hibernate", "kexec", "nuke", "poweroff", "reboot", "rescue",
		"self-destruct", "shutdown", "suspend", "wipe",
	},
}

// risk is the most that any part of a name sounds like.
func risk(name string) int {
	name = strings.ToLower(name)
	parts := append(strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("-_.:", r) }), name)
	for _, level := range []int{fatal, drastic, writing, harmless} {
		if slices.ContainsFunc(parts, func(p string) bool { return slices.Contains(sounds[level], p) }) {
			return level
		}
	}
	return unknown
}
