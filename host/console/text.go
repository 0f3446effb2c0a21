package console

import (
	"fmt"
	"html/template"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

const (
	maxLine  = 240      // characters of a text in a table
	maxBlock = 64 << 10 // bytes of a text that has a place of its own
	maxMarks = 3        // combining marks in a row that are shown as they are
)

// A texts shows untrusted texts. It is immutable and may be used concurrently. The views and
// the references have one.
type texts struct {
	hide func(string) string // masks secrets
}

// line returns the HTML of a text in a table or a sentence, shortened.
func (t texts) line(s string) template.HTML {
	s, long := t.cut(s, utf8.UTFMax*maxLine)
	if n := strings.IndexByte(s, '\n'); n >= 0 && strings.TrimSpace(s[n:]) == "" {
		s = s[:n]
	}
	runes := 0
	for i := range s {
		if runes == maxLine {
			s, long = s[:i], true
			break
		}
		runes++
	}
	html := visibleHTML(s, false)
	if long {
		html += "…"
	}
	return template.HTML("<bdi>" + html + "</bdi>")
}

// block returns the HTML of a text that has a place of its own, with its line breaks.
func (t texts) block(s string) template.HTML {
	short, long := t.cut(s, maxBlock)
	html := visibleHTML(short, true)
	if long {
		html += fmt.Sprintf("\n… %s in all", size(len(s)))
	}
	return template.HTML("<bdi>" + html + "</bdi>")
}

// whole is block for a text that is bounded already.
func (t texts) whole(s string) template.HTML {
	return template.HTML("<bdi>" + visibleHTML(t.hide(s), true) + "</bdi>")
}

// plain returns a text for an attribute, such as the value of a field.
func (t texts) plain(s string) string {
	return strings.Map(func(r rune) rune {
		if hidden(r) {
			return '\uFFFD'
		}
		return r
	}, first(t.cut(s, maxBlock)))
}

func first(s string, _ bool) string { return s }

// longestSecret is the length in bytes of a secret that is masked at the end of a text that
// is cut.
const longestSecret = 16 << 10

// cut returns at most the first n bytes of a text, without secrets. long reports whether
// there are more.
func (t texts) cut(s string, n int) (short string, long bool) {
	long = len(s) > n
	s = t.hide(cutBytes(s, n+longestSecret))
	return cutBytes(s, n), long || len(s) > n
}

// cutBytes returns at most the first n bytes of a text, without a part of a character at
// the end.
func cutBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// hidden reports whether a character is invisible or not assigned, controls a terminal or
// changes the direction of text.
func hidden(r rune) bool {
	return !unicode.IsPrint(r) || r == utf8.RuneError || invisibleLetter(r) || unicode.Is(unicode.Variation_Selector, r)
}

// invisibleLetter reports whether a character is a letter without a shape, such as the
// Hangul fillers and the blank of Braille.
func invisibleLetter(r rune) bool {
	switch r {
	case 0x115F, 0x1160, 0x3164, 0xFFA0, 0x2800, 0x034F, 0x17B4, 0x17B5:
		return true
	}
	return false
}

// visibleHTML returns the HTML of a text in which hidden characters are escapes, marked so that
// they differ from the same characters in the text. lines keeps line breaks and tabs.
func visibleHTML(s string, lines bool) string {
	var b strings.Builder
	b.Grow(len(s) + len(s)/8)
	marks := 0
	for i, r := range s {
		mark := unicode.In(r, unicode.Mn, unicode.Me)
		if mark {
			marks++
		} else {
			marks = 0
		}
		switch {
		case lines && (r == '\n' || r == '\t'):
			b.WriteRune(r)
		case r == utf8.RuneError && s[i] != 0xEF: // a byte that is not UTF-8
			fmt.Fprintf(&b, `<span class="hidden-character">\x%02x</span>`, s[i])
		case hidden(r), mark && (marks > maxMarks || b.Len() == 0):
			b.WriteString(`<span class="hidden-character">` + escape(r) + `</span>`)
		default:
			template.HTMLEscape(&b, []byte(string(r)))
		}
	}
	return b.String()
}

// escape returns a character as Go writes it in a string.
func escape(r rune) string {
	switch {
	case r == '\n':
		return `\n`
	case r == '\t':
		return `\t`
	case r > 0xFFFF:
		return fmt.Sprintf(`\U%08x`, r)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// shortDuration returns a duration with two or three digits.
func shortDuration(d time.Duration) string {
	switch {
	case d <= 0:
		return "0 ms"
	case d < time.Millisecond:
		return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute && d%time.Second == 0:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Minute:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}

// size returns a number of bytes for people.
func size[T int | int64 | uint64](n T) string {
	switch v := float64(n); {
	case v < 1<<10:
		return fmt.Sprintf("%d B", n)
	case v < 1<<20:
		return fmt.Sprintf("%.0f KiB", v/(1<<10))
	case v < 1<<30:
		return fmt.Sprintf("%.0f MiB", v/(1<<20))
	default:
		return fmt.Sprintf("%.1f GiB", v/(1<<30))
	}
}

// number returns a number with spaces between its thousands.
func number(n int64) string {
	digits := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, digits = "-", digits[1:]
	}
	var b strings.Builder
	b.WriteString(sign)
	for i := range len(digits) {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteRune('\u202f') // a narrow space that does not break
		}
		b.WriteByte(digits[i])
	}
	return b.String()
}
