package operate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/junctor-mcp/junctor/cmd/host/auditlog"
	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/host/audit"
	"github.com/junctor-mcp/junctor/host/policy"
)

var auditHeader = []string{"ROW", "TIME", "SUBJECT", "WHAT", "SERVER", "ITEM", "OUTCOME", "MS", "WHY"}

// auditCells returns a row for people.
func auditCells(r *audit.Row) []string {
	what, ms, why := cmp.Or(r.Method, string(r.Kind)), "", r.Message
	if r.Kind != audit.Request {
		what = strings.ReplaceAll(string(r.Kind), "_", " ")
	}
	if r.DurationMS > 0 {
		ms = strconv.FormatFloat(r.DurationMS, 'f', 0, 64)
	}
	switch {
	case r.Outcome.Denied() && r.Rule != "", why == "" && r.Detail == "" && r.Rule != policy.NoRule:
		why = strings.TrimPrefix(r.Rule, "no rule matches, and ") // the place is what matters
	case why == "":
		why = r.Detail
	}
	switch {
	case r.Count > 0 && r.Kind == audit.AuthFailure:
		why = fmt.Sprintf("%d more: %s", r.Count, r.Detail)
	case r.Count > 0:
		why = fmt.Sprintf("%s missing: %s", terminal.Count(r.Count, "event"), r.Detail)
	case r.Hidden > 0 && why == "":
		why = fmt.Sprintf("the policy hides %s", terminal.Count(r.Hidden, "item"))
	}
	return []string{strconv.FormatInt(r.Seq, 10), r.Time.Local().Format(time.DateTime), r.Subject, what,
		cmp.Or(r.Server, r.Plugin), r.Item, string(r.Outcome), ms, why}
}

// printRows prints rows in a table.
func printRows(inv *invocation.Invocation, all []audit.Row) {
	var cells [][]string
	for i := range all {
		cells = append(cells, auditCells(&all[i]))
	}
	inv.Table(auditHeader, cells)
}

// printRow prints everything about a row.
func printRow(inv *invocation.Invocation, r *audit.Row) {
	for _, f := range audit.Fields() {
		if text := f.Text(r); text != "" {
			inv.Printf("%-17s  %s\n", f.Label(), oneCellOr(text, f.Payload))
		}
	}
}

// oneCellOr returns a text for one line, or the whole text.
func oneCellOr(text string, whole bool) string {
	text = strings.Join(strings.Fields(terminal.Safe(text)), " ")
	if whole {
		return text
	}
	return ansi.Truncate(text, 2*terminal.WithoutWidth, "…")
}

// followEvery is the interval at which new rows are read.
const followEvery = 250 * time.Millisecond

// tailFlags are the flags of tail alone.
type tailFlags struct {
	follow, cursor bool   // cursor: --after is given
	format         string // empty: a table, or JSON for a program
}

// auditTail prints the last rows, the newest one at the end, and with follow those that are
// added.
func (o *tailOptions) run(ctx context.Context) error {
	inv := o.inv
	filter, err := o.Filter(time.Now())
	if err != nil {
		return err
	}
	var x *audit.Exporter
	if o.format != "" {
		if x, err = newExporter(inv, o.format); err != nil {
			return err
		}
	}
	r, err := auditlog.Open(ctx, inv, o.File)
	if err != nil {
		return err
	}
	defer r.Close()
	if o.cursor && o.follow && filter.Limit == 0 {
		return followRows(ctx, r, filter, filter.After, newTailPrinter(inv, x))
	}
	last, err := r.Last() // before the rows are read: what follows is new
	if err != nil {
		return err
	}
	all, err := rows(ctx, r, filter, !o.cursor)
	if err != nil {
		return err
	}
	if !o.cursor {
		slices.Reverse(all)
	}
	all = slices.DeleteFunc(all, func(row audit.Row) bool { return row.Seq > last })
	switch {
	case !o.follow && x == nil && inv.Machine():
		return inv.PrintJSON(all)
	case !o.follow && x == nil:
		printRows(inv, all)
		return nil
	}
	p := newTailPrinter(inv, x)
	for i := range all {
		if err := p.row(&all[i]); err != nil {
			return err
		}
	}
	if !o.follow {
		return p.flush()
	}
	if n := len(all); o.cursor && n == filter.Limit && n > 0 {
		last = all[n-1].Seq // the limit may have left out rows after it
	}
	return followRows(ctx, r, filter, last, p)
}

// A tailPrinter prints rows as they come: as lines of columns, as JSON or in a format.
type tailPrinter struct {
	inv *invocation.Invocation
	x   *audit.Exporter // nil: columns or JSON
}

// newTailPrinter returns a printer. It prints the header of columns.
func newTailPrinter(inv *invocation.Invocation, x *audit.Exporter) tailPrinter {
	if x == nil && !inv.Machine() {
		printCells(inv, auditHeader)
	}
	return tailPrinter{inv, x}
}

func (p tailPrinter) row(r *audit.Row) error {
	switch {
	case p.x != nil:
		if err := p.x.Write(r); err != nil {
			return terminal.WriteFault("standard output", err)
		}
	case p.inv.Machine():
		return p.inv.PrintLine(r)
	default:
		printCells(p.inv, auditCells(r))
	}
	return p.inv.Stdout.Err
}

func (p tailPrinter) flush() error {
	if p.x != nil {
		if err := p.x.Flush(); err != nil {
			return terminal.WriteFault("standard output", err)
		}
	}
	return p.inv.Stdout.Err
}

// followRows prints the rows after the last one, until ctx ends.
func followRows(ctx context.Context, r *audit.Reader, filter audit.Filter, last int64, p tailPrinter) error {
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	filter.Limit = 0
	for {
		if err := p.flush(); err != nil {
			return err
		}
		filter.After = last
		until, err := r.Last()
		if err != nil {
			return err
		}
		var failed error
		if until > last {
			err = r.Each(ctx, filter, false, func(row audit.Row) bool {
				if row.Seq <= until { // else the next round has it
					failed = p.row(&row)
				}
				return row.Seq <= until && failed == nil
			})
		}
		switch {
		case ctx.Err() != nil:
			return nil
		case cmp.Or(failed, err) != nil:
			return cmp.Or(failed, err)
		}
		last = max(last, until)
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// followWidths are the widths of the columns but the last.
var followWidths = []int{8, 19, 14, 14, 14, 24, 17, 7}

// printCells prints a line of columns with fixed widths.
func printCells(inv *invocation.Invocation, cells []string) {
	var b strings.Builder
	for i, width := range followWidths {
		cell := ansi.Truncate(terminal.OneCell(cells[i]), width, "…")
		b.WriteString(cell + strings.Repeat(" ", width-ansi.StringWidth(cell)+terminal.ColumnGap))
	}
	inv.Printf("%s\n", strings.TrimRight(b.String()+terminal.OneCell(cells[len(cells)-1]), " "))
}
