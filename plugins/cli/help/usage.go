package help

import "strings"

const (
	maxUsages   = 128
	maxUsageLen = 64 << 10
)

// usageLine says whether a line begins the usage, and gives what follows the
// word in the same line.
func usageLine(body string) (rest string, ok bool) {
	low := strings.ToLower(body)
	for _, word := range []string{"usage:", "usage :", "synopsis:", "syntax:"} {
		if strings.HasPrefix(low, word) {
			return strings.TrimLeft(body[len(word):], " \t"), true
		}
	}
	return "", bareUsage(body)
}

// bareUsage says whether a line is a heading of usage lines.
func bareUsage(body string) bool {
	low := strings.TrimRight(strings.ToLower(strings.TrimSpace(body)), ": ")
	return low == "usage" || low == "synopsis" || strings.HasSuffix(low, ". usage") || strings.HasSuffix(low, ".  usage") || strings.HasPrefix(low, "## usage")
}

// A gatherer collects the ways in which a program is called.
type gatherer struct {
	program string // the first word of the first usage
	usages  []string
	indent  int // of the first usage
	depth   int // brackets that are open
	size    int
}

// gather takes the usage lines out of the text: they are replaced by blank
// lines, so that nothing reads them as options.
func gather(lines []line, program string) []string {
	var all []string
	for i := 0; i < len(lines) && len(all) < maxUsages; i++ {
		l := lines[i]
		if l.blank() || l.dashed() {
			continue
		}
		rest, ok := usageLine(l.body())
		if !ok {
			continue
		}
		g := &gatherer{indent: l.indent}
		if rest != "" {
			g.begin(rest)
			g.indent = len(l.text) - len(rest)
			lines[i] = line{}
		}
		i = g.follow(lines, i+1, l.indent, rest != "") - 1
		all = append(all, g.usages...)
	}
	if len(all) == 0 {
		all = unmarked(lines, program)
	}
	return all
}

// follow reads the lines below and gives the first that is no usage.
func (g *gatherer) follow(lines []line, i, margin int, inline bool) int {
	for ; i < len(lines) && len(g.usages) < maxUsages && g.size < maxUsageLen; i++ {
		l := lines[i]
		switch {
		case l.blank():
			if !g.over(lines, i, margin, inline) {
				continue
			}
			return i
		case !g.accept(l, margin, inline):
			return i
		}
		lines[i] = line{}
	}
	return i
}

// over says whether the usage ends at the blank line i.
func (g *gatherer) over(lines []line, i, margin int, inline bool) bool {
	for next := i + 1; next < len(lines) && next < i+3; next++ {
		if l := lines[next]; !l.blank() {
			if g.program == "" {
				return l.dashed()
			}
			// A synopsis may go on in parts, with a word above each.
			label := !inline && l.indent > margin && strings.HasSuffix(l.text, ":")
			called := firstWord(l.body()) == g.program && (max(l.indent, g.indent)-min(l.indent, g.indent) < 3 || !inline && l.indent > margin)
			return !label && !called
		}
	}
	return true
}

// accept takes one more line of usage.
func (g *gatherer) accept(l line, margin int, inline bool) bool {
	body := l.body()
	if alt, ok := otherwise(body); ok {
		g.begin(alt)
		return true
	}
	if g.program == "" {
		if l.indent > margin && strings.HasSuffix(body, ":") {
			return true
		}
		if l.dashed() || strings.HasSuffix(body, ":") || run(calledOnly(body)) > 3 {
			return false
		}
		g.indent = l.indent
		g.begin(body)
		return true
	}
	first := firstWord(strings.TrimPrefix(body, "$ "))
	switch {
	case first == g.program && g.depth == 0 && run(calledOnly(body)) < 5:
		g.begin(body)
	case remark(body):
	case !inline && g.depth == 0 && l.indent > margin && strings.HasSuffix(body, ":"):
	case g.depth > 0 && l.indent > margin:
		g.add(body)
	case !inline && l.indent > margin && strings.IndexByte("[<", body[0]) >= 0:
		g.add(body)
	case l.indent <= margin && inline || l.indent < g.indent && !inline || l.indent == margin:
		return false
	case !callLike(body):
		return false
	default:
		g.add(body)
	}
	return true
}

// otherwise cuts the word that begins one more way to call the program.
func otherwise(body string) (string, bool) {
	low := strings.ToLower(body)
	for _, or := range []string{"or: ", "or  ", "or:\t", "or\t"} {
		if strings.HasPrefix(low, or) {
			return strings.TrimSpace(body[len(or):]), true
		}
	}
	return "", false
}

func (g *gatherer) begin(s string) {
	s = calledOnly(strings.TrimPrefix(s, "$ "))
	if g.program == "" {
		g.program = firstWord(s)
	}
	g.depth, g.size = opened(s), g.size+len(s)
	g.usages = append(g.usages, s)
}

func (g *gatherer) add(s string) {
	s = calledOnly(s)
	last := len(g.usages) - 1
	g.usages[last] += " " + s
	g.depth, g.size = g.depth+opened(s), g.size+len(s)
}

// opened counts the square brackets that are open at the end of s.
func opened(s string) int {
	return strings.Count(s, "[") - strings.Count(s, "]") + strings.Count(s, "{") - strings.Count(s, "}")
}

// calledOnly cuts a description from behind a usage.
func calledOnly(s string) string {
	for start, end := gap(s, 0); start >= 0; start, end = gap(s, end) {
		if words(s[end:]) >= 2 || strings.HasPrefix(s[end:], "# ") || strings.HasPrefix(s[end:], "=> ") {
			return s[:start]
		}
	}
	if cut, _, ok := strings.Cut(s, " # "); ok {
		return cut
	}
	return s
}

// run is the most plain words that stand behind each other in s.
func run(s string) int {
	most, n := 0, 0
	for _, w := range strings.Fields(s) {
		if n++; strings.Trim(strings.ToLower(w), "abcdefghijklmnopqrstuvwxyz',.") != "" || shouted(w) && len(w) > 1 {
			n = 0
		}
		most = max(most, n)
	}
	return most
}

// words counts the plain words at the beginning of s.
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

// callLike says whether a line can go on a usage: it holds arguments and no
// sentence.
func callLike(body string) bool {
	if sp, left, ok := readSpec(body, false); ok && len(sp.names) > 0 && (words(left) > 1 || explained(body, left)) {
		return false
	}
	if run(body) > 3 {
		return false
	}
	if strings.IndexByte("[<({-|.", body[0]) >= 0 {
		return words(strings.TrimLeft(body, "([{<-| ")) < 4
	}
	return words(body) < 3 && !strings.HasSuffix(body, ":")
}

// explained says whether left, the end of body, is a description in a column of
// its own, as in "-d, --data <data>   HTTP POST data".
func explained(body, left string) bool {
	return len(strings.Fields(left)) > 1 && letter(left[0]) && strings.HasSuffix(body, "  "+left) && !strings.ContainsAny(left, "[<{|")
}

func firstWord(s string) string {
	f := strings.Fields(s)
	if len(f) == 0 {
		return ""
	}
	return f[0]
}

// unmarked finds a usage that no word announces, at the top of the text.
func unmarked(lines []line, program string) []string {
	seen := 0
	for i, l := range lines {
		if l.blank() {
			continue
		}
		if seen++; seen > 6 {
			return nil
		}
		if hasWord(strings.ToLower(l.body()), []string{"example", "examples"}) {
			return nil
		}
		rest, ok := strings.CutPrefix(l.body(), program+" ")
		if rest = strings.TrimSpace(rest); !ok || program == "" || rest == "" || strings.IndexByte("[<{", rest[0]) < 0 || strings.HasPrefix(rest, "- ") || strings.HasPrefix(rest, "-- ") {
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
