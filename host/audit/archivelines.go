package audit

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/mcp"
)

const (
	// maxLine bounds a line of an archive, in bytes.
	maxLine = 1 << 20
	// archiveChunk is how much of an archive is read at a time from its end.
	archiveChunk = 64 << 10
	archiveStart = `{"seq":` // of each line
)

// isArchive reports whether a file has rows as JSON lines: an archive, or what a process wrote
// to standard error. The functions of this file read the lines of archives, and keep no state.
func isArchive(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	if info.Size() == 0 {
		return strings.HasSuffix(path, archiveSuffix)
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	start := make([]byte, len(archiveStart))
	_, err = io.ReadFull(f, start)
	return err == nil && string(start) == archiveStart
}

// errLongLine means that a file is no archive.
var errLongLine = errors.New("a line is longer than 1 MiB")

// linesUp calls do with each line of an archive. A last line without an end is being written,
// or was when the process was killed; it is left out.
func linesUp(from io.Reader, do func(line []byte) error) error {
	b := bufio.NewReaderSize(from, maxLine)
	for {
		line, err := b.ReadSlice('\n')
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, bufio.ErrBufferFull):
			return errLongLine
		case err != nil:
			return err
		}
		if err := do(line[:len(line)-1]); err != nil {
			return err
		}
	}
}

// linesDown calls do with each line of an archive from the last one on, like linesUp. It holds
// one line and one chunk in memory.
func linesDown(from io.ReaderAt, size int64, do func(line []byte) error) error {
	var held []byte // read, and not passed
	ended := false  // held ends with a whole line
	for size > 0 {
		n := min(size, archiveChunk)
		size -= n
		chunk := make([]byte, n, n+int64(len(held)))
		if _, err := from.ReadAt(chunk, size); err != nil {
			return err
		}
		held = append(chunk, held...)
		if !ended {
			end := bytes.LastIndexByte(held, '\n')
			held, ended = held[:max(end, 0)], end >= 0
		}
		for at := bytes.LastIndexByte(held, '\n'); at >= 0; at = bytes.LastIndexByte(held, '\n') {
			if err := do(held[at+1:]); err != nil {
				return err
			}
			held = held[:at]
		}
		if len(held) > maxLine {
			return errLongLine
		}
	}
	if !ended {
		return nil
	}
	return do(held)
}

// lastArchived returns the last row of an archive, as the end of a chain.
func lastArchived(path string) (c chain, err error) {
	f, err := os.Open(path)
	if err != nil {
		return c, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return c, err
	}
	err = linesDown(f, info.Size(), func(line []byte) error {
		if seq, sum, _, ok := parseLine(line); ok {
			c = chain{first: seq + 1, anchor: sum, last: seq, head: sum}
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return c, err
}

// selects reports whether a filter selects a row, without After, Before and Limit. It decides
// as the queries of a file do.
func (f *Filter) selects(r *Row) bool {
	k := r.keys()
	switch {
	case !f.Since.IsZero() && k.time < f.Since.UnixMicro(), !f.Until.IsZero() && k.time >= f.Until.UnixMicro():
		return false
	case f.Request != "" && f.Request != r.RequestID, f.Errors && !r.Outcome.Failed(), f.Denied && !r.Outcome.Denied():
		return false
	case f.Uses && !isUse(r.Method) && !r.Outcome.Failed() && r.Kind == Request:
		return false
	}
	found := k.found()
	return !slices.ContainsFunc(f.patterns(), func(p foundKey) bool {
		return !slices.ContainsFunc(found[:],
			func(one foundKey) bool { return one.field == p.field && like(one.value, p.value) })
	})
}

func isUse(method string) bool {
	return method == mcp.MethodCallTool || method == mcp.MethodReadResource || method == mcp.MethodGetPrompt
}

// like reports whether a text fits a pattern in which '*' stands for any text.
func like(text, pattern string) bool {
	pieces := strings.Split(pattern, "*")
	if len(pieces) == 1 {
		return text == pattern
	}
	text, ok := strings.CutPrefix(text, pieces[0])
	for _, piece := range pieces[1 : len(pieces)-1] {
		if ok {
			_, text, ok = strings.Cut(text, piece)
		}
	}
	return ok && strings.HasSuffix(text, pieces[len(pieces)-1])
}
