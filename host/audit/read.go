package audit

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
)

// A Filter selects rows. Empty fields select all. In Server, Item, Tenant, Subject and
// Method, '*' stands for any text. It is a value.
type Filter struct {
	Since, Until time.Time // when the event began: from Since on, and before Until
	Kind         Kind
	Server, Item string
	Tenant       string
	Subject      string
	Method       string
	Outcome      Outcome
	Request      string // id of the request
	Errors       bool   // every outcome but ok
	Denied       bool   // outcomes of the policy and of approvals
	Uses         bool   // no requests that succeeded but for uses of an item; all other kinds
	After        int64  // rows with a greater sequence number
	Before       int64  // rows with a smaller sequence number; 0: all
	Limit        int    // rows; 0: all
}

// A Reader reads a log with its archives, or one archive. One goroutine uses it. The log may
// be written meanwhile. Its opener closes it.
type Reader struct {
	path string
	file *file // nil: path is an archive
}

// OpenReader opens the log at a path for reading. The path may be that of an archive.
func OpenReader(path string) (*Reader, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, fault.New(fault.AuditUnknown, "there is no audit log at %s", path).
			WithHint(
				"an audit block in the configuration starts the log with the next request; --file names another one",
			)
	}
	if isArchive(path) {
		return &Reader{path: path}, nil
	}
	f, err := connect(path, "rw") // a reader of a file in WAL mode writes to the file beside it
	if err != nil {
		return nil, fault.Because(fault.AuditFile, err, "the audit log %s cannot be opened", path)
	}
	err = f.exec(fmt.Sprintf("PRAGMA busy_timeout = %d; PRAGMA query_only = 1", busyTime.Milliseconds()))
	if err == nil {
		var mark, version int
		if mark, version, _, err = f.marks(); err == nil && (mark != applicationID || version != schemaVersion) {
			err = errForeign
		}
	}
	if err != nil {
		f.close()
		return nil, fault.Because(fault.AuditFile, err, "the audit log %s cannot be read", path)
	}
	return &Reader{path, f}, nil
}

// Close closes the reader.
func (r *Reader) Close() error {
	if r.file == nil {
		return nil
	}
	return r.file.close()
}

// Last returns the sequence number of the last row.
func (r *Reader) Last() (int64, error) {
	c, err := r.chain()
	return c.last, err
}

// chain returns the chain. All rows of an archive are before its first one, as if a file
// without rows followed.
func (r *Reader) chain() (chain, error) {
	if r.file == nil {
		return lastArchived(r.path)
	}
	return r.file.chain()
}

// Each calls yield with each selected row, from the first or from the last one on, until
// yield returns false. Rows in archives are older than those in the file. It blocks while it
// reads; yield runs on the same goroutine.
func (r *Reader) Each(ctx context.Context, f Filter, newestFirst bool, yield func(Row) bool) error {
	w := &walk{Reader: r, filter: f, left: f.Limit, yield: yield}
	err := error(nil)
	if newestFirst {
		err = w.newest(ctx)
	} else {
		err = w.oldest(ctx)
	}
	if err == nil || errors.Is(err, errEnough) {
		return nil
	}
	return r.failed(err)
}

func (r *Reader) failed(err error) error {
	if _, ok := errors.AsType[*fault.Error](err); ok || errors.Is(err, context.Canceled) {
		return err
	}
	return fault.Because(fault.AuditFile, err, "the audit log %s cannot be read", r.path).
		WithHint("junctor audit verify says whether it is damaged")
}

// A clause is a part of a WHERE clause with its arguments.
type clause struct {
	text []string
	args []any
}

func (c *clause) add(text string, args ...any) {
	c.text, c.args = append(c.text, text), append(c.args, args...)
}

func (c *clause) String() string {
	if len(c.text) == 0 {
		return "1"
	}
	return strings.Join(c.text, " AND ")
}

// condition returns the condition for a column, and its argument.
func condition(column, pattern string) (text string, arg any) {
	if !strings.Contains(pattern, "*") {
		return column + " = ?", pattern
	}
	return column + " GLOB ?", strings.NewReplacer("[", "[[]", "?", "[?]").Replace(pattern)
}

// patterns returns the patterns of a filter by column.
func (f *Filter) patterns() []foundKey {
	var all []foundKey
	for _, p := range []foundKey{
		{"kind", string(f.Kind)}, {"server", f.Server}, {"item", f.Item}, {"tenant", f.Tenant}, {"subject", f.Subject},
		{"method", f.Method}, {"outcome", string(f.Outcome)},
	} {
		if p.value != "" {
			all = append(all, p)
		}
	}
	return all
}

// uses are the methods that use an item, as in a clause.
const uses = "('" + mcp.MethodCallTool + "', '" + mcp.MethodReadResource + "', '" + mcp.MethodGetPrompt + "')"

const deniedOutcomes = "('" +
	string(Denied) + "', '" + string(ApprovalRequired) + "', '" + string(ApprovalDenied) + "')"

// blocks returns the blocks that may have selected rows.
func (r *Reader) blocks(ctx context.Context, f *Filter, newestFirst bool) (all []int64, err error) {
	var c clause
	if !f.Since.IsZero() {
		c.add("latest >= ?", f.Since.UnixMicro())
	}
	if !f.Until.IsZero() {
		c.add("earliest < ?", f.Until.UnixMicro())
	}
	if f.After > 0 {
		c.add("block >= ?", (f.After+1)>>blockBits)
	}
	if f.Before > 0 {
		c.add("block <= ?", (f.Before-1)>>blockBits)
	}
	for _, p := range f.patterns() {
		text, arg := condition("value", p.value)
		c.add("block IN (SELECT block FROM found WHERE field = '"+p.field+"' AND "+text+")", arg)
	}
	if f.Errors {
		c.add("block IN (SELECT block FROM found WHERE field = 'outcome' AND value != 'ok')")
	}
	if f.Denied {
		c.add("block IN (SELECT block FROM found WHERE field = 'outcome' AND value IN " + deniedOutcomes + ")")
	}
	if f.Uses {
		c.add("block IN (SELECT block FROM found WHERE field = 'method' AND value IN " + uses +
			" OR field = 'outcome' AND value != 'ok' OR field = 'kind' AND value != '" + string(Request) + "')")
	}
	rows, err := r.file.conn.QueryContext(ctx,
		`SELECT block FROM spans WHERE `+c.String()+` ORDER BY block `+order(newestFirst), c.args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var block int64
		if err := rows.Scan(&block); err != nil {
			return nil, err
		}
		all = append(all, block)
	}
	return all, rows.Err()
}

func order(newestFirst bool) string {
	if newestFirst {
		return "DESC"
	}
	return "ASC"
}

// inBlock returns the selected rows of a block, at most limit; 0: all. first is the first row
// of the file at that moment: those before it are in archives.
func (r *Reader) inBlock(ctx context.Context, f *Filter, block int64, newestFirst bool,
	limit int) (all []Row, first int64, err error) {
	if err := r.file.exec("BEGIN"); err != nil {
		return nil, 0, err
	}
	defer func() { _ = r.file.exec("COMMIT") }()
	c, err := r.file.chain()
	if err == nil {
		all, err = r.selected(ctx, f, block, newestFirst, limit)
	}
	return all, c.first, err
}

func (r *Reader) selected(ctx context.Context, f *Filter, block int64, newestFirst bool,
	limit int) (all []Row, err error) {
	var c clause
	last := (block+1)<<blockBits - 1
	if f.Before > 0 {
		last = min(last, f.Before-1)
	}
	c.add("e.seq BETWEEN ? AND ?", max(block<<blockBits, f.After+1), last)
	if !f.Since.IsZero() {
		c.add("e.time >= ?", f.Since.UnixMicro())
	}
	if !f.Until.IsZero() {
		c.add("e.time < ?", f.Until.UnixMicro())
	}
	for _, p := range f.patterns() {
		text, arg := condition("e."+p.field, p.value)
		c.add(text, arg)
	}
	if f.Request != "" {
		c.add("e.request = ?", f.Request)
	}
	if f.Errors {
		c.add("e.outcome NOT IN ('ok', '')")
	}
	if f.Denied {
		c.add("e.outcome IN " + deniedOutcomes)
	}
	if f.Uses {
		c.add("(e.method IN " + uses + " OR e.outcome NOT IN ('ok', '') OR e.kind != '" + string(Request) + "')")
	}
	query := `SELECT e.seq, c.hash, c.content FROM events e CROSS JOIN contents c ON c.seq = e.seq WHERE ` +
		c.String() + ` ORDER BY e.seq ` + order(newestFirst)
	if limit > 0 {
		query += fmt.Sprintf(" LIMIT %d", limit)
	}
	rows, err := r.file.conn.QueryContext(ctx, query, c.args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		row, err := scanRow(rows.Scan)
		if err != nil {
			return nil, err
		}
		all = append(all, row)
	}
	return all, rows.Err()
}

// scanRow reads a sequence number, a hash and a content.
func scanRow(scan func(...any) error) (row Row, err error) {
	var sum, text []byte
	var seq int64
	if err := scan(&seq, &sum, &text); err != nil {
		return row, err
	}
	return parseRow(seq, sum, text)
}

// parseRow returns the row with a content.
func parseRow(seq int64, sum, text []byte) (row Row, err error) {
	if err := json.Unmarshal(text, &row); err != nil {
		return row, fault.New(fault.AuditAltered, "row %d of the audit log is damaged: %v", seq, err).
			WithHint("junctor audit verify finds every such row")
	}
	row.Seq, row.Hash = seq, hex.EncodeToString(sum)
	return row, nil
}
