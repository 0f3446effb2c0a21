package operate

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/cmd/host/auditlog"
	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/host/audit"
)

// TestFollowShowsEachRowOnce follows a log while rows are added.
func TestFollowShowsEachRowOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.db")
	l := audit.New(audit.Options{Log: hclog.NewNullLogger()})
	if err := l.Set(&audit.Settings{File: path, Full: true}); err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	const before, after = 30, 500
	record := func(n int) {
		for range n {
			if _, err := l.Begin(); err != nil {
				t.Error(err)
			}
			l.End(&audit.Event{Kind: audit.Request, Method: "ping", Outcome: audit.OK})
		}
	}
	record(before)
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	inv := invocation.New("0.0.0", "")
	inv.Stdout, inv.JSON = &terminal.Output{File: write}, true
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		defer write.Close()
		o := tailOptions{inv: inv, Flags: auditlog.Flags{File: path, Limit: 20}, tailFlags: tailFlags{follow: true}}
		ended <- o.run(ctx)
	}()
	go record(after)
	s := bufio.NewScanner(read)
	for next := int64(before - 20 + 1); next <= before+after; next++ {
		if !s.Scan() {
			t.Fatalf("the output ends before row %d", next)
		}
		var row audit.Row
		if err := json.Unmarshal(s.Bytes(), &row); err != nil || next > before-20+1 && row.Seq != next {
			t.Fatalf("row %d, want %d: %v", row.Seq, next, err)
		}
		next = row.Seq // rows may have been added before the first ones were read
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	for s.Scan() {
		t.Errorf("one more line: %s", s.Text())
	}
}
