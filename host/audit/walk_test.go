package audit

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// archivedLog returns a log with the rows 1 to n of sample, of which the first ones are in
// several archives.
func archivedLog(t *testing.T, n int) string {
	t.Helper()
	path := newPath(t)
	f, err := openFile(path, false, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	for i := 1; i <= n; i += 100 {
		var batch []entry
		for j := i; j < i+100; j++ {
			batch = append(batch, entry{Event: sample(j)})
		}
		if _, err := f.append(batch, nil); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		if _, err := f.archive(1); err != nil { // each in an archive of its own
			t.Fatal(err)
		}
	}
	if len(Archives(path)) != 3 {
		t.Fatalf("archives: %v", Archives(path))
	}
	for i, archive := range Archives(path) {
		// The last row of an archive is not newer than the archive.
		moved := sample((i+1)*pruneRows/8 + 1).Time
		if err := os.Chtimes(archive, moved, moved); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// collect returns the numbers of the selected rows.
func collect(t *testing.T, path string, f Filter, newestFirst bool) (all []int64) {
	t.Helper()
	r, err := OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := r.Each(t.Context(), f, newestFirst,
		func(row Row) bool { all = append(all, row.Seq); return true }); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestReaderReadsArchivesLikeTheFile compares a log with archives and one without, in both
// orders.
func TestReaderReadsArchivesLikeTheFile(t *testing.T) {
	if testing.Short() {
		t.Skip("slow with the race detector, and uses one goroutine only")
	}
	const rows = 3000
	path, whole := archivedLog(t, rows), newPath(t)
	f, err := openFile(whole, false, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	var batch []entry
	for i := 1; i <= rows; i++ {
		batch = append(batch, entry{Event: sample(i)})
	}
	if _, err := f.append(batch, nil); err != nil {
		t.Fatal(err)
	}
	at := func(n int) time.Time { return sample(n).Time }
	for name, filter := range map[string]Filter{
		"all":                 {},
		"limit":               {Limit: 7},
		"limit over both":     {Limit: 2900},
		"after in archive":    {After: 100, Limit: 500},
		"after in file":       {After: 2500},
		"before in archive":   {Before: 130},
		"between":             {After: 50, Before: 2990},
		"since":               {Since: at(300)},
		"until":               {Until: at(200)},
		"server":              {Server: "server-3"},
		"item pattern":        {Item: "tool_1*7"},
		"subject, two stars":  {Subject: "*er-4*"},
		"tenant, none":        {Tenant: "acm"},
		"kind":                {Kind: Login},
		"outcome":             {Outcome: Failed},
		"errors":              {Errors: true},
		"denied":              {Denied: true},
		"uses":                {Uses: true, Limit: 20},
		"request, no such id": {Request: "none"},
		"method":              {Method: "tools/*", Before: 40},
	} {
		for _, newest := range []bool{false, true} {
			got, want := collect(t, path, filter, newest), collect(t, whole, filter, newest)
			if !slices.Equal(got, want) {
				t.Errorf("%s, newest first %v: %d rows %.60s, want %d rows %.60s",
					name, newest, len(got), fmt.Sprint(got), len(want), fmt.Sprint(want))
			}
		}
	}
	verified(t, path)
}

// TestReaderFollowsRowsThatMove moves rows to archives while they are read.
func TestReaderFollowsRowsThatMove(t *testing.T) {
	if testing.Short() {
		t.Skip("slow with the race detector, and uses one goroutine only")
	}
	for _, newest := range []bool{false, true} {
		path := archivedLog(t, 6000)
		f, err := openFile(path, false, 0)
		if err != nil {
			t.Fatal(err)
		}
		r, err := OpenReader(path)
		if err != nil {
			t.Fatal(err)
		}
		var got []int64
		err = r.Each(t.Context(), Filter{}, newest, func(row Row) bool {
			if got = append(got, row.Seq); row.Seq%500 == 0 {
				if _, err := f.archive(1 << 30); err != nil {
					t.Error(err)
				}
			}
			return true
		})
		if err != nil || len(got) != 6000 || !slices.IsSortedFunc(got, func(a, b int64) int {
			if newest {
				return int(b - a)
			}
			return int(a - b)
		}) || len(slices.Compact(got)) != 6000 {
			t.Errorf("newest first %v: %d rows, %v", newest, len(got), err)
		}
		_, _ = r.Close(), f.close()
	}
}

// TestReaderReadsOneArchive opens an archive in place of the log.
func TestReaderReadsOneArchive(t *testing.T) {
	path := archivedLog(t, 1000)
	archive := Archives(path)[1]
	f, err := os.OpenFile(archive, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"seq":9999,"ha`); err != nil { // a process was killed
		t.Fatal(err)
	}
	f.Close()
	r, err := OpenReader(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	up, down := collect(t, archive, Filter{}, false), collect(t, archive, Filter{}, true)
	last, err := r.Last()
	slices.Reverse(down)
	if err != nil || !slices.Equal(up, down) || len(up) != pruneRows/8 || up[0] != pruneRows/8+1 ||
		last != up[len(up)-1] {
		t.Errorf("rows %d to %d, %d; last %d, %v", up[0], up[len(up)-1], len(up), last, err)
	}
	c, err := r.chain()
	head := headText(c)
	if err != nil || !strings.HasPrefix(head, fmt.Sprint(last)+":") {
		t.Errorf("head %s, %v", head, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.Each(ctx, Filter{}, true, func(Row) bool { return true }); err == nil {
		t.Error("a cancelled search goes on")
	}
	if err := os.WriteFile(archive, []byte("{\"seq\":1 is damaged\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := r.Each(t.Context(), Filter{}, false, func(Row) bool { return true }); err == nil ||
		!strings.Contains(err.Error(), "is not a row") {
		t.Errorf("a damaged archive: %v", err)
	}
}

// TestArchiveGoesOnAfterPartOfALine cuts the last line of an archive, as a crash does.
func TestArchiveGoesOnAfterPartOfALine(t *testing.T) {
	path := archivedLog(t, 1000)
	f, err := openFile(path, false, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	last := Archives(path)[2]
	file, err := os.OpenFile(last, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteString(`{"seq":385,"hash":"00`); err != nil {
		t.Fatal(err)
	}
	file.Close() // which also makes it one of today
	if _, err := f.archive(1 << 30); err != nil {
		t.Fatal(err)
	}
	if all := Archives(path); len(all) != 3 {
		t.Errorf("an archive of today is not continued: %v", all)
	}
	verified(t, path)
	if all := collect(t, path, Filter{}, false); len(all) != 1000 {
		t.Errorf("%d rows", len(all))
	}
}

// TestFileStaysWithinMaxSize writes as fast as the writer can.
func TestFileStaysWithinMaxSize(t *testing.T) {
	const most = 1 << 20
	rows := 12_000
	if testing.Short() {
		rows /= 4 // the race detector makes it slow
	}
	path := newPath(t)
	l := newLog(t, Settings{File: path, MaxSize: most})
	largest := int64(0)
	for n := 1; n <= rows; n++ {
		e := sample(n)
		if _, err := l.Begin(); err != nil {
			t.Fatal(err)
		}
		l.End(&e)
		if n%20 == 0 {
			size := int64(0)
			for _, suffix := range []string{"", "-wal"} {
				if info, err := os.Stat(path + suffix); err == nil {
					size += info.Size()
				}
			}
			largest = max(largest, size)
		}
	}
	l.Close()
	t.Logf("at most %d bytes of %d; %d archives", largest, most, len(Archives(path)))
	if largest > most*6/5 {
		t.Errorf("the file and its WAL have %d bytes, max_size is %d", largest, most)
	}
	if all := rowsOf(t, path, Filter{}); len(all) != rows {
		t.Errorf("%d rows", len(all))
	}
	verified(t, path)
}

// TestFileAloneHasRows copies the file without its WAL.
func TestFileAloneHasRows(t *testing.T) {
	path := newPath(t)
	f, err := openFile(path, false, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	if _, err := f.append([]entry{{Event: sample(1)}, {Event: sample(2)}}, nil); err != nil {
		t.Fatal(err)
	}
	if err := f.checkpoint(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	alone := newPath(t)
	if err := os.WriteFile(alone, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if all := rowsOf(t, alone, Filter{}); len(all) != 2 {
		t.Errorf("a copy of the file has %d rows", len(all))
	}
}
