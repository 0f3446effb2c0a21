package launcher

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/junctor-mcp/junctor/host/lazyregexp"
)

// npxEntry matches the directory of an npx cache entry, whose name is a hash. The
// path is quoted, follows npm's word "path" or "dest", or is bare. The text comes
// from the server, so no other path may be suggested for removal.
var npxEntry = []*lazyregexp.Regexp{
	lazyregexp.New(`['"]((?:/|[A-Za-z]:[/\\])[^'"]*[/\\]_npx[/\\][0-9a-f]{8,64})[/\\'"]`),
	lazyregexp.New(`^npm (?:error|ERR!) (?:path|dest) ((?:/|[A-Za-z]:[/\\]).*[/\\]_npx[/\\][0-9a-f]{8,64})(?:[/\\]|$)`),
	lazyregexp.New(`((?:/|[A-Za-z]:[/\\])[^\s'"()]*[/\\]_npx[/\\][0-9a-f]{8,64})(?:[/\\\s'"]|$)`),
}

var (
	noModule = lazyregexp.New(`MODULE_NOT_FOUND|Cannot find (?:module|package) `)
	npmCode  = lazyregexp.New(
		`^npm (?:error|ERR!) code (EEXIST|ENOTEMPTY|ECOMPROMISED|ENOENT|EINTEGRITY|EJSONPARSE)\b`,
	)
	npmLock   = lazyregexp.New(`(?i)^npm (?:warn|error|ERR!).*\block`)
	noProgram = lazyregexp.New(`^sh: (?:\d+: |line \d+: )?[^:]+: (?:command )?not found$`)
	npmCache  = lazyregexp.New(`[/\\]_cacache[/\\]`)
	uvLock    = lazyregexp.New(
		"(?i)(?:fail(?:ed)?|could not|unable) to acquire .*lock|waiting for lock|failed to lock",
	)
	uvCacheOf  = lazyregexp.New("[`'\"]((?:/|[A-Za-z]:[/\\\\])[^`'\"]*?[/\\\\]uv)[/\\\\][^`'\"]*[`'\"]")
	uvFailed   = lazyregexp.New(`(?i)^\s*(?:error|× |├|╰|caused by)|failed to`)
	plainPath  = lazyregexp.New(`^[A-Za-z0-9_./:\\~+@-]+$`)
	quotedPath = lazyregexp.New(`^[ -~]+$`)
)

// Diagnose explains the last stderr lines of a launcher whose start failed, and
// returns a hint. Both results are empty if the cause is unknown.
func Diagnose(launcher string, stderr []string) (meaning, hint string) {
	switch name, _, _ := strings.Cut(launcher, " "); name {
	case "npx", "npm":
		return diagnoseNpx(stderr)
	case "uvx", "uv":
		return diagnoseUv(stderr)
	}
	return "", ""
}

func diagnoseNpx(stderr []string) (meaning, hint string) {
	broken, shared, entry := "", false, ""
	cached := strings.Contains(strings.Join(stderr, "\n"), "_npx") // the error concerns the cache
	for _, line := range stderr {
		if e := cacheEntry(line); e != "" {
			entry = e
		}
		shared = shared || npmCache.MatchString(line)
		switch m := npmCode.FindStringSubmatch(line); {
		case m != nil && (cached || shared || m[1] != "ENOENT"):
			broken = "npm failed with " + m[1]
		case broken != "":
		case noProgram.MatchString(line):
			broken = "npx did not find the program that it had installed"
		case noModule.MatchString(line) && cacheEntry(line) != "":
			broken = "a module is missing in what npx had installed"
		case npmLock.MatchString(line):
			broken = "npx could not use a lock"
		}
	}
	switch {
	case broken == "":
		return "", ""
	case entry != "":
		return broken + ": its cache entry " + entry + " is broken or in use",
			"wait for other starts of the package to end, then remove the entry: " + removal(entry)
	case shared:
		return broken + ": its cache is broken or in use", "check the cache: `npm cache verify`"
	}
	return broken + ": its cache is broken or in use", "remove npx's cache: `rm -rf \"$(npm config get cache)/_npx\"`"
}

// cacheEntry returns the npx cache entry in a line, or "".
func cacheEntry(line string) string {
	line = strings.ReplaceAll(line, "file://", "")
	for _, r := range npxEntry {
		if m := r.FindStringSubmatch(line); m != nil && quotedPath.MatchString(m[1]) && !strings.Contains(m[1], "..") {
			return m[1]
		}
	}
	return ""
}

func diagnoseUv(stderr []string) (meaning, hint string) {
	locked, dir := false, ""
	for _, line := range stderr {
		lock := uvLock.MatchString(line)
		locked = locked || lock
		if m := uvCacheOf.FindStringSubmatch(line); m != nil && (lock || uvFailed.MatchString(line)) {
			dir = m[1]
		}
	}
	where := "uv's cache"
	if dir != "" {
		where += " " + dir
	}
	switch {
	case locked:
		return where + " is locked by another process",
			"wait for other uv processes to end; `uv cache clean` clears " + where
	case dir != "":
		return where + " may be broken", "clear it: `uv cache clean`"
	}
	return "", ""
}

// removal returns a shell command, in backquotes, that removes a directory.
func removal(dir string) string {
	if runtime.GOOS == "windows" {
		return fmt.Sprintf("`rmdir /s /q \"%s\"`", filepath.FromSlash(dir))
	}
	if plainPath.MatchString(dir) {
		return "`rm -rf " + dir + "`"
	}
	return "`rm -rf '" + strings.ReplaceAll(dir, "'", `'\''`) + "'`"
}
