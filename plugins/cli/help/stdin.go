package help

import (
	"regexp"
	"slices"
	"strings"
)

var (
	// namesStdin matches a mention of standard input.
	namesStdin = regexp.MustCompile(`(?i)\b(stdin|standard[- ]input)\b`)
	// noStdin matches a sentence about standard input that is no input for the program: it
	// belongs to another process, is a terminal, or is left alone.
	noStdin = regexp.MustCompile(`(?i)\b(attach(es|ed)?|detach|keep|terminal|tty|close[sd]?|ignores?|ignored|container|never|nostdin|no-stdin|(do|does|is|are|will) not|don't|doesn't|isn't)\b|/dev/null`)
	// stdinCommands matches a sentence in which standard input is more than data: names of
	// files, which no check sees, commands, or a secret.
	stdinCommands = regexp.MustCompile(`(?i)\b(names|lists? of|commands?|scripts? (from|on|in)|execut\w+|runs|running|eval\w*|interpret\w*|interactiv\w*|macros?|password|passphrase|passwd|pin|secrets?|credentials?|confirm\w*|repl)\b` +
		`|\b(arguments?|args|options|paths|programs?|answers?|tokens?)\b[^.;,]{0,24}\b(from|on|via|through)\b[^.;,]{0,5}\b(stdin|standard[- ]input)`)
)

// commandLine matches words that say nothing about the content of standard input.
var commandLine = regexp.MustCompile(`(?i)\bcommand[- ]line\b`)

// readsStdin reports whether a help says that the program reads data from standard input. It
// returns false if one of its sentences has another use for standard input.
func readsStdin(lines []line) bool {
	found := false
	for i, l := range lines {
		if !namesStdin.MatchString(l.text) {
			continue
		}
		switch s := around(lines, i); {
		case noStdin.MatchString(s):
		case stdinCommands.MatchString(s):
			return false
		default:
			found = true
		}
	}
	return found
}

// piped reports whether a help shows the program behind a pipe: "cat FILE | prog".
func piped(lines []line, program string) bool {
	return program != "" && slices.ContainsFunc(lines, func(l line) bool {
		return strings.Contains(l.text+" ", "| "+program+" ") && !strings.ContainsAny(l.text, "#`")
	})
}

// around returns the sentence of a line with standard input, which may begin on the line
// before and end on the next one.
func around(lines []line, i int) string {
	before, after := "", ""
	if i > 0 && !lines[i].dashed() {
		before = lines[i-1].text + " "
	}
	if i+1 < len(lines) && !lines[i+1].dashed() {
		after = " " + lines[i+1].text
	}
	at := namesStdin.FindStringIndex(lines[i].text)
	before += lines[i].text[:at[0]]
	after = lines[i].text[at[0]:] + after
	before = before[strings.LastIndex(before, ". ")+1:]
	if stop := strings.Index(after, ". "); stop >= 0 {
		after = after[:stop]
	}
	return commandLine.ReplaceAllString(before+after, "")
}
