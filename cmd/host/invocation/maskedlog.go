package invocation

import (
	"fmt"
	"sync/atomic"

	"github.com/hashicorp/go-hclog"
)

// A maskedLog writes the records of a log without secrets.
type maskedLog struct {
	log     hclog.InterceptLogger
	out     hclog.SinkAdapter
	conceal atomic.Pointer[func(string) string]
}

// newMaskedLog returns a log with these options that masks secrets once conceal was set.
func newMaskedLog(o hclog.LoggerOptions) *maskedLog {
	front, back := o, o
	front.Exclude = func(hclog.Level, string, ...any) bool { return true } // only the sinks write
	back.Level = hclog.Trace
	l := &maskedLog{log: hclog.NewInterceptLogger(&front), out: hclog.NewSinkAdapter(&back)}
	l.log.RegisterSink(l)
	return l
}

// mask sets the function that replaces secrets in the texts of later records.
func (l *maskedLog) mask(conceal func(string) string) { l.conceal.Store(&conceal) }

// Accept implements [hclog.SinkAdapter]. A sink also gets records below the level.
func (l *maskedLog) Accept(name string, level hclog.Level, message string, pairs ...any) {
	if level < l.log.GetLevel() {
		return
	}
	hide := l.conceal.Load()
	if hide == nil {
		l.out.Accept(name, level, message, pairs...)
		return
	}
	masked := make([]any, len(pairs))
	for i, one := range pairs {
		masked[i] = maskedValue(*hide, one)
	}
	l.out.Accept(name, level, (*hide)(message), masked...)
}

// maskedValue returns a value of a record without secrets.
func maskedValue(hide func(string) string, v any) any {
	switch v := v.(type) {
	case nil, bool, int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64, float32, float64:
		return v
	case string:
		return hide(v)
	case hclog.CapturedStacktrace: // is printed on lines of its own
		return hclog.CapturedStacktrace(hide(string(v)))
	case []string:
		all := make([]string, len(v))
		for i, one := range v {
			all[i] = hide(one)
		}
		return all
	}
	return hide(fmt.Sprint(v)) // uses Error or String, and survives their panics
}
