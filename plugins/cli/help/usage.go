package help

import (
	"regexp"
	"strings"
)

const (
	maxUsages   = 128
	maxUsageLen = 64 << 10
)

// usageLine reports whether a line begins the usage, and returns the rest of
// the line.
func usageLine(body string) (rest string, ok bool) {
	low := strings.ToLower(body)
	for _, word := range []string{"usage:", "usage :", "synopsis:", "syntax:"} {
		if strings.HasPrefix(low, word) {
			return strings.TrimLeft(body[len(word):], " \t"), true
		}
	}
	return "", bareUsage(body)
}

// summaryOf reports whether line i is the heading "Summary:" above a call of the
// program.
func summaryOf(lines []line, i int, program string) bool {
	return program != "" && strings.EqualFold(lines[i].text, "summary:") && i+1 < len(lines) && !lines[i+1].blank() &&
		firstWord(lines[i+1].body()) == program
}

// bareUsage reports whether a line is a heading above usage lines.
func bareUsage(body string) bool {
	low := strings.TrimRight(strings.ToLower(strings.TrimSpace(body)), ": ")
	return low == "usage" || low == "synopsis" || strings.HasSuffix(low, ". usage") ||
		strings.HasSuffix(low, ".  usage") || strings.HasPrefix(low, "## usage")
}

// A gatherer collects the usages of a program.
type gatherer struct {
	program string // the first word of the first usage
	usages  []string
	indent  int  // of the first usage
	depth   int  // number of open brackets
	foreign bool // the current line calls another program of the same man page
	size    int
}

// gather returns the usages in a text and blanks their lines, so that they are
// not parsed as options. skipped are texts in the place of a usage that are
// none.
func gather(lines []line, program string) (all, skipped []string) {
	for i := 0; i < len(lines) && len(all) < maxUsages; i++ {
		l := lines[i]
		if l.blank() || l.dashed() {
			continue
		}
		rest, ok := usageLine(l.body())
		if ok = ok || summaryOf(lines, i, program); !ok {
			continue
		}
		g := &gatherer{indent: l.indent}
		if rest != "" {
			g.begin(unnumbered(rest))
			g.indent = len(l.text) - len(rest)
			lines[i] = line{}
		}
		i = g.follow(lines, i+1, l.indent, rest != "") - 1
		all = append(all, g.usages...)
	}
	if len(all) == 0 {
		all = unmarked(lines, program)
	}
	calls := all[:0]
	for _, u := range all {
		if u = onlyCall(u, program); sentence(u) {
			skipped = append(skipped, u)
			continue
		}
		calls = append(calls, u)
	}
	return calls, skipped
}

// follow reads the lines of a usage from line i on. It returns the index of the
// first line that is not part of it.
func (g *gatherer) follow(lines []line, i, margin int, inline bool) int {
	for ; i < len(lines) && len(g.usages) < maxUsages && g.size < maxUsageLen; i++ {
		l := lines[i]
		switch {
		case l.blank():
			if !g.over(lines, i, margin, inline) {
				continue
			}
			return i
		case g.depth == 0 && g.program != "" && describedBelow(lines, i):
			return i
		case !g.accept(l, margin, inline):
			if !g.describes(lines, i) {
				return i
			}
		}
		lines[i] = line{}
	}
	return i
}

// describes reports whether line i explains the usage above it, and another
// usage follows.
func (g *gatherer) describes(lines []line, i int) bool {
	if g.program == "" || g.depth > 0 || lines[i].indent <= g.indent || lines[i].dashed() {
		return false
	}
	for next := i + 1; next < len(lines) && next < i+8; next++ {
		switch l := lines[next]; {
		case l.blank():
		case l.indent > g.indent && !l.dashed():
		default:
			return l.indent == g.indent && firstWord(l.body()) == g.program
		}
	}
	return false
}

// describedBelow reports whether line i is an option with its description on the
// next line, as packages of Go print them, and not a part of the usage.
func describedBelow(lines []line, i int) bool {
	if !lines[i].dashed() || i+1 == len(lines) || lines[i+1].blank() || lines[i+1].dashed() {
		return false
	}
	below := lines[i+1]
	return below.indent > lines[i].indent && letter(below.body()[0]) && words(below.body()) > 1 && fits(lines[i].body())
}

// over reports whether the usage ends at the blank line i.
func (g *gatherer) over(lines []line, i, margin int, inline bool) bool {
	for next := i + 1; next < len(lines) && next < i+3; next++ {
		if l := lines[next]; !l.blank() {
			if g.program == "" {
				return l.dashed()
			}
			// A synopsis may continue in parts with a heading above each.
			label := !inline && l.indent > margin && strings.HasSuffix(l.text, ":") ||
				!inline && l.indent == g.indent && strings.IndexByte("[{<", l.body()[0]) >= 0
			called := firstWord(l.body()) == g.program &&
				(max(l.indent, g.indent)-min(l.indent, g.indent) < 3 || !inline && l.indent > margin)
			return !label && !called
		}
	}
	return true
}

// accept adds a line to the usage, or returns false if it is not part of it.
func (g *gatherer) accept(l line, margin int, inline bool) bool {
	body := unnumbered(l.body())
	if ruled(body) {
		return false
	}
	if alt, ok := otherUsage(body); ok {
		g.begin(alt)
		return true
	}
	if g.program == "" {
		if l.indent > margin && strings.HasSuffix(body, ":") {
			return true
		}
		if l.dashed() || strings.HasSuffix(body, ":") ||
			longestRun(calledOnly(body)) > 3 && !strings.HasSuffix(body, " [flags]") {
			return false
		}
		g.indent = l.indent
		g.begin(body)
		return true
	}
	first := firstWord(strings.TrimPrefix(body, "$ "))
	if g.foreign = g.foreign && l.indent > g.indent || g.another(l, first, margin, inline); g.foreign {
		return true
	}
	switch {
	case first == g.program && g.depth == 0 && longestRun(calledOnly(body)) < 5:
		g.begin(body)
	case remark(body):
	case !inline && g.depth == 0 && l.indent > margin && strings.HasSuffix(body, ":"):
	case g.depth > 0 && l.indent > margin:
		g.add(body)
	case !inline && l.indent > margin && strings.IndexByte("[<", body[0]) >= 0:
		g.add(body)
	case l.indent <= margin && inline || l.indent < g.indent && !inline || l.indent == margin:
		return false
	case !callLike(body), labelled(body):
		return false
	default:
		g.add(body)
	}
	return true
}

var numberedUsage = regexp.MustCompile(`^[1-9]\. +`)

// unnumbered removes the number before a usage: "2. log URL".
func unnumbered(body string) string { return body[len(numberedUsage.FindString(body)):] }

// another reports whether a line of a synopsis calls another program, which the
// same man page describes.
func (g *gatherer) another(l line, first string, margin int, inline bool) bool {
	return !inline && g.depth == 0 && l.indent == g.indent && l.indent > margin && first != g.program &&
		lowerForm.MatchString(first) && strings.Contains(l.body(), " [")
}

// otherUsage removes the word "or" at the start of another usage.
func otherUsage(body string) (string, bool) {
	low := strings.ToLower(body)
	for _, or := range []string{"or: ", "or  ", "or:\t", "or\t"} {
		if strings.HasPrefix(low, or) {
			return strings.TrimSpace(body[len(or):]), true
		}
	}
	return "", false
}

// begin starts a further usage.
func (g *gatherer) begin(s string) {
	s = calledOnly(strings.TrimPrefix(s, "$ "))
	if g.program == "" {
		g.program = firstWord(s)
	}
	g.depth, g.size = opened(s), g.size+len(s)
	g.usages = append(g.usages, s)
}

// add continues the current usage.
func (g *gatherer) add(s string) {
	s = calledOnly(s)
	last := len(g.usages) - 1
	g.usages[last] += " " + s
	g.depth, g.size = g.depth+opened(s), g.size+len(s)
}

// opened returns the number of brackets that are still open at the end of s.
func opened(s string) int {
	return strings.Count(s, "[") - strings.Count(s, "]") + strings.Count(s, "{") - strings.Count(s, "}")
}

// calledOnly removes a description after a usage.
func calledOnly(s string) string {
	for start, end := gap(s, 0); start >= 0; start, end = gap(s, end) {
		if words(s[end:]) >= 2 || strings.HasPrefix(s[end:], "# ") || strings.HasPrefix(s[end:], "=> ") {
			return s[:start]
		}
	}
	if cut, _, ok := strings.Cut(s, " # "); ok {
		return cut
	}
	return s[:explanation(s)]
}

// explanation returns the index of a dash or a colon and the sentence behind it,
// as in "app [OPTION...] - does this", or the length of s.
func explanation(s string) int {
	for _, sep := range []string{" - ", " : "} {
		for at := strings.Index(s, sep); at > 0; {
			rest := s[at+len(sep):]
			if opened(s[:at]) == 0 && rest != "" && letter(rest[0]) &&
				(len(strings.Fields(rest)) > 1 || strings.HasSuffix(s[:at], "...]")) &&
				!strings.ContainsAny(rest, "[]{}|") {
				return at
			}
			next := strings.Index(rest, sep)
			if next < 0 {
				break
			}
			at += len(sep) + next
		}
	}
	return len(s)
}

// longestRun returns the largest number of consecutive plain words in s.
func longestRun(s string) int {
	most, n := 0, 0
	for _, w := range strings.Fields(s) {
		if n++; strings.Trim(strings.ToLower(w), "abcdefghijklmnopqrstuvwxyz',.") != "" ||
			shouted(w) && len(w) > 1 || camelCase(w) {
			n = 0
		}
		most = max(most, n)
	}
	return most
}

// camelCase reports whether a word is one such as inFile or pageNr, which no
// sentence has.
func camelCase(w string) bool {
	return w != "" && w[0] >= 'a' && w[0] <= 'z' && strings.ToLower(w) != w
}

// words returns the number of plain words at the start of s.
func words(s string) int {
	n := 0
	for _, w := range strings.Fields(s) {
		if strings.Trim(strings.ToLower(w), "abcdefghijklmnopqrstuvwxyz'") != "" || shouted(w) && len(w) > 1 {
			break
		}
		n++
	}
	return n
}

// callLike reports whether a line can continue a usage: it has arguments and no
// sentence.
func callLike(body string) bool {
	if sp, left, ok := readSpec(body, false); ok && len(sp.names) > 0 &&
		(words(left) > 1 || explained(body, left) || strings.HasPrefix(left, "- ") && words(left[2:]) > 0) {
		return false
	}
	if longestRun(body) > 3 || body[0] >= 'A' && body[0] <= 'Z' && strings.HasSuffix(body, ".") &&
		!strings.HasSuffix(body, "..") && words(body) > 0 {
		return false
	}
	if strings.IndexByte("[<({-|.", body[0]) >= 0 {
		return words(strings.TrimLeft(body, "([{<-| ")) < 4
	}
	return words(body) < 3 && !strings.HasSuffix(body, ":") && !capitalized(body)
}

// capitalized reports whether a line is a heading such as "Listing options":
// plain words of which the first has a capital and the others have none.
func capitalized(body string) bool {
	fields := strings.Fields(body)
	return len(fields) == words(body) && len(fields) > 0 && fields[0][0] >= 'A' && fields[0][0] <= 'Z'
}

// explained reports whether left, the end of body, is a description in a
// separate column, as in "-d, --data <data>   HTTP POST data".
func explained(body, left string) bool {
	return len(strings.Fields(left)) > 1 && letter(left[0]) && strings.HasSuffix(body, "  "+left) &&
		!strings.ContainsAny(left, "[<{|")
}

func firstWord(s string) string {
	f := strings.Fields(s)
	if len(f) == 0 {
		return ""
	}
	return f[0]
}

// unmarked finds a usage without a heading near the top of the text.
func unmarked(lines []line, program string) []string {
	seen := 0
	for i, l := range lines {
		if l.blank() {
			continue
		}
		if seen++; seen > 6 && (seen > 25 || l.indent > 0) {
			continue
		}
		if hasWord(strings.ToLower(l.body()), []string{"example", "examples"}) {
			return nil
		}
		rest, ok := strings.CutPrefix(l.body(), program+" ")
		if rest = strings.TrimSpace(rest); !ok || program == "" || rest == "" ||
			strings.IndexByte("[<{", rest[0]) < 0 || strings.HasPrefix(rest, "- ") || strings.HasPrefix(rest, "-- ") {
			continue
		}
		g := &gatherer{indent: l.indent}
		g.begin(l.body())
		lines[i] = line{}
		g.follow(lines, i+1, l.indent, true)
		return g.usages
	}
	return nil
}
