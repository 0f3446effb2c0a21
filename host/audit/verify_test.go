package audit

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// written returns a file with n rows.
func written(t testing.TB, n int) string {
	t.Helper()
	path := newPath(t)
	f, err := openFile(path, false, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	var all []entry
	for i := range n {
		all = append(all, entry{Event: sample(i)})
	}
	if _, err := f.append(all, nil); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestVerifyFindsTampering changes a file in every way that a person with SQL can.
func TestVerifyFindsTampering(t *testing.T) {
	const swapped = `UPDATE contents SET seq = -1 WHERE seq = 5; UPDATE contents SET seq = 5 WHERE seq = 9; UPDATE contents SET seq = 9 WHERE seq = -1;
		UPDATE events SET seq = -1 WHERE seq = 5; UPDATE events SET seq = 5 WHERE seq = 9; UPDATE events SET seq = 9 WHERE seq = -1;`
	for name, c := range map[string]struct {
		sql     string
		seq     int64
		problem string
	}{
		"altered content": {`UPDATE contents SET content = replace(content, 'allowed', 'granted') WHERE seq = 7`,
			7, "altered"},
		"altered content and hash": {
			`UPDATE contents SET content = replace(content, 'allowed', 'granted'), hash = randomblob(32) WHERE seq = 7`,
			7, "altered",
		},
		"altered hash":   {`UPDATE contents SET hash = randomblob(32) WHERE seq = 7`, 7, "altered"},
		"short hash":     {`UPDATE contents SET hash = x'00' WHERE seq = 7`, 7, "altered"},
		"altered column": {`UPDATE events SET subject = 'mallory' WHERE seq = 7`, 7, "altered"},
		"altered time":   {`UPDATE events SET time = time + 1 WHERE seq = 7`, 7, "altered"},
		"removed row": {`DELETE FROM contents WHERE seq = 7; DELETE FROM events WHERE seq = 7`,
			7, "removed"},
		"removed from the search": {`DELETE FROM events WHERE seq = 7`, 7, "hidden"},
		"removed value":           {`DELETE FROM found WHERE field = 'subject' AND value = 'user-7'`, 8, "hidden"},
		"removed span":            {`DELETE FROM spans`, 1, "hidden"},
		"removed rows": {`DELETE FROM contents WHERE seq BETWEEN 7 AND 9; DELETE FROM events WHERE seq BETWEEN 7 AND 9`,
			7, "removed"},
		"removed first rows": {`DELETE FROM contents WHERE seq < 4; DELETE FROM events WHERE seq < 4`,
			1, "removed"},
		"removed first rows, new anchor": {
			`DELETE FROM contents WHERE seq < 4; DELETE FROM events WHERE seq < 4; UPDATE chain SET first = 4`,
			4, "altered",
		},
		"swapped rows":       {swapped, 5, "reordered"},
		"swapped neighbours": {strings.ReplaceAll(swapped, "= 9", "= 6"), 5, "reordered"},
		"truncated": {`DELETE FROM contents WHERE seq > 15; DELETE FROM events WHERE seq > 15`,
			16, "truncated"},
		"truncated to nothing": {`DELETE FROM contents; DELETE FROM events`, 1, "truncated"},
		"added row": {`INSERT INTO contents SELECT 21, hash, content FROM contents WHERE seq = 3; INSERT INTO events SELECT 21, time, kind, server, item, tenant, subject, method, outcome, request FROM events WHERE seq = 3`,
			21, "altered"},
		"added event": {`INSERT INTO events SELECT 99, time, kind, server, item, tenant, subject, method, outcome, request FROM events WHERE seq = 3`,
			99, "added"},
		"added before the first": {`INSERT INTO contents SELECT 0, hash, content FROM contents WHERE seq = 3`,
			0, "added"},
		"altered head": {`UPDATE chain SET head = zeroblob(32)`, 20, "altered"},
	} {
		t.Run(name, func(t *testing.T) {
			path := written(t, 20)
			verified(t, path)
			f, err := connect(path, "rw")
			if err != nil {
				t.Fatal(err)
			}
			if err := f.exec(c.sql); err != nil {
				t.Fatal(err)
			}
			f.close()
			all, err := VerifyAll(t.Context(), path, nil)
			if err != nil {
				t.Fatal(err)
			}
			got := all[0].Findings
			if len(got) == 0 || got[0].Seq != c.seq || got[0].Problem != c.problem {
				t.Errorf("%+v, want row %d %s", got, c.seq, c.problem)
			}
		})
	}
}

// TestHeadShowsNewChain makes the whole chain again without its last rows. Only a head from
// the log of the process shows it.
func TestHeadShowsNewChain(t *testing.T) {
	whole := verified(t, written(t, 20))
	path := written(t, 15)
	verified(t, path)
	all, err := VerifyAll(t.Context(), path, []string{whole.Head})
	if err != nil || len(all[0].Findings) != 1 || all[0].Findings[0].Problem != "truncated" {
		t.Errorf("%+v, %v", all[0].Findings, err)
	}
	verified(t, written(t, 30), whole.Head)
	forged := strings.Replace(whole.Head, ":", ":0000", 1)[:len(whole.Head)]
	if all, err = VerifyAll(t.Context(), written(t, 30), []string{forged}); err != nil || len(all[0].Findings) != 1 ||
		all[0].Findings[0].Seq != 20 {
		t.Errorf("%+v, %v", all[0].Findings, err)
	}
}

// TestHeadBeforeFirstRowProvesNothing makes a chain that begins after the given head, as if
// the retention had removed its row. A newer head that fits proves the older one.
func TestHeadBeforeFirstRowProvesNothing(t *testing.T) {
	heads := []string{verified(t, written(t, 5)).Head, verified(t, written(t, 20)).Head}
	path := written(t, 30)
	f, err := connect(path, "rw")
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	if err := f.exec(`DELETE FROM contents WHERE seq < 10; DELETE FROM events WHERE seq < 10; UPDATE chain SET first = 10, anchor = (SELECT randomblob(32))`); err != nil {
		t.Fatal(err)
	}
	all, err := VerifyAll(t.Context(), path, heads[:1])
	if err != nil || len(all[0].Findings) != 2 || all[0].Findings[1] != (Finding{5, "removed",
		"the row of the given head is missing: the log begins with row 10; give a newer head"}) {
		t.Errorf("%+v, %v", all[0].Findings, err)
	}
	f.close()
	path = written(t, 30)
	if f, err = openFile(path, false, 0); err != nil {
		t.Fatal(err)
	}
	defer f.close()
	err = f.transact(func() error {
		c, err := f.chain()
		if err != nil {
			return err
		}
		return f.removeBefore(&c, 10)
	})
	if err != nil {
		t.Fatal(err)
	}
	verified(t, path, heads...)
	if all, err = VerifyAll(t.Context(), path, heads[:1]); err != nil || len(all[0].Findings) != 1 ||
		all[0].Findings[0].Seq != 5 {
		t.Errorf("%+v, %v", all[0].Findings, err)
	}
	heads = append(heads, "20:"+strings.Repeat("0", 64))
	if all, err = VerifyAll(t.Context(), path, heads); err != nil || len(all[0].Findings) != 2 ||
		!strings.Contains(all[0].Findings[1].Detail, "two of the given heads") {
		t.Errorf("%+v, %v", all[0].Findings, err)
	}
}

// TestRetentionLeavesVerifiableChain removes old rows.
func TestRetentionLeavesVerifiableChain(t *testing.T) {
	path := written(t, 3000)
	before := verified(t, path)
	f, err := openFile(path, false, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	now := sample(2500).Time.Add(time.Hour)
	if err := f.prune(&Settings{Retention: time.Hour}, now); err != nil {
		t.Fatal(err)
	}
	rep := verified(t, path, before.Head)
	if rep.First != 2501 || rep.Rows != 500 {
		t.Errorf("the file has %d rows from %d on", rep.Rows, rep.First)
	}
	if err := f.prune(&Settings{Retention: time.Hour}, now.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if rep = verified(t, path, before.Head); rep.Rows != 0 || rep.First != 3001 {
		t.Errorf("the file has %d rows from %d on", rep.Rows, rep.First)
	}
	if _, err := f.append([]entry{{Event: sample(1)}}, nil); err != nil {
		t.Fatal(err)
	}
	if rep = verified(t, path, before.Head); rep.Rows != 1 || rep.First != 3001 {
		t.Errorf("the file has %d rows from %d on", rep.Rows, rep.First)
	}
}

// TestRotationArchivesRows moves rows of a large file to archives.
func TestRotationArchivesRows(t *testing.T) {
	if testing.Short() {
		t.Skip("slow with the race detector, and uses one goroutine only")
	}
	path := written(t, 6000)
	f, err := openFile(path, false, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	size, err := f.size()
	if err != nil {
		t.Fatal(err)
	}
	head := verified(t, path).Head
	for _, part := range []int64{2, 5} {
		if err := f.prune(&Settings{MaxSize: size / part}, time.Now()); err != nil {
			t.Fatal(err)
		}
		if now, err := f.size(); err != nil || now > size/part {
			t.Errorf("the file has %d of %d bytes, %v", now, size/part, err)
		}
	}
	rep := verified(t, path, head)
	all := Archives(path)
	if len(all) < 2 || rep.First == 1 || rep.Last != 6000 {
		t.Errorf("%d archives, rows %d to %d", len(all), rep.First, rep.Last)
	}
	text, err := os.ReadFile(all[1])
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	before, err := os.ReadFile(all[0])
	if err != nil {
		t.Fatal(err)
	}
	earlier, _, _ := strings.Cut(string(before), "\n")
	for name, c := range map[string]struct{ text, problem string }{
		"altered":   {strings.Replace(string(text), "allowed", "granted", 1), "altered"},
		"removed":   {strings.Join(append(append([]string{}, lines[:2]...), lines[3:]...), ""), "removed"},
		"reordered": {strings.Join(append([]string{lines[0], lines[2], lines[1]}, lines[3:]...), ""), "removed"},
		"truncated": {strings.Join(lines[:len(lines)-2], ""), ""},
		"no row":    {string(text) + "x\n", "altered"},
		"forged":    {string(text) + strings.Replace(lines[len(lines)-9], "allowed", "granted", 1), "added"},
		"earlier":   {string(text) + earlier + "\n", "added"}, // a row of the archive before
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(all[1], []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			reps, err := VerifyAll(t.Context(), path, nil)
			if err != nil {
				t.Fatal(err)
			}
			found := append(reps[1].Findings, reps[2].Findings...)
			if len(found) == 0 || c.problem != "" && found[0].Problem != c.problem {
				t.Errorf("%+v, want %s", found, c.problem)
			}
		})
	}
	t.Run("without the first archive", func(t *testing.T) {
		for i, kept := range []string{string(before), string(text)} {
			if err := os.WriteFile(all[i], []byte(kept), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Remove(all[0]); err != nil {
			t.Fatal(err)
		}
		reps, err := VerifyAll(t.Context(), path, []string{"1:" + strings.Repeat("0", 64)})
		if err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf("the log begins with row %d;", reps[0].First)
		if found := reps[len(reps)-1].Findings; len(found) != 1 || !strings.Contains(found[0].Detail, want) {
			t.Errorf("%+v, want %q", found, want)
		}
		if err := os.WriteFile(all[0], before, 0o600); err != nil {
			t.Fatal(err)
		}
	})
	again := string(text) + strings.Join(lines[len(lines)-4:], "") // as after a crash
	if err := os.WriteFile(all[1], []byte(again), 0o600); err != nil {
		t.Fatal(err)
	}
	verified(t, path, head)
}

// TestOpenRefusesForeignFiles opens files that are no audit logs.
func TestOpenRefusesForeignFiles(t *testing.T) {
	foreign := newPath(t)
	f, err := connect(written(t, 1), "rw")
	if err != nil {
		t.Fatal(err)
	}
	if err := f.exec("VACUUM INTO ?", foreign); err != nil {
		t.Fatal(err)
	}
	f.close()
	if f, err = connect(foreign, "rw"); err != nil {
		t.Fatal(err)
	}
	if err := f.exec("PRAGMA application_id = 1"); err != nil {
		t.Fatal(err)
	}
	f.close()
	garbage := newPath(t)
	if err := os.WriteFile(garbage, []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{foreign, garbage} {
		if f, err := openFile(path, false, 0); err == nil {
			f.close()
			t.Error("a foreign file was opened for writing")
		}
		if r, err := OpenReader(path); err == nil {
			r.Close()
			t.Error("a foreign file was opened for reading")
		}
	}
	if _, err := OpenReader(newPath(t)); err == nil {
		t.Error("a missing file was opened")
	}
}
