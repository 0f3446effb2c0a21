package main

import (
	"database/sql"
	"fmt"
	"os"

	_ "modernc.org/sqlite"
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
