package audit

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// exported returns rows in a format.
func exported(t testing.TB, format string, rows ...Row) string {
	t.Helper()
	var b bytes.Buffer
	x, ok := NewExporter(&b, format, "1.2.3")
	if !ok {
		t.Fatal(format)
	}
	for i := range rows {
		if err := x.Write(&rows[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := x.Flush(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestExportWritesEveryFormat(t *testing.T) {
	row := rowsOf(t, written(t, 1), Filter{})[0] // denied
	row.Subject, row.Client = "=HYPERLINK(1)", "a,\"b\"\nc"
	var back Row
	if err := json.Unmarshal([]byte(exported(t, "jsonl", row)), &back); err != nil || back.Subject != row.Subject ||
		back.Client != row.Client || back.Seq != 1 {
		t.Errorf("%+v, %v", back, err)
	}
	lines, err := csv.NewReader(strings.NewReader(exported(t, "csv", row, row))).ReadAll()
	if err != nil || len(lines) != 3 || lines[0][6] != "subject" || lines[1][6] != "'=HYPERLINK(1)" ||
		lines[2][9] != row.Client {
		t.Errorf("%q, %v", lines, err)
	}
	var o map[string]any
	if err := json.Unmarshal([]byte(exported(t, "ocsf", row)), &o); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]any{"class_uid": 6003.0, "category_uid": 6.0, "activity_id": 2.0,
		"type_uid": 600302.0, "status_id": 2.0, "status_code": "policy.denied", "action_id": 2.0, "severity_id": 3.0,
		"time": float64(row.Time.UnixMilli())} {
		if o[name] != want {
			t.Errorf("%s is %v, want %v", name, o[name], want)
		}
	}
	if api, _ := o["api"].(map[string]any); api["operation"] != "tools/call" {
		t.Errorf("%v", o)
	}
}

// TestCSVIsInert exports texts that clients and servers chose: no cell is a formula, and no
// character commands a terminal or hides others.
func TestCSVIsInert(t *testing.T) {
	for text, want := range map[string]string{
		"plain": "plain", "a=b": "a=b", "": "", "é世": "é世",
		"=1+1": "'=1+1", "+1": "'+1", "-1": "'-1", "@SUM(1)": "'@SUM(1)",
		"\t=1": "'\t=1", "\n=1": "'\n=1", "  =1": "'  =1", "＝1": "'＝1", "|cmd": "'|cmd", "%0": "'%0",
		"\x1b]0;x\a": `\u001b]0;x\u0007`, "\r=1": `\u000d=1`, "\u009b2J": `\u009b2J`,
		"a\u202eb": `a\u202eb`, "\u200b=1": `\u200b=1`, "\U000e0041": `\udb40\udc41`, "\x7f": `\u007f`,
	} {
		lines, err := csv.NewReader(strings.NewReader(exported(t, "csv", Row{Event: Event{Message: text}}))).ReadAll()
		if err != nil || lines[1][28] != want {
			t.Errorf("%q is %q, want %q, %v", text, lines[1][28], want, err)
		}
	}
}

// TestExportKnowsEveryKind exports a row of each kind.
func TestExportKnowsEveryKind(t *testing.T) {
	for _, kind := range Kinds {
		var o map[string]any
		if err := json.Unmarshal([]byte(exported(t, "ocsf", Row{Event: Event{Kind: kind, Time: time.Now()}})),
			&o); err != nil ||
			o["class_uid"] == nil ||
			o["type_uid"].(float64) != o["class_uid"].(float64)*100+o["activity_id"].(float64) {
			t.Errorf("%s: %v, %v", kind, o, err)
		}
	}
}

func TestParseWhen(t *testing.T) {
	now := time.Date(2026, 11, 25, 12, 0, 0, 0, time.FixedZone("", 3600))
	for text, want := range map[string]time.Time{
		"30m": now.Add(-30 * time.Minute), "7d": now.AddDate(0, 0, -7),
		"2w": now.AddDate(0, 0, -14), "1h30m": now.Add(-90 * time.Minute),
		"2026-11-01":           time.Date(2026, 11, 1, 0, 0, 0, 0, now.Location()),
		"2026-11-01T10:00:00Z": time.Date(2026, 11, 1, 10, 0, 0, 0, time.UTC),
		"2026-11-01 10:30":     time.Date(2026, 11, 1, 10, 30, 0, 0, now.Location()),
	} {
		if got, err := ParseWhen(text, now); err != nil || !got.Equal(want) {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "d", "0d", "-7d", "0s", "-1h", "7", "7dd", "1.5d", "1d12h", "99999d",
		"99999999999h", "yesterday", "2026-13-01", "2026-11-01T25:00:00Z", " 7d", "7 d", "+7d"} {
		if got, err := ParseWhen(text, now); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}

func FuzzParseWhen(f *testing.F) {
	for _, text := range []string{"30m", "7d", "2w", "2026-11-01", "2026-11-01T10:00:00Z", "1e9d"} {
		f.Add(text)
	}
	now := time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		if age, err := ParseAge(text); err == nil && (age <= 0 || age > maxAgo) {
			t.Errorf("%q is %v", text, age)
		}
		_, _ = ParseWhen(text, now)
	})
}

// FuzzArchive reads lines of archives and heads. What it accepts, it writes again in the
// same way.
func FuzzArchive(f *testing.F) {
	f.Add(appendLine(nil, 1, hash{}, []byte(`{"kind":"request"}`)))
	f.Add([]byte(`{"seq":01,"hash":"00","event":{}}`))
	f.Add([]byte("1:" + strings.Repeat("0", 64)))
	f.Fuzz(func(t *testing.T, line []byte) {
		if seq, sum, content, ok := parseLine(line); ok {
			if again := appendLine(nil, seq, sum, content); string(again) != string(line)+"\n" {
				t.Errorf("%q is written again as %q", line, again)
			}
		}
		if seq, sum, ok := ParseHead(string(line)); ok && headText(chain{last: seq, head: sum}) != string(line) {
			t.Errorf("%q is %d and %x", line, seq, sum)
		}
		v := &verifier{report: &Report{}}
		_ = v.lines(bytes.NewReader(line))
	})
}

// FuzzContent encodes texts and reads them back. Every row is one line of valid JSON.
func FuzzContent(f *testing.F) {
	f.Add("a", "b\n\"\x00\xff", 3)
	f.Fuzz(func(t *testing.T, client, item string, n int) {
		e := sample(1)
		e.Client, e.Item, e.ResultSize, e.Arguments = client, item, n, nil
		written := e.row(nil)
		b := written.appendContent(nil)
		var r Row
		if err := json.Unmarshal(b, &r); err != nil || bytes.ContainsAny(b, "\n\r") || r.ResultSize != n {
			t.Errorf("%q, %v", b, err)
		}
		if r.keys() != written.keys() {
			t.Errorf("the keys of %q are %+v, want %+v", b, r.keys(), written.keys())
		}
	})
}
