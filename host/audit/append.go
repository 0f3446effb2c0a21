package audit

import "fmt"

// An entry is an event in the buffer. The writer closes done, once.
type entry struct {
	Event
	done chan struct{} // closed when the row is committed or given up; nil: no request waits
}

// append adds rows to the file in one transaction and returns the chain with them. Only the
// goroutine of the writer calls it.
func (f *file) append(entries []entry, hide func(string) string) (c chain, err error) {
	err = f.transact(func() error {
		if c, err = f.chain(); err != nil {
			return err
		}
		var b []byte
		for i := range entries {
			r := entries[i].row(hide)
			b = r.appendContent(b[:0])
			if err := f.insert(&c, r.keys(), b); err != nil {
				return fmt.Errorf("row %d: %w", c.last, err)
			}
		}
		_, err := f.writeHead.Exec(c.last, c.head[:])
		return err
	})
	if err != nil {
		f.found = nil // the values that it recorded were rolled back
	}
	f.copies.end(err)
	return c, err
}

func (f *file) insert(c *chain, k keys, content []byte) error {
	c.last++
	c.head = c.head.next(c.last, content)
	if _, err := f.insertContent.Exec(c.last, c.head[:], content); err != nil {
		return err
	}
	f.copies.add(c.last, c.head, content)
	if _, err := f.insertEvent.Exec(c.last, k.time, k.kind, k.server, k.item, k.tenant, k.subject, k.method, k.outcome,
		k.request); err != nil {
		return err
	}
	return f.find(c.last>>blockBits, &k)
}

// find records which values a row adds to its block.
func (f *file) find(block int64, k *keys) error {
	if f.block != block || f.found == nil {
		f.block, f.found = block, map[foundKey]bool{}
	}
	if _, err := f.insertSpan.Exec(block, k.time); err != nil {
		return err
	}
	for _, one := range k.found() {
		if one.value == "" || f.found[one] {
			continue
		}
		if _, err := f.insertFound.Exec(one.field, one.value, block); err != nil {
			return err
		}
		f.found[one] = true
	}
	return nil
}

// keys are what rows are searched by.
type keys struct {
	time                                                          int64 // microseconds
	kind, server, item, tenant, subject, method, outcome, request string
}

// keys returns the keys of a row.
func (r *Row) keys() keys {
	return keys{r.Time.UnixMicro(), string(r.Kind), r.Server, r.Item, r.Tenant, r.Subject, r.Method,
		string(r.Outcome), r.RequestID}
}

// found returns the values that blocks are found by. The ids of requests are not among
// them: each is in one row only.
func (k *keys) found() [7]foundKey {
	all := [7]foundKey{
		{"kind", k.kind}, {"server", k.server}, {"item", k.item}, {"tenant", k.tenant}, {"subject", k.subject},
		{"method", k.method}, {"outcome", k.outcome},
	}
	return all
}
