package console

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/host/logbuffer"
)

// maxDetails is the number of bytes of texts that the records of a page show beyond their
// first line.
const maxDetails = 256 << 10

// logLevels are the levels of records, the most severe first.
var logLevels = []string{"error", "warn", "info", "debug", "trace"}

// A logView is the content of the page of the log. The records are those of Sources.Journal.
type logView struct {
	Query, Level, Server string
	Levels, Servers      []string
	Kept                 string // the level of the log
	Rows                 []logRow
	Found                int
	pager
}

// A logRow is a record of the log.
type logRow struct {
	Time    time.Time
	Level   string
	About   string // a server or a plugin; may be empty
	Message string
	Fields  []Detail
	Texts   []Detail // in full, of a record that is long
}

// showLog writes the page. The goroutine of the request runs it; it keeps no state.
func showLog(w http.ResponseWriter, r *http.Request, q *request) error {
	st := q.sources.Process.Status(r.Context())
	get := func(name string) string { return cutBytes(strings.TrimSpace(r.URL.Query().Get(name)), maxQuery) }
	v := logView{Query: get("q"), Level: get("level"), Server: get("server"), Levels: logLevels, Kept: st.LogLevel}
	for _, s := range st.Servers {
		v.Servers = append(v.Servers, s.Server)
	}
	for _, p := range st.Plugins {
		if !slices.Contains(v.Servers, p.Plugin) {
			v.Servers = append(v.Servers, p.Plugin)
		}
	}
	words := strings.Fields(strings.ToLower(v.Query))
	found := slices.DeleteFunc(q.sources.Journal.Records(), func(r *logbuffer.Record) bool {
		return severity(r.Level) > severity(cmp.Or(v.Level, "trace")) ||
			v.Server != "" && r.Server != v.Server && r.Plugin != v.Server || !recordHas(r, words)
	})
	v.Found, v.pager = len(found), pagerOf(pageNumber(r), len(found))
	left := maxDetails
	for _, r := range found[max(v.From-1, 0):v.To] {
		v.Rows = append(v.Rows, rowOf(r, &left))
	}
	q.show(w, http.StatusOK, "log", "Log", v)
	return nil
}

// severity returns the place of a level in logLevels. A level that is not known is the
// least severe one.
func severity(level string) int {
	if i := slices.Index(logLevels, level); i >= 0 {
		return i
	}
	return len(logLevels) - 1
}

// recordHas reports whether each word is part of a record. The words are in lower case.
func recordHas(r *logbuffer.Record, words []string) bool {
	if len(words) == 0 {
		return true
	}
	var b strings.Builder
	b.WriteString(r.Message + "\n" + r.Server + "\n" + r.Plugin)
	for _, name := range r.Names() {
		b.WriteString("\n" + name + "=" + logbuffer.Text(r.Fields[name]))
	}
	text := strings.ToLower(hideLinks(b.String()))
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
}

// shownFields is the number of fields in the row of a record.
const shownFields = 8

// rowOf returns a record for the page. left is what remains of the bytes of long texts.
func rowOf(r *logbuffer.Record, left *int) logRow {
	row := logRow{Time: r.Time, Level: logLevels[severity(r.Level)], About: cmp.Or(r.Server, r.Plugin),
		Message: hideLinks(r.Message)}
	all, long := []Detail{{"Message", row.Message}}, isLong(row.Message)
	for _, name := range r.Names() {
		d := Detail{name, hideLinks(logbuffer.Text(r.Fields[name]))}
		if d.Value == "" { // it does not apply
			continue
		}
		all, long = append(all, d), long || isLong(d.Value)
	}
	row.Fields = all[1:min(len(all), shownFields+1)]
	if long = long || len(all) > shownFields+1; !long {
		return row
	}
	for _, d := range all {
		if *left -= len(d.Name) + len(d.Value); *left < 0 {
			break
		}
		row.Texts = append(row.Texts, d)
	}
	return row
}

// isLong reports whether a line does not show all of a text.
func isLong(text string) bool {
	return len(text) > maxLine || strings.ContainsRune(strings.TrimRight(text, "\n"), '\n')
}
