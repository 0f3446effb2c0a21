package serve

import (
	"context"
	"log"
	"log/slog"
	"os"

	"github.com/hashicorp/go-hclog"
)

// newLogger returns a logger that writes to standard error in the format that
// the host parses. It redirects packages log and slog to it.
func newLogger(name string) hclog.Logger {
	logger := hclog.New(&hclog.LoggerOptions{
		Name: name, Level: hclog.Debug, Output: os.Stderr, JSONFormat: true,
	})
	slog.SetDefault(slog.New(slogHandler{log: logger})) // also redirects package log, which the lines below override
	log.SetFlags(0)
	log.SetOutput(logger.StandardWriter(&hclog.StandardLoggerOptions{InferLevels: true}))
	return logger
}

// A slogHandler passes records of package slog to an hclog logger.
type slogHandler struct {
	log   hclog.Logger
	group string // prefix of every key, with a dot at its end
}

// hclogLevel converts a level of slog to one of hclog.
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

// Enabled reports whether the logger writes messages of this level.
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

// WithGroup returns a handler that adds name and a dot before every key.
func (h slogHandler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	return slogHandler{log: h.log, group: h.group + name + "."}
}

// appendPair appends an attribute as key and value. It appends the attributes
// of a group one by one.
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
