package condition

import (
	"net/url"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/junctor-mcp/junctor/host/lazyregexp"
)

// LikeURI reports whether a URI matches a glob in every spelling: as it is written, and in
// its normal form. A rule that allows uses it: a server may read the spelling of another
// resource as that resource. A URI with a segment ".." or "." matches nothing: what it stands for
// differs between servers. Package policy calls it for each decision about a resource; it is pure.
func LikeURI(uri, glob string) bool {
	return Like(uri, glob) && Like(normalURI(uri), normalURI(glob)) && !hasDots(uri)
}

// hasDots reports whether a URI has a segment "." or ".." in any spelling.
func hasDots(uri string) bool {
	for segment := range strings.FieldsFuncSeq(decoded(uri),
		func(r rune) bool { return strings.ContainsRune(`/\;?#:`, r) }) {
		if segment == "." || segment == ".." {
			return true
		}
	}
	return false
}

// LikeAnyURI reports whether a URI matches a glob in any spelling, also where the case of
// letters makes no difference. Each rule that does not allow uses it.
func LikeAnyURI(uri, glob string) bool {
	if Like(uri, glob) {
		return true
	}
	pattern := normalURI(glob)
	for _, reading := range readings(uri) {
		normal := normalURI(reading)
		if Like(normal, pattern) || Like(strings.ToLower(normal), strings.ToLower(pattern)) {
			return true
		}
	}
	return false
}

// readings returns a URI as servers may read it: as it is; without parameters of segments; up
// to a NUL; with a host without its final dot; and with a host that is the first segment of the
// path.
func readings(uri string) []string {
	plain := strings.ReplaceAll(decoded(uri), `\`, "/")
	all := []string{uri, parameters.ReplaceAllString(plain, "")}
	if before, _, cut := strings.Cut(plain, "\x00"); cut {
		all = append(all, before)
	}
	scheme, rest, ok := strings.Cut(plain, "://")
	if !ok {
		return all
	}
	host, path, _ := strings.Cut(rest, "/")
	all = append(all, scheme+"://"+strings.TrimRight(host, ".")+"/"+path)
	return append(all, scheme+"://"+strings.TrimPrefix(cleanPath("/"+rest), "/"))
}

// parameters matches the parameters of a segment: ;x=1.
var parameters = lazyregexp.New(`;[^/\\]*`)

// decoded returns a text without escapes.
func decoded(text string) string {
	for range maxEscapes {
		once := unescape(text)
		if once == text {
			break
		}
		text = once
	}
	return text
}

// maxEscapes bounds how often escapes are decoded: a server may decode what a proxy has
// decoded.
const maxEscapes = 5

// normalURI returns the form that the spellings of a URI have in common: decoded escapes,
// forward slashes, no empty, "." or ".." segments, Unicode normal form C, and a scheme and
// host in lower case. The query of a web address stays as it is; elsewhere ? and # are part
// of the path, as a server may take them.
func normalURI(uri string) string {
	scheme, rest, ok := strings.Cut(uri, ":")
	if !ok {
		return uri
	}
	scheme = strings.ToLower(scheme)
	query := ""
	if scheme == "http" || scheme == "https" {
		if i := strings.IndexAny(rest, "?#"); i >= 0 {
			rest, query = rest[:i], rest[i:]
		}
	}
	rest = norm.NFC.String(strings.ReplaceAll(decoded(rest), `\`, "/"))
	host := ""
	if after, ok := strings.CutPrefix(rest, "//"); ok {
		i := strings.IndexByte(after, '/')
		if i < 0 {
			i = len(after)
		}
		host, rest = strings.ToLower(after[:i]), after[i:]
		if scheme == "file" && host == "localhost" {
			host = ""
		}
		host = "//" + host
	} else if scheme == "file" && strings.HasPrefix(rest, "/") {
		host = "//"
	}
	return scheme + ":" + host + cleanPath(rest) + query
}

// cleanPath resolves the segments "." and ".." and leaves out empty ones, but for one "/" at
// each end.
func cleanPath(path string) string {
	var kept []string
	segments := strings.Split(path, "/")
	for _, s := range segments {
		switch s {
		case "", ".":
		case "..":
			kept = kept[:max(len(kept)-1, 0)]
		default:
			kept = append(kept, s)
		}
	}
	clean := strings.Join(kept, "/")
	if strings.HasPrefix(path, "/") {
		clean = "/" + clean
	}
	if last := segments[len(segments)-1]; len(segments) > 1 && len(kept) > 0 &&
		(last == "" || last == "." || last == "..") {
		clean += "/"
	}
	return clean
}

// unescape decodes the valid escapes of a text, but for that of "*", which would become part
// of a pattern.
func unescape(text string) string {
	if !strings.Contains(text, "%") {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) && !strings.EqualFold(text[i:i+3], "%2a") {
			if one, err := url.PathUnescape(text[i : i+3]); err == nil {
				b.WriteString(one)
				i += 2
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}
