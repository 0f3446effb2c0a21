package stdio

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// oneString returns a hint for a command written as one string with several
// words, which no shell splits.
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

// homeHint returns a hint for a directory that contains "~", which only a shell
// expands. It is empty for other directories.
func homeHint(dir string) string {
	_, rest, found := strings.Cut("/"+strings.ReplaceAll(dir, `\`, "/"), "/~/")
	if !found {
		return ""
	}
	return fmt.Sprintf(`only a shell knows "~": write "${env("HOME")}/%s"`, rest)
}

// unreachable matches the messages of npm, pnpm, uv and pip about a registry
// that cannot be reached.
var unreachable = regexp.MustCompile(
	`npm (?:error|ERR!) code (?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ERR_SOCKET_TIMEOUT)` +
		`|ERR_PNPM_META_FETCH_FAIL` +
		`|(?i:failed to fetch: .?https?://\S+)` +
		`|(?i:failed to establish a new connection|temporary failure in name resolution|NewConnectionError)`,
)

// wrongCertificate matches the messages of npm, uv, pip, Node and curl about a certificate whose
// authority they do not know.
var wrongCertificate = regexp.MustCompile(
	`UNABLE_TO_GET_ISSUER_CERT|UNABLE_TO_VERIFY_LEAF_SIGNATURE|SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT` +
		`|(?i:invalid peer certificate|certificate verify failed|unable to get local issuer certificate|self[- ]signed certificate)`,
)

// registryHint returns a hint for a server whose package could not be
// downloaded.
func registryHint(lines []string) string {
	if slices.ContainsFunc(lines, wrongCertificate.MatchString) {
		return "a certificate is not trusted, as behind a proxy that replaces certificates: set SSL_CERT_FILE, for Node NODE_EXTRA_CA_CERTS, " +
			"to a file with the certificate of the proxy's authority, where junctor starts or in env of the transport"
	}
	for _, line := range lines {
		switch {
		case unreachable.MatchString(line):
			return "its package could not be downloaded: check the network and the registry; behind a proxy, pass_env = [\"HTTP_PROXY\", \"HTTPS_PROXY\", \"NO_PROXY\"] lets the server know of it"
		case strings.Contains(line, "npm error code E404"), strings.Contains(line, "npm ERR! code E404"):
			return "the registry has no package of this name, or none that this user may see"
		case strings.Contains(line, "npm error code ETARGET"), strings.Contains(line, "npm ERR! code ETARGET"):
			return "the registry has the package, but not this version: write another one behind the @, or none"
		}
	}
	return ""
}
