package run

import (
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
	"github.com/junctor-mcp/junctor/plugins/cli/tool"
)

// neutral stands for a value in a text that is checked to know whether the configuration
// itself leads out of the directory. No file has this name.
const neutral = "junctor-no-such-file"

// whole checks the texts that an element with a slot and something beside it forms: a
// harmless part may be a path that leads out with the rest, or a value that the table rejects.
func (b *builder) whole(e *tool.Element, filled []value) {
	var params []*tool.Parameter
	for _, part := range e.Parts {
		if part.File || part.Out {
			return // the path of a file of Junctor
		}
		if p := b.tool.Parameter(part.Slot); p != nil {
			params = append(params, p)
		}
	}
	if len(params) == 0 || len(e.Parts) == 1 {
		return
	}
	s := outlineOf(e)
	for _, v := range filled {
		if !free(params) {
			b.wholePath(&s, v)
		}
		b.wholeValue(&s, params, v)
	}
}

// free reports whether no slot of an element is checked for paths, because the program never
// opens the value or because the configuration restricts it.
func free(params []*tool.Parameter) bool {
	for _, p := range params {
		restricted := len(params) == 1 && (p.Pattern != nil || len(p.Value.Choices) > 0) && p.Value.Kind != model.Path
		if !p.Content.Text && !restricted {
			return false
		}
	}
	return true
}

// An outline is the fixed text of an element with slots.
type outline struct {
	option   int    // length of the option that the text begins with, such as "--file="
	before   int    // length of the text before the first slot
	after    int    // length of the text behind the last slot
	neutral  string // the element with a neutral text in each slot
	fixed    string // the element without its slots
	possible []span // the parts of the text that may be checked, best first
}

// A span is a part of the text of an element.
type span struct{ first, after int }

func outlineOf(e *tool.Element) outline {
	var s outline
	slots := 0
	for _, part := range e.Parts {
		if part.Slot != "" {
			slots++
			s.after = 0
			s.neutral += neutral
			continue
		}
		if slots == 0 {
			s.before += len(part.Text)
		}
		s.after += len(part.Text)
		s.neutral += part.Text
		s.fixed += part.Text
	}
	first := e.Parts[0].Text
	if name, _, glued := strings.Cut(first, "="); strings.HasPrefix(first, "-") && glued {
		s.option = len(name) + 1
	} else if strings.HasPrefix(first, "-") && !strings.HasPrefix(first, "--") {
		s.option = min(2, len(first))
	}
	s.possible = []span{{s.option, 0}, {s.option, s.after}, {s.before, 0}, {s.before, s.after}}
	return s
}

// wholePath checks a text for paths, with as much of the fixed text as leads to no other place
// by itself.
func (b *builder) wholePath(s *outline, v value) {
	for i, part := range s.possible {
		if i+1 < len(s.possible) && b.leadsOut(s.neutral[part.first:len(s.neutral)-part.after]) != nil {
			continue
		}
		if err := b.leadsOut(v.text[part.first : len(v.text)-part.after]); err != nil {
			b.failf(v.path, "%v", withLine(b.tool, err))
		}
		return
	}
}

// leadsOut returns the error of a text that may be a path.
func (d *decoder) leadsOut(text string) error {
	for _, check := range d.checks {
		if err := check(nil, text); err != nil {
			return err
		}
	}
	return nil
}

// wholeValue checks a text against what the table rejects, unless the table rejects the fixed
// text by itself.
func (b *builder) wholeValue(s *outline, params []*tool.Parameter, v value) {
	for _, p := range params {
		if b.tool.RejectionReason(p, s.fixed[s.option:]) != "" {
			continue
		}
		if reason := b.tool.RejectionReason(p, v.text[s.option:]); reason != "" {
			b.failf(v.path, "%s", reason)
			return
		}
	}
}
