package stdio

import (
	"fmt"
	"regexp"
	"strings"
)

// oneString is the hint for a command whose words stand in one string, which
// only a shell would part.
func oneString(name string) string {
	words := strings.Fields(name)
	if len(words) < 2 {
		return ""
	}
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = fmt.Sprintf("%q", w)
	}
	return fmt.Sprintf("no shell parts the words: write each for itself, command = [%s]", strings.Join(quoted, ", "))
}

// homeHint is the hint for a directory that begins with "~", which only a shell
// expands. Others have none.
func homeHint(dir string) string {
	_, rest, found := strings.Cut("/"+strings.ReplaceAll(dir, `\`, "/"), "/~/")
	if !found {
		return ""
	}
	return fmt.Sprintf(`only a shell knows "~": write "${env("HOME")}/%s"`, rest)
}

// unreachable are the ways in which package managers say that their registry
// cannot be reached, as npm, pnpm, uv and pip word them.
var unreachable = regexp.MustCompile(`npm (?:error|ERR!) code (?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ERR_SOCKET_TIMEOUT)` +
	`|ERR_PNPM_META_FETCH_FAIL` +
	`|(?i:failed to fetch: .?https?://\S+)` +
	`|(?i:failed to establish a new connection|temporary failure in name resolution|NewConnectionError)`)

// registryHint is the hint for a server whose program could not be downloaded.
func registryHint(lines []string) string {
	for _, line := range lines {
		switch {
		case unreachable.MatchString(line):
			return "its package could not be downloaded: check the network and the registry; behind a proxy, pass_env = [\"HTTP_PROXY\", \"HTTPS_PROXY\", \"NO_PROXY\"] lets the server know of it"
		case strings.Contains(line, "npm error code E404"), strings.Contains(line, "npm ERR! code E404"):
			return "the registry has no package of this name, or none that this user may see"
		}
	}
	return ""
}
