package mcp

// RewriteMembers returns object with the value of each member replaced by what
// change returns for it. All other bytes stay as they are. When change returns
// every value unchanged, the result is object itself.
func RewriteMembers(object []byte, change func(name string, value []byte) []byte) []byte {
	r := rewriter{from: object}
	w := walker{b: object}
	for w.first(); w.more; w.next() {
		name, _ := Text(object[w.name:w.nameEnd])
		r.replace(w.value, w.valueEnd, change(name, object[w.value:w.valueEnd]))
	}
	return r.done()
}

// RewriteElements is RewriteMembers for the elements of an array.
func RewriteElements(array []byte, change func(value []byte) []byte) []byte {
	r := rewriter{from: array}
	i := skipSpace(array, 0)
	if i >= len(array) || array[i] != '[' {
		return array
	}
	for i = skipSpace(array, i+1); i < len(array) && array[i] != ']'; {
		end := skipValue(array, i)
		if end == i {
			break
		}
		r.replace(i, end, change(array[i:end]))
		if i = skipSpace(array, end); i < len(array) && array[i] == ',' {
			i = skipSpace(array, i+1)
		}
	}
	return r.done()
}

// A rewriter copies text from the first replacement on.
type rewriter struct {
	from, to []byte
	copied   int // of from
}

func (r *rewriter) replace(start, end int, with []byte) {
	if len(with) == end-start && (len(with) == 0 || &with[0] == &r.from[start]) {
		return
	}
	if r.to == nil {
		r.to = make([]byte, 0, len(r.from)+len(with))
	}
	r.to = append(append(r.to, r.from[r.copied:start]...), with...)
	r.copied = end
}

func (r *rewriter) done() []byte {
	if r.to == nil {
		return r.from
	}
	return append(r.to, r.from[r.copied:]...)
}
