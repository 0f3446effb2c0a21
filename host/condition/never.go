package condition

import (
	"regexp/syntax"
	"strings"
	"unicode"
)

// This file finds calls and comparisons that are false for every text. It finds no others: a
// text without some ASCII letters is all that it knows of lower and upper.

const (
	upperLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	lowerLetters = "abcdefghijklmnopqrstuvwxyz"
)

// Never returns why a call or a comparison is true for no text; "" if it may be.
func Never(e Expression) (why string) {
	switch e := e.(type) {
	case *Binary:
		if e.Op != "==" && e.Op != "!=" {
			return ""
		}
		if why = neverEqual(e.Left, e.Right); why == "" {
			why = neverEqual(e.Right, e.Left)
		}
	case *Call:
		switch e.Name {
		case "matches":
			if p, wrong := e.compilePattern(); wrong == "" {
				return p.never(e.Args[0])
			}
		case "like", "startswith", "endswith":
			return neverEqual(e.Args[0], e.Args[1])
		}
	}
	return why
}

// absent returns the ASCII letters that the text of an expression does not have, and their name.
func absent(e Expression) (letters, name string) {
	if c, ok := e.(*Call); ok && c.Name == "lower" {
		return upperLetters, "upper-case"
	} else if ok && c.Name == "upper" {
		return lowerLetters, "lower-case"
	}
	return "", ""
}

// neverEqual says why a text never has a constant in it.
func neverEqual(of, constant Expression) string {
	letters, name := absent(of)
	if c, ok := constant.(*Constant); ok && letters != "" && c.Value.kind == text &&
		strings.ContainsAny(c.Value.String(), letters) {
		return c.Value.quoted() + " has " + name + " letters, and " + of.(*Call).Name + " leaves none"
	}
	return ""
}

// never says why the pattern matches no text of an expression.
func (p *pattern) never(of Expression) string {
	letters, name := absent(of)
	switch {
	case !Satisfiable(p.program, ""):
		return "the pattern of matches fits no text"
	case !Satisfiable(p.program, letters):
		return "the pattern of matches needs " + name + " letters, and " + of.(*Call).Name + " leaves none"
	}
	return ""
}

// edges are characters of all kinds that the assertions of a pattern tell apart: none, as before
// and after a text, a line break, one of a word, and another one.
var edges = [...]rune{-1, '\n', 'a', '.'}

// Satisfiable reports whether a pattern finds something in any text without some ASCII letters. It
// follows all paths of the program, with each kind of character before and after each place.
func Satisfiable(p *syntax.Prog, without string) bool {
	type place struct {
		pc           uint32
		before, next int // indexes of edges
	}
	kinds := make([][len(edges)]bool, len(p.Inst)) // of the characters that an instruction takes
	for i := range p.Inst {
		kinds[i] = taken(&p.Inst[i], without)
	}
	seen := map[place]bool{}
	var todo []place
	visit := func(at place) {
		if !seen[at] {
			seen[at] = true
			todo = append(todo, at)
		}
	}
	for before := range edges {
		for next := range edges {
			visit(place{uint32(p.Start), before, next})
		}
	}
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		switch i := &p.Inst[at.pc]; i.Op {
		case syntax.InstMatch:
			return true
		case syntax.InstAlt, syntax.InstAltMatch:
			visit(place{i.Out, at.before, at.next})
			visit(place{i.Arg, at.before, at.next})
		case syntax.InstCapture, syntax.InstNop:
			visit(place{i.Out, at.before, at.next})
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(i.Arg)&^syntax.EmptyOpContext(edges[at.before], edges[at.next]) == 0 {
				visit(place{i.Out, at.before, at.next})
			}
		case syntax.InstFail:
		default:
			for next := range edges {
				if kinds[at.pc][at.next] {
					visit(place{i.Out, at.next, next})
				}
			}
		}
	}
	return false
}

// taken returns the kinds of characters, by the indexes of edges, that an instruction takes.
func taken(i *syntax.Inst, without string) (kinds [len(edges)]bool) {
	switch i.Op {
	case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
	default:
		return kinds
	}
	for r := rune(0); r <= unicode.MaxASCII; r++ {
		switch {
		case strings.ContainsRune(without, r) || !i.MatchRune(r):
		case r == '\n':
			kinds[1] = true
		case syntax.IsWordChar(r):
			kinds[2] = true
		default:
			kinds[3] = true
		}
	}
	for _, r := range i.Rune {
		kinds[3] = kinds[3] || r > unicode.MaxASCII
	}
	if len(i.Rune) == 1 && syntax.Flags(i.Arg)&syntax.FoldCase != 0 {
		for r := unicode.SimpleFold(i.Rune[0]); r != i.Rune[0]; r = unicode.SimpleFold(r) {
			kinds[3] = kinds[3] || r > unicode.MaxASCII
		}
	}
	return kinds
}
