package help

import "regexp"

var (
	// inlineList matches names that follow their heading on the same line:
	// "Valid commands: create, update, dump".
	inlineList = regexp.MustCompile(
		`(?i)^(?:(?:valid|available|known|supported|possible|the) )*(?:sub-?)?commands(?: are)?: +([a-z].*)$`,
	)

	// syntaxHead matches a heading above one usage for each command.
	syntaxHead = regexp.MustCompile(`(?i)^(?:sub-?)?commands? (?:syntax|usage):$`)
)

// inlineCommands returns the commands of lists that begin on the line of their
// heading. The names are separated by commas and may fill several lines.
func inlineCommands(lines []line) []*listedCommand {
	var all []*listedCommand
	for i, ln := range lines {
		if ln.blank() {
			continue
		}
		m := inlineList.FindStringSubmatch(ln.body())
		if m == nil {
			continue
		}
		names := []line{newLine(m[1])}
		for _, next := range lines[i+1:] {
			if next.blank() || next.indent <= ln.indent {
				break
			}
			names = append(names, next)
		}
		all = append(all, (&lister{lines: names}).commas()...)
	}
	return all
}

// commandUsages returns the usages below a heading such as "Command syntax:",
// with the program in front, and blanks their lines. Each of them begins with
// the name of a command.
func commandUsages(lines []line, program string) []string {
	var all []string
	for i, ln := range lines {
		if ln.blank() || !syntaxHead.MatchString(ln.body()) || program == "" {
			continue
		}
		base, size := 0, 0
		for j := i + 1; j < len(lines) && !lines[j].blank() && lines[j].indent > ln.indent; j++ {
			next := lines[j]
			if base == 0 {
				base = next.indent
			}
			if size += len(next.text); len(all) == maxUsages || size > maxUsageLen || next.indent < base {
				break
			}
			switch {
			case next.indent > base:
				all[len(all)-1] += " " + next.body()
			case lowerForm.MatchString(firstWord(next.body())):
				all = append(all, program+" "+next.body())
			default:
				return all
			}
			lines[j] = line{}
		}
	}
	return all
}
