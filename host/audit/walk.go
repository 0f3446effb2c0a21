package audit

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/junctor-mcp/junctor/host/fault"
)

// errEnough means that no further row is wanted.
var errEnough = errors.New("enough rows")

// A walk passes the selected rows of a log in order. The writer may move rows to archives
// meanwhile. After and Before of the filter are the cursor, so each row is passed once. One
// goroutine uses it, for one call of Reader.Each.
type walk struct {
	*Reader
	filter Filter
	left   int // rows, if filter.Limit is set
	yield  func(Row) bool
}

// pass passes a selected row.
func (w *walk) pass(row Row) error {
	if !w.yield(row) {
		return errEnough
	}
	if w.left--; w.filter.Limit > 0 && w.left <= 0 {
		return errEnough
	}
	return nil
}

// oldest passes the archives and then the file. If the next rows have moved to an archive by
// then, it begins again with those.
func (w *walk) oldest(ctx context.Context) error {
	if w.file == nil {
		return w.archives(ctx, math.MaxInt64, false)
	}
	for more := true; more; {
		c, err := w.chain()
		if err == nil && w.filter.After < c.first-1 {
			err = w.archives(ctx, c.first, false)
			w.filter.After = max(w.filter.After, c.first-1)
		}
		if err == nil {
			more, err = w.blocksUp(ctx)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// blocksUp passes the rows of the file, the oldest one first. moved says that the next ones
// are in an archive.
func (w *walk) blocksUp(ctx context.Context) (moved bool, err error) {
	blocks, err := w.blocks(ctx, &w.filter, false)
	if err != nil {
		return false, err
	}
	for _, block := range blocks {
		rows, first, err := w.inBlock(ctx, &w.filter, block, false, w.left)
		switch {
		case err != nil:
			return false, err
		case first > max(w.filter.After+1, block<<blockBits):
			return true, nil
		}
		for _, row := range rows {
			if err := w.pass(row); err != nil {
				return false, err
			}
		}
		w.filter.After = max(w.filter.After, (block+1)<<blockBits-1)
	}
	return false, nil
}

// newest passes the file and then the archives.
func (w *walk) newest(ctx context.Context) error {
	if w.file == nil {
		return w.archives(ctx, math.MaxInt64, true)
	}
	blocks, err := w.blocks(ctx, &w.filter, true)
	if err != nil {
		return err
	}
	for _, block := range blocks {
		rows, first, err := w.inBlock(ctx, &w.filter, block, true, w.left)
		if err != nil {
			return err
		}
		for _, row := range rows {
			if err := w.pass(row); err != nil {
				return err
			}
		}
		w.filter.Before = lesser(w.filter.Before, max(first, block<<blockBits))
	}
	c, err := w.chain()
	if err != nil {
		return err
	}
	return w.archives(ctx, c.first, true)
}

// lesser returns the lesser of two bounds. A bound of 0 is none.
func lesser(a, b int64) int64 {
	if a == 0 {
		return b
	}
	return min(a, b)
}

// An archived is an archive and the range of the rows that it may have.
type archived struct {
	path        string
	first, last int64
}

// archives passes the rows of the archives before one.
func (w *walk) archives(ctx context.Context, before int64, newestFirst bool) error {
	defer func(given int64) { w.filter.Before = given }(w.filter.Before)
	w.filter.Before = lesser(w.filter.Before, before)
	all := []archived{{w.path, 0, math.MaxInt64}}
	if w.file != nil {
		all = ranges(Archives(w.path))
	}
	if newestFirst {
		slices.Reverse(all)
	}
	for _, a := range all {
		if err := w.archive(ctx, a, newestFirst); err != nil && !errors.Is(err, fs.ErrNotExist) {
			// It may be removed after the retention.
			return err
		}
	}
	return nil
}

// ranges returns the rows that archives may have, by their names.
func ranges(paths []string) (all []archived) {
	for _, path := range paths {
		number := strings.TrimPrefix(filepath.Ext(strings.TrimSuffix(path, archiveSuffix)), ".")
		first, _ := strconv.ParseInt(number, 10, 64) // Archives has seen to it
		if n := len(all); n > 0 {
			all[n-1].last = first - 1
		}
		all = append(all, archived{path, first, math.MaxInt64})
	}
	return all
}

// archive passes the rows of one archive.
func (w *walk) archive(ctx context.Context, a archived, newestFirst bool) error {
	f := &w.filter
	if a.last <= f.After || f.Before > 0 && a.first >= f.Before {
		return nil
	}
	from, err := os.Open(a.path)
	if err != nil {
		return err
	}
	defer from.Close()
	info, err := from.Stat()
	if err != nil {
		return err
	}
	if w.file != nil && info.ModTime().Before(f.Since) { // an event begins before its row is moved
		return nil
	}
	line := func(line []byte) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return w.line(a.path, line, newestFirst)
	}
	if newestFirst {
		return linesDown(from, info.Size(), line)
	}
	return linesUp(from, line)
}

// line passes the row of a line. Rows that an earlier crash left twice are passed once. A file
// that is read alone may have several chains: the output of several processes.
func (w *walk) line(path string, line []byte, newestFirst bool) error {
	seq, sum, content, ok := parseLine(line)
	f := &w.filter
	switch {
	case !ok:
		return fault.New(fault.AuditAltered, "a line of the archive %s is not a row", path).
			WithHint("junctor audit verify finds every such line")
	case seq <= f.After, f.Before > 0 && seq >= f.Before:
		return nil
	}
	row, err := parseRow(seq, sum[:], content)
	switch {
	case err != nil:
		return err
	case w.file == nil:
	case newestFirst:
		f.Before = seq
	default:
		f.After = seq
	}
	if !f.selects(&row) {
		return nil
	}
	return w.pass(row)
}
