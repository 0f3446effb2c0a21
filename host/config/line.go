package config

import (
	"slices"
	"unicode"
)

// A lineWriter builds a line and finds the place of two bytes of the source in
// it, whatever was masked before them.
type lineWriter struct {
	out      []rune
	mark     [2]int // offsets in the source
	from, to int    // the same in out
	last     bool   // the last thing written was a mask
}

func (w *lineWriter) text(offset int, b []byte) {
	for i, r := range string(b) {
		if !unicode.IsPrint(r) && r != '\t' {
			r = unicode.ReplacementChar // a terminal could act on it
		}
		w.out = append(w.out, r)
		w.reached(offset + i)
		w.last = false
	}
}

func (w *lineWriter) mask(offset int, comment bool) {
	if comment {
		w.out = append(w.out, '#', ' ')
	}
	if !w.last {
		w.out = append(w.out, []rune(masked)...)
	}
	w.last = true
	w.reached(offset)
}

// reached notes that what stands at offset was just written.
func (w *lineWriter) reached(offset int) {
	if offset <= w.mark[0] {
		w.from = len(w.out) - 1
		if w.last {
			w.from = len(w.out) - len(masked)
		}
	}
	if offset < w.mark[1] {
		w.to = len(w.out)
	}
}

// window cuts a line that is too long for a screen to what is around the mark.
func (w *lineWriter) window() (line string, from, to int) {
	const before, width = 40, 160
	out, from, to := w.out, w.from, max(w.to, w.from+1)
	if from > width-before && len(out) > width {
		cut := from - before
		out, from, to = append([]rune("..."), out[cut:]...), from-cut+3, to-cut+3
	}
	if len(out) > width {
		out = append(slices.Clone(out[:width]), '.', '.', '.')
	}
	return string(out), from, min(to, len(out))
}
