package help

import (
	"regexp"
	"strings"
)

// told finds options that only sentences describe: "The -json flag causes ...".
func (p *parser) told() {
	for _, s := range p.sections {
		if s.topic == elsewhere || p.man {
			continue
		}
		for i, l := range s.lines {
			m := toldForm.FindStringSubmatch(l.body())
			if m == nil || i > 0 && !s.lines[i-1].blank() {
				continue
			}
			desc := l.body()
			for _, below := range s.lines[i+1:] {
				if below.blank() || len(desc) > 2000 {
					break
				}
				desc += " " + below.body()
			}
			for word := range strings.FieldsSeq(strings.NewReplacer(",", " ", " and ", " ").Replace(m[1])) {
				if sp, left, ok := readSpec(word, true); ok && left == "" {
					p.table.tell(build(sp, desc))
				}
			}
		}
	}
}

var toldForm = regexp.MustCompile(`^The ((?:--?[A-Za-z][\w.-]*(?:=\S+)?(?:, and |, | and )?)+) (?:flag|option|switch)s? `)
