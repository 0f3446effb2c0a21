package terminal

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Flat returns a text without line breaks, which a server must not add to the log.
func Flat(text string) string { return strings.Join(strings.Fields(Safe(text)), " ") }

// List returns a slice that is not null in JSON.
func List[T any](all []T) []T { return append([]T{}, all...) }

func Indent(s string) string {
	return "  " + strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n  ")
}

// Duration returns a duration with two units at most, such as "3h12m".
func Duration(d time.Duration) string {
	switch {
	case d < time.Minute:
		return d.Round(time.Second).String()
	case d < time.Hour:
		return fmt.Sprintf("%dm%ds", d/time.Minute, d%time.Minute/time.Second)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh%dm", d/time.Hour, d%time.Hour/time.Minute)
	}
	return fmt.Sprintf("%dd%dh", d/(24*time.Hour), d%(24*time.Hour)/time.Hour)
}

func Since(t time.Time) string { return Duration(time.Since(t)) }

// Number returns a number as text, and "-" for zero.
func Number(n int) string {
	if n == 0 {
		return "-"
	}
	return strconv.Itoa(n)
}

// BytesOf returns a size in MiB or KiB, and "-" for zero.
func BytesOf(n uint64) string {
	if n == 0 {
		return "-"
	}
	return SizeOf(n)
}

// SizeOf returns a size in MiB, KiB or bytes.
func SizeOf(n uint64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 1<<20:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d MiB", n>>20)
}

// OneText indents the further lines of a text more than any part of an error. Text of a
// server can then not pass for a hint or a place.
func OneText(text string) string {
	return strings.ReplaceAll(Safe(text), "\n", "\n      ")
}

// MostShown bounds the names in a note.
const MostShown = 20

// Shortened joins the first names of a list.
func Shortened(names []string) string {
	if len(names) > MostShown {
		names = append(slices.Clone(names[:MostShown]), "…")
	}
	return strings.Join(names, ", ")
}
