package ndjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"testing"
)

// pieces is a source whose reads return bytes in pieces of the given sizes,
// repeated.
type pieces struct {
	data  []byte
	sizes []byte
	next  int
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.data) == 0 {
		return 0, io.EOF
	}
	n := min(len(b), len(p.data))
	if len(p.sizes) > 0 {
		n = min(n, 1+int(p.sizes[p.next%len(p.sizes)]))
		p.next++
	}
	copy(b, p.data[:n])
	p.data = p.data[n:]
	return n, nil
}

// reference is a simple implementation of a reader. A line that is too long is
// nil.
func reference(data []byte, limit int) [][]byte {
	var lines [][]byte
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		trimmed := bytes.TrimRight(line, "\r")
		switch {
		case len(line) > limit+1 || len(trimmed) > limit:
			lines = append(lines, nil)
		case len(trimmed) > 0:
			lines = append(lines, trimmed)
		}
	}
	return lines
}

func FuzzReader(f *testing.F) {
	f.Add([]byte("{\"a\":1}\r\nbanner\n\n{\"b\":\r2}"), []byte{0}, uint16(8))
	f.Add([]byte("xxxxxxxxxx\nxxxxxxxxxxx\ny"), []byte{3, 200}, uint16(10))
	f.Fuzz(func(t *testing.T, data, sizes []byte, limit16 uint16) {
		limit := 1 + int(limit16)
		want := reference(slices.Clone(data), limit)
		r := NewReader(&pieces{data: data, sizes: sizes}, limit)
		for i := 0; ; i++ {
			line, err := r.Next()
			if err == io.EOF {
				if i != len(want) {
					t.Fatalf("%d lines, want %d", i, len(want))
				}
				return
			}
			if i >= len(want) {
				t.Fatalf("line %q, %v is one too many", line, err)
			}
			if long, ok := errors.AsType[*TooLongError](err); ok {
				if want[i] != nil || len(long.Prefix) > maxPrefix || long.Size <= int64(limit) {
					t.Fatalf("line %d: %v, want %q", i, err, want[i])
				}
				continue
			}
			if err != nil || !bytes.Equal(line, want[i]) || len(line) > limit {
				t.Fatalf("line %d: %q, %v; want %q", i, line, err, want[i])
			}
			checkMessage(t, line)
		}
	})
}

// checkMessage checks that a message has no line break and the same JSON as its
// line, and that lines with one JSON object are messages.
func checkMessage(t *testing.T, line []byte) {
	before := slices.Clone(line)
	msg, err := Message(line)
	if err != nil {
		if json.Valid(before) && bytes.TrimSpace(before)[0] == '{' {
			t.Fatalf("%q is a message", before)
		}
		return
	}
	if bytes.ContainsAny(msg, "\r\n") || len(msg) > len(before) {
		t.Fatalf("%q became %q", before, msg)
	}
	if !json.Valid(before) {
		return
	}
	var a, b bytes.Buffer
	if json.Compact(&a, before) != nil || json.Compact(&b, msg) != nil || !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Fatalf("%q became %q", before, msg)
	}
}
