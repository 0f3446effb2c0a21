package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	pruneRows     = 1 << blockBits // rows that one transaction removes
	archiveDigits = 12
	archiveSuffix = ".jsonl"
)

// prune removes rows that are older than the retention. When the file comes near to
// MaxSize, it moves the oldest rows to an archive: a file with the same rows as JSON lines,
// whose name has the first sequence number. The methods of file in this file run on the
// goroutine of the writer.
func (f *file) prune(s *Settings, now time.Time) error {
	if s.Retention > 0 {
		removed := int64(0)
		for more := true; more; {
			n, err := f.removeOlder(now.Add(-s.Retention))
			if err != nil {
				return err
			}
			removed, more = removed+n, n == pruneRows
		}
		if err := f.removeArchives(now.Add(-s.Retention), removed > 0); err != nil {
			return err
		}
	}
	if s.MaxSize <= 0 {
		return nil
	}
	return f.rotate(s.MaxSize, share(s.MaxSize))
}

// size returns the bytes of the pages in use.
func (f *file) size() (n int64, err error) {
	err = f.conn.QueryRowContext(context.Background(), `SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size`).
		Scan(&n)
	return n, err
}

// removeOlder removes up to pruneRows rows from the beginning that ended before a time.
// The hash of the last of them is the new anchor.
func (f *file) removeOlder(than time.Time) (n int64, err error) {
	err = f.transact(func() error {
		c, err := f.chain()
		if err != nil {
			return err
		}
		var keep int64
		err = f.conn.QueryRowContext(context.Background(),
			`SELECT coalesce((SELECT seq FROM events WHERE seq < ?1 AND time >= ?2 ORDER BY seq LIMIT 1), ?1)`,
			min(c.first+pruneRows, c.last+1), than.UnixMicro()).Scan(&keep)
		if err != nil {
			return err
		}
		n = keep - c.first
		return f.removeBefore(&c, keep)
	})
	return n, err
}

// removeBefore removes the rows before one. It is part of a transaction.
func (f *file) removeBefore(c *chain, seq int64) error {
	if seq <= c.first {
		return nil
	}
	var anchor []byte
	if err := f.conn.QueryRowContext(context.Background(), `SELECT hash FROM contents WHERE seq = ?`,
		seq-1).Scan(&anchor); err != nil {
		return err
	}
	for _, query := range []string{`DELETE FROM events WHERE seq < ?`, `DELETE FROM contents WHERE seq < ?`} {
		if err := f.exec(query, seq); err != nil {
			return err
		}
	}
	if seq>>blockBits != c.first>>blockBits {
		for _, query := range []string{`DELETE FROM found WHERE block < ?`, `DELETE FROM spans WHERE block < ?`} {
			if err := f.exec(query, seq>>blockBits); err != nil {
				return err
			}
		}
	}
	c.first = seq
	return f.exec(`UPDATE chain SET first = ?, anchor = ?`, seq, anchor)
}

// grown keeps the file within its size while it grows. Each call moves at most one step of rows:
// a commit adds fewer.
func (f *file) grown(s *Settings) error {
	if s.MaxSize <= 0 {
		return nil
	}
	size, err := f.size()
	if err != nil || size <= share(s.MaxSize) {
		return err
	}
	_, err = f.archive(s.MaxSize)
	return err
}

// share returns the part of a size that pages in use may take. The rest is for the WAL and
// for pages that are free.
func share(size int64) int64 { return size - size/4 }

// rotate moves the oldest rows to archives until the file has at most a size.
func (f *file) rotate(most, size int64) error {
	for {
		now, err := f.size()
		if err != nil || now <= size {
			return err
		}
		moved, err := f.archive(most)
		if err != nil || moved == 0 {
			return err
		}
	}
}

// stepRows returns how many rows one transaction moves to an archive. In a small file the
// transaction has to be small.
func stepRows(most int64) int64 {
	return min(max(most>>13, pruneRows/8), pruneRows) // a row has about 700 bytes: a tenth of the file
}

// archive moves the oldest rows to an archive. They are on the disk there before they are
// removed here. After a crash in between the archive has them twice.
func (f *file) archive(most int64) (moved int64, err error) {
	err = f.transact(func() error {
		c, err := f.chain()
		if err != nil {
			return err
		}
		end := min(c.first+stepRows(most), c.last) // the last row stays
		if end <= c.first {
			return nil
		}
		to, begun, err := openArchive(f.path, c.first, most)
		if err != nil {
			return err
		}
		defer to.Close()
		err = f.copyRows(to, c.first, end)
		if err == nil {
			err = to.Sync()
		}
		if err != nil {
			return errors.Join(err, to.Truncate(begun)) // no part of a line may stay
		}
		moved = end - c.first
		return f.removeBefore(&c, end)
	})
	return moved, err
}

// openArchive opens the last archive for appending, and returns its size. When that has most
// bytes, or is of another day, a new archive begins with row first. Old archives are removed
// as a whole, so none may hold rows of a long time.
func openArchive(path string, first, most int64) (to *os.File, size int64, err error) {
	name := fmt.Sprintf("%s.%0*d%s", path, archiveDigits, first, archiveSuffix)
	if all := Archives(path); len(all) > 0 {
		last := all[len(all)-1]
		info, err := os.Stat(last)
		if err == nil && info.Size() < most &&
			info.ModTime().UTC().Format(time.DateOnly) == time.Now().UTC().Format(time.DateOnly) {
			name = last
		}
	}
	to, err = os.OpenFile(name, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return nil, 0, err
	}
	if size, err = wholeLines(to); err != nil {
		return nil, 0, errors.Join(err, to.Close())
	}
	return to, size, nil
}

// wholeLines removes a part of a line from the end of an archive, where a process was killed.
func wholeLines(f *os.File) (size int64, err error) {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return 0, err
	}
	size = info.Size()
	b := make([]byte, min(size, maxLine))
	if _, err := f.ReadAt(b[:1], size-1); err != nil || b[0] == '\n' {
		return size, err
	}
	if _, err := f.ReadAt(b, size-int64(len(b))); err != nil {
		return size, err
	}
	size -= int64(len(b) - 1 - bytes.LastIndexByte(b, '\n'))
	return size, f.Truncate(size)
}

// copyRows writes the rows from one up to another as JSON lines.
func (f *file) copyRows(to io.Writer, from, end int64) error {
	rows, err := f.conn.QueryContext(context.Background(),
		`SELECT seq, hash, content FROM contents WHERE seq >= ? AND seq < ? ORDER BY seq`, from, end)
	if err != nil {
		return err
	}
	defer rows.Close()
	var b []byte
	for rows.Next() {
		var seq int64
		var sum, content []byte
		if err := rows.Scan(&seq, &sum, &content); err != nil {
			return err
		}
		var h hash
		copy(h[:], sum)
		b = appendLine(b, seq, h, content)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	_, err = to.Write(b)
	return err
}

// Archives returns the archives of a file, the oldest one first.
func Archives(path string) (all []string) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil
	}
	for _, e := range entries {
		number, is := strings.CutSuffix(e.Name(), archiveSuffix)
		number, ours := strings.CutPrefix(number, filepath.Base(path)+".")
		if _, err := strconv.ParseUint(number, 10, 63); is && ours && err == nil && len(number) >= archiveDigits {
			all = append(all, filepath.Join(filepath.Dir(path), e.Name()))
		}
	}
	return all
}

// removeArchives removes the archives that were written before a time, or all of them: their
// rows are older than those that were removed from the file.
func (f *file) removeArchives(than time.Time, all bool) error {
	for _, path := range Archives(f.path) {
		info, err := os.Stat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return err
		case all || info.ModTime().Before(than):
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

func (f *file) head() (chain, error) { return f.chain() }
