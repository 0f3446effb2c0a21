package confine

import (
	"regexp"
	"strconv"
	"strings"
)

// maxPath bounds the length of a path, in bytes. The system accepts no longer
// one.
const maxPath = 4096

// address matches an address of another machine. What follows its scheme is a
// path of that machine.
var address = regexp.MustCompile(`(?i)(?:^|[^A-Za-z0-9+.-])(?:https?|ftps?|sftp|ssh|git|svn|(?:git|svn|hg|bzr)\+(?:ssh|https?)|wss?|s3|gs|oci|docker|ldaps?|rediss?|postgres(?:ql)?|mysql|mongodb(?:\+srv)?|amqps?|mqtts?|smtps?|imaps?|rtsp|rtmp|nats|grpcs?)://[^\s|;,"'<>/][^\s|;,"'<>]*`)

// separates reports whether a path may begin after a character of a text.
func separates(c byte) bool {
	switch c {
	case '/', '.', '_', '-', '~':
		return false
	}
	return c <= ' ' || c < 0x7f && !letter(c)
}

// joins reports whether a character joins a path to a name, as in KEY=FILE.
func joins(c byte) bool { return strings.IndexByte("@=<,;:|", c) >= 0 }

func letter(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}

func space(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// scan checks every part of a text at which a path may begin.
func (d *Dir) scan(value string, separator func(byte) bool) error {
	for range 3 { // a program may decode the percent signs of an address again
		if err := d.inside(value, false); err != nil {
			return err
		}
		if err := d.parts(anyDirectory.ReplaceAllString(address.ReplaceAllString(value, " u"), "${1}x/"),
			separator); err != nil {
			return err
		}
		decoded := decode(value)
		if decoded == value {
			break
		}
		value = decoded
	}
	return nil
}

// parts checks the text after each separator, to the next one and to the end.
func (d *Dir) parts(text string, separator func(byte) bool) error {
	for at := 0; at < len(text); at++ {
		switch {
		case at == 0, separator(text[at-1]):
		case at > 1 && letter(text[at-1]) && text[at-2] == '-' && (at == 2 || separator(text[at-3])): // -I/usr
		default:
			continue
		}
		if d.text -= min(len(text)-at, maxPath); d.text < 0 {
			return errTooMuch
		}
		rest := strings.TrimLeft(text[at:min(len(text), at+maxPath)], " \t\r\n")
		if at > 0 && rest != text[at:min(len(text), at+maxPath)] {
			continue // a path begins after the spaces, if they separate
		}
		if slashes(cut(rest, separator)) && at > 0 && space(text[at-1]) {
			continue // a division, or a comment
		}
		if err := d.part(rest, separator); err != nil {
			return err
		}
	}
	return nil
}

// cut returns the text before the first separator.
func cut(text string, separator func(byte) bool) string {
	for i := range len(text) {
		if separator(text[i]) {
			return text[:i]
		}
	}
	return text
}

// part checks a text up to the first separator, and up to its end.
func (d *Dir) part(rest string, separator func(byte) bool) error {
	if absolute(rest) {
		inner, below := d.below(rest) // the name of the directory may contain separators
		if !below {
			return d.inside(cut(rest, separator), false)
		}
		rest = "./" + inner
	}
	if err := d.inside(rest, false); err != nil {
		return err
	}
	return d.inside(cut(rest, separator), false)
}

// slashes reports whether a text consists of slashes.
func slashes(text string) bool { return text != "" && strings.Trim(text, "/") == "" }

// anyDirectory matches the start of a pattern such as "**/*.go", which stands for the
// directories below.
var anyDirectory = regexp.MustCompile(`(^|[\s,;:=!|({'"])\*\*/`)

var escape = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)

// decode replaces the escapes of an address, such as %2e.
func decode(text string) string {
	return escape.ReplaceAllStringFunc(text, func(hex string) string {
		n, err := strconv.ParseUint(hex[1:], 16, 8)
		if err != nil {
			return hex
		}
		return string([]byte{byte(n)})
	})
}
