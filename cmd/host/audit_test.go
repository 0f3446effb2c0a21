package main

import (
	"database/sql"
	"fmt"
	_ "modernc.org/sqlite"
	"os"
)

// alter changes what the second row of an audit log says, as a user with SQL can. It gives
// the first three rows one request id.
func alter() {
	db, err := sql.Open("sqlite", os.Args[1])
	if err == nil {
		_, err = db.Exec(`UPDATE contents SET content = replace(content, 'local', 'other') WHERE seq = 2;
			UPDATE events SET request = 'same' WHERE seq <= 3`)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	_ = db.Close()
}

// rotate moves the first rows of a log to an archive, as max_size does: rotate FILE LAST.
func rotate() {
	if err := rotateRows(os.Args[1], os.Args[2]); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

func rotateRows(path, last string) error {
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return err
	}
	defer db.Close()
	rows, err := db.Query("SELECT seq, hash, content FROM contents WHERE seq <= ? ORDER BY seq", last)
	if err != nil {
		return err
	}
	defer rows.Close()
	var lines, hash, content []byte
	for rows.Next() {
		var seq int64
		if err := rows.Scan(&seq, &hash, &content); err != nil {
			return err
		}
		lines = fmt.Appendf(lines, `{"seq":%d,"hash":"%x","event":%s}`+"\n", seq, hash, content)
	}
	if err := os.WriteFile(path+".000000000001.jsonl", lines, 0o600); err != nil {
		return err
	}
	_, err = db.Exec(`DELETE FROM contents WHERE seq <= ?1; DELETE FROM events WHERE seq <= ?1; UPDATE chain SET first = ?1 + 1, anchor = ?2`,
		last, hash)
	return err
}
