package schema

import (
	"bytes"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// A quick accepts simple valid instances from their raw bytes, without decoding them.
// Most calls have such arguments: a flat object of typed properties. It never rejects:
// in case of doubt (an unknown keyword, an escaped key, 1.0 for an integer) the library
// decides.
//
// It reads each value once, under one schema. The time is linear, so no meter is needed. It is
// immutable after newQuick.
type quick struct {
	unsure bool             // accepts nothing
	types  jsonschema.Types // 0 means any type
	any    bool             // accepts everything

	enum           map[string]bool // allowed strings; nil means all
	minLen, maxLen int
	pattern        *pattern
	min, max       *int64

	properties map[string]quickProperty
	required   uint64 // one bit per required property
	extra      *quick // schema of other properties; nil if they are not allowed

	items              *quick
	minItems, maxItems int

	alternatives []*quick // alternatives that differ by type
}

type quickProperty struct {
	*quick
	bit uint64 // bit in required, or 0
}

const (
	longPattern = 1 << 10  // maximum bytes of a text that is matched here
	keepScan    = 64 << 10 // maximum bytes of an instance after which the decoder is kept
)

// A scan is a pooled decoder. A new one costs more than reading small arguments. One goroutine
// uses it at a time; accepts takes it from the pool and gives it back.
type scan struct {
	*jsontext.Decoder
	buffer bytes.Buffer
}

var scans = sync.Pool{New: func() any { return &scan{Decoder: jsontext.NewDecoder(emptyReader)} }}

// emptyReader is the input of an idle decoder, so that it retains no instance.
var emptyReader = strings.NewReader("")

func (q *quick) accepts(instance []byte) bool {
	if q.unsure {
		return false
	}
	d := scans.Get().(*scan)
	d.buffer = *bytes.NewBuffer(instance)
	d.Reset(&d.buffer, lenient)
	ok := q.value(d, 0) && len(bytes.TrimLeft(instance[d.InputOffset():], " \t\r\n")) == 0
	d.Reset(emptyReader)
	d.buffer = bytes.Buffer{}
	if len(instance) <= keepScan {
		scans.Put(d)
	}
	return ok
}

func (q *quick) value(d *scan, level int) bool {
	switch {
	case q.unsure || level > maxLevels:
		return false
	case q.any:
		return d.SkipValue() == nil
	}
	kind := d.PeekKind()
	if q.alternatives != nil {
		for _, form := range q.alternatives {
			if len(q.alternatives) == 1 || form.types&kindTypes(kind) != 0 {
				return form.value(d, level)
			}
		}
		return false
	}
	if q.types != 0 && q.types&kindTypes(kind) == 0 {
		return false
	}
	switch kind {
	case '{':
		return q.object(d, level)
	case '[':
		return q.array(d, level)
	}
	v, err := d.ReadValue()
	if err != nil {
		return false
	}
	switch kind {
	case '"':
		return q.text(v)
	case '0':
		return q.number(v)
	}
	return q.enum == nil
}

func (q *quick) object(d *scan, level int) bool {
	if q.enum != nil {
		return false
	}
	if _, err := d.ReadToken(); err != nil {
		return false
	}
	missing := q.required
	for d.PeekKind() == '"' {
		name, err := d.ReadValue()
		if err != nil || bytes.IndexByte(name, '\\') >= 0 {
			return false
		}
		next := q.extra
		if p, ok := q.properties[string(name[1:len(name)-1])]; ok {
			next = p.quick
			missing &^= p.bit
		}
		if next == nil || !next.value(d, level+1) {
			return false
		}
	}
	_, err := d.ReadToken()
	return err == nil && missing == 0
}

func (q *quick) array(d *scan, level int) bool {
	if q.enum != nil {
		return false
	}
	if _, err := d.ReadToken(); err != nil {
		return false
	}
	n := 0
	for ; ; n++ {
		if kind := d.PeekKind(); kind == ']' || kind == jsontext.KindInvalid {
			break
		}
		if !q.items.value(d, level+1) {
			return false
		}
	}
	_, err := d.ReadToken()
	return err == nil && n >= q.minItems && n <= q.maxItems
}

func (q *quick) text(raw []byte) bool {
	if q.enum == nil && q.minLen == 0 && q.maxLen == unbounded && q.pattern == nil {
		return true
	}
	text := raw[1 : len(raw)-1]
	if bytes.IndexByte(text, '\\') >= 0 || !utf8.Valid(text) {
		return false
	}
	switch {
	case q.enum != nil && !q.enum[string(text)]:
		return false
	case q.minLen > 0 || q.maxLen != unbounded:
		if n := utf8.RuneCount(text); n < q.minLen || n > q.maxLen {
			return false
		}
	}
	return q.pattern == nil || len(text) <= longPattern && q.pattern.compiled.Match(text)
}

func (q *quick) number(raw []byte) bool {
	const safe = 18 // maximum length, with a sign, that fits an int64
	whole := !bytes.ContainsAny(raw, ".eE")
	switch {
	case q.enum != nil || !whole && !calculable(string(raw)):
		return false
	case q.min == nil && q.max == nil:
		return whole || q.types == 0 || q.types&plainNumber != 0
	case !whole || len(raw) > safe:
		return false
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	return err == nil && (q.min == nil || n >= *q.min) && (q.max == nil || n <= *q.max)
}

var lenient = jsontext.AllowInvalidUTF8(true)

func kindTypes(kind jsontext.Kind) jsonschema.Types {
	switch kind {
	case 'n':
		return nullType
	case 't', 'f':
		return booleanType
	case '"':
		return stringType
	case '0':
		return numberTypes
	case '[':
		return arrayType
	case '{':
		return objectType
	}
	return 0
}
