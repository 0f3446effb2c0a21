package serve

import (
	"context"
	"log"
	"log/slog"
	"os"

	"github.com/hashicorp/go-hclog"
)

// newLogger writes the lines that the host understands to standard error, and
// redirects the standard library's loggers into it.
func newLogger(name string) hclog.Logger {
	logger := hclog.New(&hclog.LoggerOptions{
		Name: name, Level: hclog.Debug, Output: os.Stderr, JSONFormat: true,
	})
	slog.SetDefault(slog.New(slogHandler{log: logger})) // takes package log along, so that comes second
	log.SetFlags(0)
	log.SetOutput(logger.StandardWriter(&hclog.StandardLoggerOptions{InferLevels: true}))
	return logger
}

// A slogHandler hands what package slog is told to an hclog logger.
type slogHandler struct {
	log   hclog.Logger
	group string // what stands before every key, with a dot
}

// hclogLevel is the level as hclog counts.
func hclogLevel(l slog.Level) hclog.Level {
	switch {
	case l < slog.LevelDebug:
		return hclog.Trace
	case l < slog.LevelInfo:
		return hclog.Debug
	case l < slog.LevelWarn:
		return hclog.Info
	case l < slog.LevelError:
		return hclog.Warn
	}
	return hclog.Error
}

// Enabled says whether a level is worth composing a message for.
func (h slogHandler) Enabled(_ context.Context, l slog.Level) bool {
	return hclogLevel(l) >= h.log.GetLevel()
}

// Handle writes one message.
func (h slogHandler) Handle(_ context.Context, r slog.Record) error {
	var pairs []any
	r.Attrs(func(a slog.Attr) bool {
		pairs = appendPair(pairs, h.group, a)
		return true
	})
	h.log.Log(hclogLevel(r.Level), r.Message, pairs...)
	return nil
}

// WithAttrs returns a handler that adds attrs to every message.
func (h slogHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	var pairs []any
	for _, a := range attrs {
		pairs = appendPair(pairs, h.group, a)
	}
	return slogHandler{log: h.log.With(pairs...), group: h.group}
}

// WithGroup returns a handler whose keys stand in a group.
func (h slogHandler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	return slogHandler{log: h.log, group: h.group + name + "."}
}

// appendPair writes an attribute as hclog takes it, a group's one by one.
func appendPair(pairs []any, group string, a slog.Attr) []any {
	a.Value = a.Value.Resolve()
	if a.Value.Kind() != slog.KindGroup {
		if a.Key == "" {
			return pairs
		}
		return append(pairs, group+a.Key, a.Value.Any())
	}
	if a.Key != "" {
		group += a.Key + "."
	}
	for _, inner := range a.Value.Group() {
		pairs = appendPair(pairs, group, inner)
	}
	return pairs
}
