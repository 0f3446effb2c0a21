package run

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestTable reads what programs print.
func TestTable(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"kubectl", "NAME                     READY   STATUS    RESTARTS      AGE\nweb-7c5ddbdf54-abcde     1/1     Running   2 (3d ago)    5d\ndb-0                     0/1     Pending   0             12m\n",
			`[{"NAME":"web-7c5ddbdf54-abcde","READY":"1/1","STATUS":"Running","RESTARTS":"2 (3d ago)","AGE":"5d"},{"NAME":"db-0","READY":"0/1","STATUS":"Pending","RESTARTS":"0","AGE":"12m"}]`},
		{"kubectl, a long value with spaces",
			"NAME   RESTARTS          AGE\na      12 (100d ago)     5d\nb      13 (101d ago)     6d\n",
			`[{"NAME":"a","RESTARTS":"12 (100d ago)","AGE":"5d"},{"NAME":"b","RESTARTS":"13 (101d ago)","AGE":"6d"}]`},
		{"kubectl, names of two words",
			"NAME   NODE     NOMINATED NODE   READINESS GATES\na      node-1   <none>           <none>\n",
			`[{"NAME":"a","NODE":"node-1","NOMINATED NODE":"<none>","READINESS GATES":"<none>"}]`},
		{"docker", "CONTAINER ID   IMAGE          COMMAND                  CREATED       STATUS       PORTS     NAMES\n0123456789ab   nginx:latest   \"/docker-entrypoint.…\"   2 hours ago   Up 2 hours             web\n",
			`[{"CONTAINER ID":"0123456789ab","IMAGE":"nginx:latest","COMMAND":"\"/docker-entrypoint.…\"","CREATED":"2 hours ago","STATUS":"Up 2 hours","PORTS":"","NAMES":"web"}]`},
		{"ps",
			"    PID TTY          TIME CMD\n      1 ?        00:00:05 systemd --user\n  12345 pts/0    00:00:00 ps\n",
			`[{"PID":"1","TTY":"?","TIME":"00:00:05","CMD":"systemd --user"},{"PID":"12345","TTY":"pts/0","TIME":"00:00:00","CMD":"ps"}]`},
		{"ps, a value that is too wide", "USER  VSZ   RSS COMMAND\nroot    1     2 a b\nroot  123456789 3 c\n",
			`[{"USER":"root","VSZ":"1","RSS":"2","COMMAND":"a b"},{"USER":"root","VSZ":"123456789","RSS":"3","COMMAND":"c"}]`},
		{"tabs", "A\tB\n1\t2\n", `[{"A":"1","B":"2"}]`},
		{"same names", "A  A  A\n1  2  3\n", `[{"A":"1","A_2":"2","A_3":"3"}]`},
		{"header alone", "NAME   AGE\n", `[]`},
		{"nothing", "", `[]`},
		{"blank lines", "\nNAME   AGE\n\na      1\n", `[{"NAME":"a","AGE":"1"}]`},
		{"short rows", "NAME   AGE   X\na\n", `[{"NAME":"a","AGE":"","X":""}]`},
		{"windows", "A  B\r\n1  2\r\n", `[{"A":"1","B":"2"}]`},
		{"one word", "    \x1b\n  x\n", `[]`},
		{"fewer words than names", "AB  CD\n1234567\n", ""},
		{"many columns", strings.Repeat("a  ", maxColumns+1) + "\n", ""},
		{"names that fill memory", strings.Repeat("n", 1<<14) + "\n" + strings.Repeat("x\n", 1<<11), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := table(texts(&Output{Head: []byte(c.text)}))
			if string(got) != c.want || ok != (c.want != "") {
				t.Errorf("%s", got)
			}
		})
	}
}

func FuzzTable(f *testing.F) {
	f.Add("A  B\n1  2\n")
	f.Add("  PID TTY\n1 2")
	f.Add("A\tÄ B\n\t\t€\n")
	f.Fuzz(func(t *testing.T, text string) {
		got, ok := table(texts(&Output{Head: []byte(text)}))
		if ok && (!json.Valid(got) || !hostAccepts(got)) {
			t.Errorf("%q becomes %q", text, got)
		}
	})
}

// TestTablesAreBounded: no output of a program takes more than a small multiple of its size.
func TestTablesAreBounded(t *testing.T) {
	var wide []string
	for range 1000 {
		wide = append(wide, "aaa b")
	}
	for name, lines := range map[string][]string{
		"a value as wide as all rows":   append([]string{"AA  BB", strings.Repeat("x", 100000) + " y"}, wide...),
		"a header of many words":        {strings.Repeat("a ", 500000)},
		"a header of many columns":      {strings.Repeat("a  ", 300000)},
		"lines of tabs":                 {"A\tB", strings.Repeat("\t", 1<<20) + "x"},
		"more rows than names may fill": append([]string{strings.Repeat("a", 20000) + "  b"}, wide...),
	} {
		allocated := testing.AllocsPerRun(1, func() { table(lines) })
		if allocated > 100_000 {
			t.Errorf("%s: %.0f allocations", name, allocated)
		}
	}
	rows, ok := table(append([]string{"AA  BB", strings.Repeat("x", 100000) + " y"}, wide...))
	if !ok || len(rows) > 200_000 {
		t.Errorf("%t, %d bytes", ok, len(rows))
	}
}
