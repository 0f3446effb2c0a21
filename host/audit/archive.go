package audit

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"strconv"
)

// VerifyAll checks the archives of a log and the log itself, and that each continues the one
// before. heads are those for [Reader.Verify]. Of heads, those older than one that an archive
// has need no row: the newer one proves the same. This file checks archives, and prune.go
// writes them. VerifyAll blocks while it reads all rows, and may run while the log is written.
func VerifyAll(ctx context.Context, path string, heads []string) ([]*Report, error) {
	r, err := OpenReader(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	given, doubts := parseHeads(heads)
	if r.file == nil {
		rep, err := verifyArchive(path, given)
		if err != nil {
			return nil, r.failed(err)
		}
		rep.Findings = append(rep.Findings, doubts...)
		return []*Report{rep}, nil
	}
	var all []*Report
	end := &verifier{} // of the archive before
	found := int64(-1) // the last head that an archive has
	for _, name := range Archives(path) {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		v := &verifier{report: &Report{File: name, Findings: []Finding{}}, heads: given, next: end.next,
			before: end.before, known: end.known, compared: found}
		if err := v.file(name); err != nil {
			return nil, r.failed(err)
		}
		v.reorder()
		all, end, found = append(all, v.report), v, v.compared
	}
	left := make([]string, 0, len(given))
	for seq, sum := range given { // those of archived rows were removed
		if seq > found {
			left = append(left, headText(chain{last: seq, head: sum}))
		}
	}
	begin := int64(0)
	if len(all) > 0 {
		begin = all[0].First
	}
	rep, err := r.verify(ctx, left, begin)
	if err != nil {
		return nil, err
	}
	rep.Findings = append(rep.Findings, doubts...)
	if end.known && end.next < rep.First {
		rep.Findings = append(rep.Findings,
			Finding{end.next, "removed", missingText(end.next, rep.First-1) + " after the last archive"})
	}
	if end.known && end.next == rep.First && hex.EncodeToString(end.before[:]) != rep.Anchor {
		rep.Findings = append(rep.Findings,
			Finding{rep.First, "altered", "the rows do not continue those of the last archive"})
	}
	return append(all, rep), nil
}

// verifyArchive checks one archive alone. Given heads of other rows need no row in it.
func verifyArchive(path string, heads map[int64]hash) (*Report, error) {
	v := &verifier{report: &Report{File: path, Findings: []Finding{}}, heads: heads}
	if err := v.file(path); err != nil {
		return nil, err
	}
	v.reorder()
	for seq := range v.heads {
		if seq >= v.report.First && seq <= v.report.Last {
			v.find(seq, "removed", "the row of the given head is missing")
		}
	}
	return v.report, nil
}

// file checks the rows of an archive.
func (v *verifier) file(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return v.lines(f)
}

func (v *verifier) lines(from io.Reader) error {
	rep := v.report
	s := bufio.NewScanner(from)
	s.Buffer(nil, maxLine)
	for s.Scan() {
		seq, sum, content, ok := parseLine(s.Bytes())
		switch {
		case !ok:
			v.find(v.next, "altered", "a line is not a row")
			v.known = false
			continue
		case rep.Rows == 0 && !v.known:
			rep.First, v.next = seq, seq
		case seq < v.next:
			v.again(seq, sum, content)
			continue
		case rep.Rows == 0:
			rep.First = seq
		}
		v.archived(seq, sum, content)
		rep.Last = seq
	}
	rep.Head = headText(chain{last: v.next - 1, head: v.before})
	return s.Err()
}

// archived checks the next row of an archive.
func (v *verifier) archived(seq int64, own hash, content []byte) {
	v.report.Rows++
	if seq > v.next {
		v.find(v.next, "removed", missingText(v.next, seq-1))
		v.known = false
	}
	v.fits(seq, own, content)
	v.compare(seq, own)
	v.next, v.before, v.known = seq+1, own, true
	v.recent[seq%pruneRows] = digestOf(seq, own, content)
}

// again checks a row whose number an earlier line of the archive has. After a crash the last
// pruneRows rows are written again, unchanged. Any other such row was added by hand.
func (v *verifier) again(seq int64, own hash, content []byte) {
	switch {
	case seq < 1 || seq < v.next-pruneRows:
		v.find(seq, "added", "the row is after rows with greater numbers")
	case v.recent[seq%pruneRows] != digestOf(seq, own, content):
		v.find(seq, "added", "the archive has another row with this number")
	}
}

// digestOf returns a digest of all that a line of an archive has.
func digestOf(seq int64, own hash, content []byte) hash { return own.next(seq, content) }

// parseLine parses a line that appendLine wrote.
func parseLine(line []byte) (seq int64, sum hash, content []byte, ok bool) {
	rest, ok := bytes.CutPrefix(line, []byte(archiveStart))
	if !ok {
		return 0, sum, nil, false
	}
	number, rest, ok := bytes.Cut(rest, []byte(`,"hash":"`))
	if !ok || len(rest) < 2*len(sum) {
		return 0, sum, nil, false
	}
	seq, err := strconv.ParseInt(string(number), 10, 64)
	if err != nil || seq < 1 || strconv.FormatInt(seq, 10) != string(number) {
		return 0, sum, nil, false
	}
	digits := rest[:2*len(sum)]
	if _, err := hex.Decode(sum[:], digits); err != nil || !bytes.Equal(bytes.ToLower(digits), digits) {
		return 0, sum, nil, false
	}
	content, ok = bytes.CutPrefix(rest[2*len(sum):], []byte(`","event":`))
	if !ok || !bytes.HasSuffix(content, []byte("}")) || !json.Valid(content[:len(content)-1]) {
		return 0, sum, nil, false
	}
	return seq, sum, content[:len(content)-1], true
}
