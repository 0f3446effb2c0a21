package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// flat returns a text without line breaks, which a server must not add to the log.
func flat(text string) string { return strings.Join(strings.Fields(safe(text)), " ") }

// list returns a slice that is not null in JSON.
func list[T any](all []T) []T { return append([]T{}, all...) }

func indent(s string) string {
	return "  " + strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n  ")
}

// duration returns a duration with two units at most, such as "3h12m".
func duration(d time.Duration) string {
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

func since(t time.Time) string { return duration(time.Since(t)) }

// number returns a number as text, and "-" for zero.
func number(n int) string {
	if n == 0 {
		return "-"
	}
	return strconv.Itoa(n)
}

// bytesOf returns a size in MiB or KiB, and "-" for zero.
func bytesOf(n uint64) string {
	if n == 0 {
		return "-"
	}
	return sizeOf(n)
}

// sizeOf returns a size in MiB, KiB or bytes.
func sizeOf(n uint64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 1<<20:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d MiB", n>>20)
}

// oneText indents the further lines of a text more than any part of an error. Text of a
// server can then not pass for a hint or a place.
func oneText(text string) string {
	return strings.ReplaceAll(safe(text), "\n", "\n      ")
}
