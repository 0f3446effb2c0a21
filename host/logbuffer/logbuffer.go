// Package logbuffer keeps the newest records of the log in memory, for the verbs that
// show the log of a running process.
//
// Package invocation attaches one [Buffer] to the log of a serving process; the control socket, the
// console and "junctor top" read it. text.go writes a record as a line.
package logbuffer

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/feed"
	"github.com/junctor-mcp/junctor/host/truncate"
)

// The limits of a buffer.
const (
	maxRecords = 2000
	maxBytes   = 1 << 20

	maxText     = 16 << 10 // bytes of a message or of a field, such as the stack of a panic
	maxFields   = 32       // of one record
	maxListed   = 50       // entries of a field that is a list
	recordBytes = 200      // approximate bytes of a record without its texts
	fieldBytes  = 40       // approximate bytes of a field without its texts
)

// A Record is one record of the log.
type Record struct {
	Seq     uint64    `json:"seq"` // counts the records of a process
	Time    time.Time `json:"time"`
	Level   string    `json:"level"` // trace, debug, info, warn or error
	Logger  string    `json:"logger,omitempty"`
	Message string    `json:"message"`
	Server  string    `json:"server,omitempty"` // that it is about
	Plugin  string    `json:"plugin,omitempty"` // that it is about, or comes from
	// Fields are the other values of the record: texts, numbers, truth values, and lists
	// of texts.
	Fields map[string]any `json:"fields,omitempty"`
}

// A Buffer keeps the newest records of a log. It is a sink of the log, and gets what the
// log writes at its current level. Its methods may be called concurrently.
type Buffer struct {
	records *feed.Feed[*Record]
	level   func() hclog.Level
	conceal atomic.Pointer[func(string) string]
}

// Attach returns a Buffer that gets the records of a log and of the loggers made from it.
func Attach(log hclog.InterceptLogger) *Buffer {
	b := &Buffer{records: feed.New(maxRecords, maxBytes, sizeOf), level: log.GetLevel}
	log.RegisterSink(b)
	return b
}

// Conceal sets the function that replaces secrets in the texts of later records.
func (b *Buffer) Conceal(f func(string) string) { b.conceal.Store(&f) }

// Read returns a reader of the records. Their Seq is zero; the number of an item is the
// one of its record.
func (b *Buffer) Read() *feed.Reader[*Record] { return b.records.Read() }

// Accept implements [hclog.SinkAdapter]. A sink also gets records below the level.
func (b *Buffer) Accept(name string, level hclog.Level, message string, pairs ...any) {
	if level < b.level() {
		return
	}
	r := &Record{Time: time.Now(), Level: level.String(), Logger: name, Message: b.text(message)}
	if _, plugin, ok := strings.Cut(name, ".plugin."); ok {
		r.Plugin, _, _ = strings.Cut(plugin, ".")
	}
	for i := 0; i < len(pairs) && len(r.Fields) < maxFields; i += 2 {
		if i+1 == len(pairs) {
			r.set(hclog.MissingKey, b.value(pairs[i]))
			break
		}
		key := b.text(fmt.Sprint(pairs[i]))
		r.set(key, b.value(pairs[i+1]))
	}
	b.records.Add(r)
}

// set sets a field, or what the record is about.
func (r *Record) set(key string, value any) {
	about, isText := value.(string)
	switch {
	case key == "server" && isText:
		r.Server = about
	case key == "plugin" && isText:
		r.Plugin = about
	default:
		if r.Fields == nil {
			r.Fields = map[string]any{}
		}
		r.Fields[key] = value
	}
}

// value returns a value as a field has it.
func (b *Buffer) value(v any) any {
	switch v := v.(type) {
	case nil, bool, int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64, float32, float64:
		return v
	case string:
		return b.text(v)
	case []string:
		var list []string
		for _, one := range v[:min(len(v), maxListed)] {
			list = append(list, b.text(one))
		}
		return list
	}
	return b.text(fmt.Sprint(v)) // uses Error or String, and survives their panics
}

// text returns a text without secrets, and not longer than maxText.
func (b *Buffer) text(s string) string {
	if f := b.conceal.Load(); f != nil {
		s = (*f)(s)
	}
	return truncate.Bytes(strings.ToValidUTF8(s, "\uFFFD"), maxText)
}

func sizeOf(r *Record) int {
	n := recordBytes + len(r.Logger) + len(r.Message) + len(r.Server) + len(r.Plugin)
	for key, value := range r.Fields {
		n += fieldBytes + len(key)
		switch v := value.(type) {
		case string:
			n += len(v)
		case []string:
			for _, one := range v {
				n += fieldBytes + len(one)
			}
		}
	}
	return n
}

// Names returns the names of the fields in order.
func (r *Record) Names() []string { return slices.Sorted(maps.Keys(r.Fields)) }
