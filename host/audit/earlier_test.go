package audit

import (
	"database/sql"
	"fmt"
	"testing"
)

// earlierSchema is that of version 1, as the first release wrote it. It never changes: a later
// schema gets another text and another number.
const earlierSchema = `
CREATE TABLE events (
	seq INTEGER PRIMARY KEY, time INTEGER NOT NULL, kind TEXT NOT NULL, server TEXT NOT NULL, item TEXT NOT NULL,
	tenant TEXT NOT NULL, subject TEXT NOT NULL, method TEXT NOT NULL, outcome TEXT NOT NULL, request TEXT NOT NULL);
CREATE TABLE contents (seq INTEGER PRIMARY KEY, hash BLOB NOT NULL, content BLOB NOT NULL);
CREATE TABLE found (field TEXT NOT NULL, value TEXT NOT NULL, block INTEGER NOT NULL, PRIMARY KEY (field, value, block)) WITHOUT ROWID;
CREATE TABLE spans (block INTEGER PRIMARY KEY, earliest INTEGER NOT NULL, latest INTEGER NOT NULL);
CREATE TABLE chain (one INTEGER PRIMARY KEY CHECK (one = 1), first INTEGER NOT NULL, anchor BLOB NOT NULL, last INTEGER NOT NULL, head BLOB NOT NULL);
INSERT INTO chain VALUES (1, 1, zeroblob(32), 2, x'%s');
PRAGMA application_id = 1249209953; PRAGMA user_version = 1;
`

// The rows of a log of version 1: one without the members that were added since, and one with a
// member that this version does not know.
const (
	earlierRow   = `{"time":"2026-11-01T10:00:00.000000Z","kind":"request","tenant":"acme","subject":"alice","server":"files","item":"read_file","method":"tools/call","outcome":"ok","duration_ms":1.5}`
	laterRow     = `{"time":"2026-11-01T10:00:01.000000Z","kind":"request","tenant":"acme","subject":"bob","server":"files","item":"delete_file","method":"tools/call","outcome":"denied","colour":"blue"}`
	earlierHash  = "505af0213f5eb2ab5815d3574a28631dd569d56f5425113d8f1bfe5839b40836"
	laterHash    = "6787feb737f5c826cbf4a21eaead2594109191014abd3d5a233e5a9522ceb157"
	microsecond0 = 1793527200000000
)

// earlierLog writes a log as the first release did, without the code of this one.
func earlierLog(t *testing.T) string {
	t.Helper()
	path := newPath(t)
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	script := fmt.Sprintf(earlierSchema, laterHash)
	for n, row := range []struct{ content, hash, item, subject, outcome string }{
		{earlierRow, earlierHash, "read_file", "alice", "ok"}, {laterRow, laterHash, "delete_file", "bob", "denied"},
	} {
		script += fmt.Sprintf("INSERT INTO contents VALUES (%d, x'%s', CAST('%s' AS BLOB));\n",
			n+1, row.hash, row.content)
		script += fmt.Sprintf(
			"INSERT INTO events VALUES (%d, %d, 'request', 'files', '%s', 'acme', '%s', 'tools/call', '%s', '');\n",
			n+1, microsecond0+1000000*n, row.item, row.subject, row.outcome,
		)
		for _, one := range [][2]string{{"kind", "request"}, {"server", "files"}, {"item", row.item},
			{"tenant", "acme"}, {"subject", row.subject}, {"method", "tools/call"}, {"outcome", row.outcome}} {
			script += fmt.Sprintf("INSERT OR IGNORE INTO found VALUES ('%s', '%s', 0);\n", one[0], one[1])
		}
	}
	script += fmt.Sprintf("INSERT INTO spans VALUES (0, %d, %d);\n", microsecond0, microsecond0+1000000)
	if _, err := db.Exec(script); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestLogOfAnEarlierVersion reads and verifies a log that another version wrote, adds rows to it
// and verifies it again.
func TestLogOfAnEarlierVersion(t *testing.T) {
	path := earlierLog(t)
	r, err := OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	var all []Row
	if err := r.Each(t.Context(), Filter{}, false,
		func(row Row) bool { all = append(all, row); return true }); err != nil ||
		len(all) != 2 {
		t.Fatalf("%+v, %v", all, err)
	}
	if row := all[0]; row.Subject != "alice" || row.DurationMS != 1.5 || row.Hash != earlierHash || row.Hidden != 0 {
		t.Errorf("%+v", row)
	}
	r.Close()
	if all := collect(t, path, Filter{Subject: "bob", Denied: true}, true); fmt.Sprint(all) != "[2]" {
		t.Errorf("a search finds %v", all)
	}
	for _, rows := range []int64{2, 12} {
		reports, err := VerifyAll(t.Context(), path, nil)
		if err != nil || len(reports) != 1 || reports[0].Rows != rows || len(reports[0].Findings) > 0 {
			t.Fatalf("%+v, %v, want %d rows", reports, err, rows)
		}
		l := newLog(t, Settings{File: path, Full: true})
		for n := range 10 {
			_, _ = l.Begin()
			e := sample(n)
			l.End(&e)
		}
		l.Close()
	}
}
