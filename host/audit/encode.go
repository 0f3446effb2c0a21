package audit

import (
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/truncate"
)

// Bounds of a row.
const (
	maxText    = 512     // bytes of names, and of messages
	maxItem    = 2 << 10 // bytes of a URI
	maxPayload = 64 << 10
	maxList    = 64 // texts of a list
)

// timeFormat is the format of times in rows: UTC, so that texts sort like times.
const timeFormat = "2006-01-02T15:04:05.000000Z"

// row returns the row of an event, without its place in the log. hide masks secrets in the texts
// that a client or a server may have chosen; nil: there are none. The functions of this file
// are pure. Hashes cover the bytes that they make, so they must stay for each event.
func (e *Event) row(hide func(string) string) *Row {
	r := &Row{Event: *e}
	event := reflect.ValueOf(&r.Event).Elem()
	for _, f := range fields()[outside:] {
		if f.most == 0 {
			continue
		}
		v := event.Field(f.index[1])
		switch n := v.Len(); {
		case n == 0:
		case f.kind == text:
			v.SetString(tidy(v.String(), f.most, hide))
		case f.kind == list:
			texts := make([]string, min(n, maxList))
			for i := range texts {
				texts[i] = tidy(v.Index(i).String(), f.most, hide)
			}
			v.Set(reflect.ValueOf(texts))
		case n > f.most: // a part of the JSON would not be valid
			v.SetBytes(mcp.AppendText(nil, "(not stored: "+strconv.Itoa(n)+" bytes)"))
		}
	}
	return r
}

// tidy returns a text as rows have it: without secrets, valid and not too long.
func tidy(text string, most int, hide func(string) string) string {
	if text != "" && hide != nil {
		text = hide(text)
	}
	return truncate.Bytes(strings.ToValidUTF8(text, "\uFFFD"), most)
}

// appendContent appends the content of a row: a JSON object with the members of the event in
// the order of the fields.
func (r *Row) appendContent(dst []byte) []byte {
	between := byte('{')
	event := reflect.ValueOf(&r.Event).Elem()
	for _, f := range fields()[outside:] {
		if v := event.Field(f.index[1]); f.always || !f.empty(v) {
			dst = append(append(append(dst, between, '"'), f.Name...), `":`...)
			dst = f.append(dst, v)
			between = ','
		}
	}
	return append(dst, '}')
}

// empty reports whether a value is left out of a row.
func (f *Field) empty(v reflect.Value) bool {
	if f.kind == number || f.kind == moment {
		return v.IsZero()
	}
	return v.Len() == 0
}

// append appends the JSON of a value.
func (f *Field) append(dst []byte, v reflect.Value) []byte {
	switch f.kind {
	case moment:
		return append(v.Addr().Interface().(*time.Time).UTC().AppendFormat(append(dst, '"'), timeFormat), '"')
	case payload:
		return append(dst, v.Bytes()...)
	case list:
		for i := range v.Len() {
			dst = mcp.AppendText(append(dst, "[,"[min(i, 1)]), v.Index(i).String())
		}
		return append(dst, ']')
	case text:
		return mcp.AppendText(dst, v.String())
	}
	if v.CanFloat() {
		return strconv.AppendFloat(dst, v.Float(), 'f', -1, 64)
	}
	return strconv.AppendInt(dst, v.Int(), 10)
}
