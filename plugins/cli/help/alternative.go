package help

import (
	"slices"
	"strings"
)

// joinBars joins the alternatives between bars at the top level of a usage. A
// bar binds the arguments beside it: in "RULES FILE | DIR | PID" the second
// argument is a file, a directory or a process.
func joinBars(alts [][]node) []node {
	if len(alts) == 1 {
		return alts[0]
	}
	if all := wholeAlternatives(alts); all != nil {
		return all
	}
	left, open := alts[0], false // open: left ends with alternatives
	for _, right := range alts[1:] {
		left, open = bar(left, right, open)
	}
	return left
}

// bar joins the parts of a usage on both sides of a bar. open is true if left
// ends with a group to which another alternative may be added; it returns the same
// about its result.
func bar(left, right []node, open bool) ([]node, bool) {
	last := len(left) - 1
	if last < 1 || len(right) == 0 || !left[last].plain() && !open || left[last-1].option() && !left[last].glued {
		return append(left, right...), false
	}
	l, r := left[last], right[0]
	switch {
	case r.option():
		// "FILE | --list": the usage has the argument or the option.
		g := node{open: '(', alts: [][]node{{l}, right}, repeat: l.repeat}
		return append(left[:last:last], g), false
	case !r.plain():
		return append(left, right...), false
	case !open && shortens(l.text, r.text):
		return append(left, right[1:]...), false
	}
	g := node{open: '(', alts: [][]node{{l}}, bare: true}
	if open {
		g = l
	}
	g.alts = append(slices.Clone(g.alts), []node{r})
	g.repeat = l.repeat || r.repeat
	left = append(left[:last:last], g)
	return append(left, right[1:]...), len(right) == 1
}

// shortens reports whether short is an abbreviation of a command, which usages
// show behind a bar: "suggestions|sug", "list|ls".
func shortens(word, short string) bool {
	if len(short) >= len(word) || !lowerForm.MatchString(word) || !lowerForm.MatchString(short) || short[0] != word[0] {
		return false
	}
	for i := 0; i < len(short); i++ {
		at := strings.IndexByte(word, short[i])
		if at < 0 {
			return false
		}
		word = word[at+1:]
	}
	return true
}

// wholeAlternatives joins alternatives of which one has several arguments, as in
// "<files> | <set 1> <set 2>": they are one argument that repeats. It returns
// nil if there are none.
func wholeAlternatives(alts [][]node) []node {
	first := alts[0]
	begin := len(first)
	for begin > 1 && first[begin-1].named() && !(first[begin-2].option() && !first[begin-1].glued) {
		begin--
	}
	if begin == len(first) {
		return nil
	}
	g, several := node{open: '(', alts: [][]node{{first[begin]}}, repeat: true}, false
	for _, alt := range alts[1:] {
		if len(alt) == 0 || slices.ContainsFunc(alt, func(n node) bool { return !n.named() }) {
			return nil
		}
		several = several || len(alt) > 1
		g.alts = append(g.alts, alt[:1])
	}
	if !several {
		return nil
	}
	return append(first[:begin:begin], g)
}

// named reports whether n is certainly a placeholder: a word in angle brackets
// or in capitals.
func (n node) named() bool {
	return n.plain() && (strings.HasPrefix(n.text, "<") || shouted(n.text) && letter(n.text[0]))
}

// prefix reports whether n is the optional start of the argument behind it, as
// in "[NAMESPACE:]FILE".
func (n node) prefix() bool {
	return n.open == '[' && !n.glued && len(n.alts) == 1 && len(n.alts[0]) == 1 && n.alts[0][0].plain() &&
		strings.HasSuffix(n.alts[0][0].text, ":")
}

// begunBy reports whether the node before node i is the optional start of its
// argument.
func begunBy(nodes []node, i int) bool {
	return nodes[i].plain() && nodes[i].glued && i > 0 && nodes[i-1].prefix()
}
