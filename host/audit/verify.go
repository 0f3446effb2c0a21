package audit

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// A Finding is a defect of the chain. The JSON of Finding and Report is the output of junctor
// audit verify: it must stay.
type Finding struct {
	Seq int64 `json:"seq"` // of the row; the first one of several
	// Problem is "altered", "removed", "reordered", "added", "truncated" or "hidden": a
	// search does not find the row.
	Problem string `json:"problem"`
	Detail  string `json:"detail"`
}

// A Report is the result of [Reader.Verify].
type Report struct {
	File     string    `json:"file"`
	First    int64     `json:"first"`
	Last     int64     `json:"last"`
	Rows     int64     `json:"rows"`
	Head     string    `json:"head"`   // SEQUENCE:HASH
	Anchor   string    `json:"anchor"` // of the row before the first one
	Findings []Finding `json:"findings"`
}

// maxFindings bounds the findings of one report.
const maxFindings = 100

// ParseHead parses the text SEQUENCE:HASH of a head.
func ParseHead(text string) (seq int64, sum [32]byte, ok bool) {
	number, digits, found := strings.Cut(text, ":")
	seq, err := strconv.ParseInt(number, 10, 64)
	if !found || err != nil || seq < 0 || strconv.FormatInt(seq, 10) != number ||
		len(digits) != hex.EncodedLen(len(sum)) || strings.ToLower(digits) != digits {
		return 0, sum, false
	}
	_, err = hex.Decode(sum[:], []byte(digits))
	return seq, sum, err == nil
}

// A verifier checks the rows of a log in order. One goroutine uses it.
type verifier struct {
	report    *Report
	heads     map[int64]hash // that the rows must have
	begin     int64          // sequence number of the first archived row; 0: no row is archived
	next      int64          // sequence number of the next row
	before    hash           // of the row before it; valid if known
	known     bool
	compared  int64           // sequence number of the last given head that has a row
	recent    [pruneRows]hash // digests of the last rows of an archive, by number
	unfitting []unfittingRow  // at most maxFindings
}

// An unfittingRow is a row whose hash does not fit the row before. It may belong elsewhere.
type unfittingRow struct {
	seq         int64
	before, own hash
	content     []byte
	finding     int // index of its finding
}

// parseHeads parses heads. doubts has a finding for each row that two heads disagree about.
func parseHeads(heads []string) (all map[int64]hash, doubts []Finding) {
	all = map[int64]hash{}
	for _, text := range heads {
		seq, sum, ok := ParseHead(text)
		if before, twice := all[seq]; ok && twice && before != sum {
			doubts = append(doubts,
				Finding{seq, "altered", "two of the given heads name this row with different hashes"})
		}
		if ok {
			all[seq] = sum
		}
	}
	return all, doubts
}

// compare compares a row with the given head of its number, if there is one.
func (v *verifier) compare(seq int64, own hash) {
	head, given := v.heads[seq]
	if !given {
		return
	}
	if head != own {
		v.find(seq, "altered", "the row has another hash than the given head")
	}
	delete(v.heads, seq)
	v.compared = max(v.compared, seq)
}

// verify checks that no row was altered, removed, reordered or added. heads are further
// heads that the log must contain, in the form of [ParseHead]: those in the log of Junctor.
// Without them a chain that was made again is not noticed, nor are last rows that were removed
// together with their head, nor an older copy of the file. A head before the first row proves
// nothing: it is a finding, unless the log has a newer one. begin is the first row of the
// archives of the log; 0: there are none.
func (r *Reader) verify(ctx context.Context, heads []string, begin int64) (*Report, error) {
	if err := r.file.exec("BEGIN"); err != nil { // all rows at one moment
		return nil, r.failed(err)
	}
	defer func() { _ = r.file.exec("COMMIT") }()
	c, err := r.file.chain()
	if err != nil {
		return nil, r.failed(err)
	}
	rep := &Report{File: r.file.path, First: c.first, Last: c.last, Head: headText(c),
		Anchor: hex.EncodeToString(c.anchor[:]), Findings: []Finding{}}
	v := &verifier{report: rep, begin: begin, next: c.first, before: c.anchor, known: true, compared: -1}
	v.heads, _ = parseHeads(heads)
	if sum, given := v.heads[c.first-1]; given {
		if sum != c.anchor {
			v.find(c.first-1, "altered", "the hash before the first row is not that of the given head")
		}
		delete(v.heads, c.first-1)
		v.compared = c.first - 1
	}
	if err := r.verifyRows(ctx, v); err != nil {
		return nil, r.failed(err)
	}
	v.end(c)
	v.reorder()
	if err := r.verifyFound(ctx, v); err != nil {
		return nil, r.failed(err)
	}
	return rep, nil
}

func (r *Reader) verifyRows(ctx context.Context, v *verifier) error {
	rows, err := r.file.conn.QueryContext(ctx, `SELECT c.seq, c.hash, c.content, e.time, e.kind, e.server, e.item, e.tenant, e.subject, e.method, e.outcome, e.request
		FROM contents c LEFT JOIN events e ON e.seq = c.seq ORDER BY c.seq`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var seq int64
		var sum, text []byte
		var when *int64
		var t [8]*string
		if err := rows.Scan(&seq, &sum, &text, &when, &t[0], &t[1], &t[2], &t[3], &t[4], &t[5], &t[6],
			&t[7]); err != nil {
			return err
		}
		var k *keys
		if when != nil {
			k = &keys{*when, *t[0], *t[1], *t[2], *t[3], *t[4], *t[5], *t[6], *t[7]}
		}
		v.row(seq, sum, text, k)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	var first *int64
	err = r.file.conn.QueryRowContext(ctx,
		`SELECT min(seq) FROM events WHERE seq NOT IN (SELECT seq FROM contents)`).Scan(&first)
	if err == nil && first != nil {
		v.find(*first, "added", "the row has no content")
	}
	return err
}

// row checks the next row. k are its keys in the table events; nil: they are missing.
func (v *verifier) row(seq int64, sum, text []byte, k *keys) {
	v.report.Rows++
	if seq < v.next {
		v.find(seq, "added", "the row is before the first one")
		return
	}
	if seq > v.next {
		v.find(v.next, "removed", missingText(v.next, seq-1))
		v.known = false
	}
	var own hash
	copy(own[:], sum)
	fits := v.fits(seq, own, text) && len(sum) == len(own)
	v.compare(seq, own)
	var content Row
	switch {
	case !fits:
	case json.Unmarshal(text, &content) != nil:
		v.find(seq, "altered", "the content is not valid")
	case k == nil:
		v.find(seq, "hidden", "the row is missing in the table events")
	case *k != content.keys():
		v.find(seq, "altered", "the table events has something else than the content of the row")
	}
	v.next, v.before, v.known = seq+1, own, true
}

// fits reports whether the hash of a row fits its content and the row before.
func (v *verifier) fits(seq int64, own hash, content []byte) bool {
	if !v.known || v.before.next(seq, content) == own {
		return true
	}
	if len(v.report.Findings) < maxFindings {
		v.unfitting = append(v.unfitting,
			unfittingRow{seq, v.before, own, bytes.Clone(content), len(v.report.Findings)})
	}
	v.find(seq, "altered", "the hash does not fit the content of the row and of the row before")
	return false
}

// reorder finds rows that were only moved: their hashes fit another place.
func (v *verifier) reorder() {
	for _, m := range v.unfitting {
		for _, at := range v.unfitting {
			for _, other := range v.unfitting {
				if at.seq != m.seq &&
					(other.before.next(at.seq, m.content) == m.own || other.own.next(at.seq, m.content) == m.own) {
					f := &v.report.Findings[m.finding]
					f.Problem, f.Detail = "reordered", fmt.Sprintf("the row belongs at %d", at.seq)
				}
			}
		}
	}
}

func missingText(from, to int64) string {
	if from == to {
		return fmt.Sprintf("row %d is missing", from)
	}
	return fmt.Sprintf("rows %d to %d are missing", from, to)
}

// end checks the end of the chain.
func (v *verifier) end(c chain) {
	switch {
	case v.next <= c.last:
		v.find(v.next, "truncated", missingText(v.next, c.last)+" at the end")
	case v.next > c.last+1:
		v.find(c.last+1, "added", fmt.Sprintf("the chain ends with row %d", c.last))
	case v.before != c.head:
		v.find(c.last, "altered", "the last row has another hash than the head of the chain")
	}
	for seq := range v.heads {
		switch {
		case seq >= v.next:
			v.find(v.next, "truncated", fmt.Sprintf("the given head is row %d, and the last row is %d", seq, v.next-1))
		case seq >= c.first:
			v.find(seq, "removed", "the row of the given head is missing")
		case v.compared < 0:
			v.find(seq, "removed",
				fmt.Sprintf("the row of the given head is missing: the log begins with row %d; give a newer head",
					cmp.Or(v.begin, c.first)))
		}
	}
}

func (v *verifier) find(seq int64, problem, detail string) {
	if len(v.report.Findings) < maxFindings {
		v.report.Findings = append(v.report.Findings, Finding{seq, problem, detail})
	}
}

// verifyFound checks that a search finds each row: that its block has its values and its
// time.
func (r *Reader) verifyFound(ctx context.Context, v *verifier) error {
	var fields []string
	for _, one := range (&keys{}).found() {
		fields = append(fields,
			fmt.Sprintf(`SELECT min(seq), '%[1]s', %[1]s FROM events WHERE %[1]s != '' GROUP BY seq >> %[2]d, %[1]s
			HAVING NOT EXISTS (SELECT 1 FROM found f WHERE f.field = '%[1]s' AND f.value = events.%[1]s AND f.block = events.seq >> %[2]d)`,
				one.field, blockBits))
	}
	fields = append(fields,
		fmt.Sprintf(`SELECT min(e.seq), 'time', '' FROM events e LEFT JOIN spans s ON s.block = e.seq >> %[1]d
		GROUP BY e.seq >> %[1]d HAVING min(e.time) < coalesce(s.earliest, max(e.time) + 1) OR max(e.time) > s.latest`,
			blockBits))
	for _, query := range fields {
		rows, err := r.file.conn.QueryContext(ctx, query)
		if err != nil {
			return err
		}
		for rows.Next() {
			var seq int64
			var field, value string
			if err := rows.Scan(&seq, &field, &value); err != nil {
				return err
			}
			v.find(seq, "hidden",
				strings.TrimSpace(fmt.Sprintf("a search does not find the row by %s %s", field, value)))
		}
		if err := rows.Close(); err != nil {
			return err
		}
	}
	return nil
}
