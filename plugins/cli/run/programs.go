package run

import (
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/tool"
)

// readPrograms checks the programs in small languages, such as that of awk, that a call gives
// to the program of a tool block and to those behind it. The elements of the template from one
// to another are its arguments.
func (b *builder) readPrograms(t *tool.Tool, first, end int) {
	for i := range t.Inner {
		inner := &t.Inner[i]
		b.readPrograms(inner.Tool, first+inner.From, first+inner.To)
	}
	if !t.ReadsPrograms() {
		return
	}
	fixed, from := t.Arguments()
	var list []placed
	for _, text := range fixed {
		list = append(list, placed{text: text})
	}
	for i, text := range b.argv {
		if at := b.origins[i]; at.element >= first+from && at.element < end {
			list = append(list, placed{text, at})
		}
	}
	reader := argumentReader{call: b.call, tool: t, failf: b.failf, options: map[string]bool{}}
	reader.read(list, false)
	reader = argumentReader{call: b.call, tool: t, failf: b.failf, options: reader.options}
	reader.read(list, true)
}

// A placed is an element of the argument list.
type placed struct {
	text string
	origin
}

// An argumentReader reads an argument list as the program does, up to the first positional.
type argumentReader struct {
	call    *Call
	tool    *tool.Tool
	failf   func(path, format string, args ...any)
	options map[string]bool // that are given
	ended   bool            // "--" was there
	pending int             // how many of the next elements may be values of the option before
	certain bool            // they are
	of      string          // the option whose value comes next
}

// read reads a list. If check is set, it checks the programs; else it only finds the options.
func (r *argumentReader) read(list []placed, check bool) {
	for _, a := range list {
		switch {
		case a.option:
		case r.pending > 0 && r.certain:
			if r.pending--; check {
				r.value(r.of, a.text, a)
			}
		case !r.ended && len(a.text) > 1 && a.text[0] == '-':
			r.dashed(a, check)
		case r.pending == 0:
			if check {
				r.first(a)
			}
			return
		default:
			if r.pending--; check && a.path != "" {
				r.report(a, r.tool.FirstRejection(a.text, r.given))
			}
		}
	}
}

// dashed reads an option, perhaps with its value.
func (r *argumentReader) dashed(a placed, check bool) {
	facts := &r.tool.Reading
	name, text, equals := strings.Cut(a.text, "=")
	r.pending, r.certain, r.of = 0, true, ""
	switch option, rest, cluster := r.cluster(a.text); {
	case a.text == "--":
		r.ended = true
	case slices.Contains(r.tool.PairOptions, a.text):
		r.pending = 2
	case slices.Contains(facts.Takes, a.text):
		r.options[a.text] = true
		r.pending, r.of = 1, a.text
	case cluster && option == "":
	case cluster && rest == "":
		r.pending, r.of = 1, option
	case cluster:
		if check {
			r.value(option, rest, a)
		}
	case equals:
		if r.options[name] = true; check {
			r.value(name, text, a)
		}
	case slices.Contains(facts.Flags, a.text):
		r.options[a.text] = true
	default:
		r.pending, r.certain = 1, false
		if len(r.tool.PairOptions) > 0 { // it may be one of them, in a later version
			r.pending = 2
		}
	}
}

// cluster reads options of one letter in one element, and returns the option to which the
// rest of the element belongs. ok is false if the table does not have one of them.
func (r *argumentReader) cluster(text string) (option, rest string, ok bool) {
	if text[1] == '-' {
		return "", "", false
	}
	for i := 1; i < len(text); i++ {
		one := "-" + text[i:i+1]
		switch {
		case slices.Contains(r.tool.Reading.Takes, one):
			r.options[one] = true
			return one, text[i+1:], true
		case !slices.Contains(r.tool.Reading.Flags, one):
			return "", "", false
		}
		r.options[one] = true
	}
	return "", "", true
}

// given reports whether one of some options is given.
func (r *argumentReader) given(options []string) bool {
	return slices.ContainsFunc(options, func(option string) bool { return r.options[option] })
}

// value checks the value of an option.
func (r *argumentReader) value(option, text string, a placed) {
	switch facts := &r.tool.Reading; {
	case slices.Contains(facts.Source, option):
		r.source(text, a)
	case slices.Contains(facts.Program, option) && a.path != "":
		r.report(a, r.tool.ProgramRejection(text))
	}
}

// source checks the text of a file with a program, if the call gives it.
func (r *argumentReader) source(name string, a placed) {
	text, ok := r.content(name)
	if !ok {
		return
	}
	if a.path == "" {
		a.path = tool.StdinName
	}
	r.report(a, r.tool.ProgramRejection(text))
}

// content returns the text of a file of the call, or of standard input.
func (r *argumentReader) content(name string) (string, bool) {
	if stdin := r.call.Stdin; tool.NamesStdin(name) && stdin != nil {
		return *stdin, true
	}
	for _, f := range r.call.Files {
		if name == place+f.Name {
			return f.Text, true
		}
	}
	return "", false
}

// first checks the first positional: a program, or with an option such as -f of jq the file
// with one.
func (r *argumentReader) first(a placed) {
	if r.given(r.tool.Reading.Source) {
		r.source(a.text, a)
		return
	}
	if a.path != "" {
		r.report(a, r.tool.FirstRejection(a.text, r.given))
	}
}

func (r *argumentReader) report(a placed, reason string) {
	if reason != "" {
		r.failf(a.path, "%s", reason)
	}
}
