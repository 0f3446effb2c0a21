package logbuffer

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newLog(level hclog.Level) (hclog.InterceptLogger, *Buffer) {
	log := hclog.NewInterceptLogger(&hclog.LoggerOptions{Name: "junctor", Level: level, Output: io.Discard})
	return log, Attach(log)
}

func records(b *Buffer) (all []*Record) {
	for r := b.Read(); ; {
		item, ok := r.Next()
		if !ok {
			return all
		}
		all = append(all, item.Value)
	}
}

// TestRecordHasWhatTheLogHas compares records with the calls that made them.
func TestRecordHasWhatTheLogHas(t *testing.T) {
	log, b := newLog(hclog.Info)
	log.Info("plain")
	log.With("server", "files").Warn("about a server", "error", errors.New("it broke"), "took", 3*time.Second,
		"tools", []string{"a", "b"}, "n", 7, "ok", true)
	log.Named("plugin.stdio").Error("of a plugin", "server", "gh")
	log.Warn("of a plugin too", "plugin", "oauth", "lone")
	log.Info("no text", "server", 7)
	log.Debug("below the level")
	want := []string{
		`{"level":"info","logger":"junctor","message":"plain"}`,
		`{"level":"warn","logger":"junctor","message":"about a server","server":"files","fields":{"error":"it broke","n":7,"ok":true,"took":"3s","tools":["a","b"]}}`,
		`{"level":"error","logger":"junctor.plugin.stdio","message":"of a plugin","server":"gh","plugin":"stdio"}`,
		`{"level":"warn","logger":"junctor","message":"of a plugin too","plugin":"oauth","fields":{"EXTRA_VALUE_AT_END":"lone"}}`,
		`{"level":"info","logger":"junctor","message":"no text","fields":{"server":7}}`,
	}
	all := records(b)
	if len(all) != len(want) {
		t.Fatalf("%d records", len(all))
	}
	for i, r := range all {
		if time.Since(r.Time) > time.Minute {
			t.Errorf("record %d is of %s", i, r.Time)
		}
		r.Time = time.Time{}
		text, err := json.Marshal(r)
		if got := strings.Replace(string(text), `"seq":0,"time":"0001-01-01T00:00:00Z",`, "", 1); err != nil ||
			got != want[i] {
			t.Errorf("%s, %v\nwant %s", got, err, want[i])
		}
	}
}

// TestLevelOfLogDecides changes the level while the log is used.
func TestLevelOfLogDecides(t *testing.T) {
	log, b := newLog(hclog.Warn)
	log.Info("one")
	log.SetLevel(hclog.Debug)
	log.Named("sub").Debug("two")
	log.SetLevel(hclog.Off)
	log.Error("three")
	if all := records(b); len(all) != 1 || all[0].Message != "two" {
		t.Errorf("%+v", all)
	}
}

// TestSecretsAreConcealed logs a secret in every place of a record.
func TestSecretsAreConcealed(t *testing.T) {
	const secret = "s3cr3t-canary"
	log, b := newLog(hclog.Trace)
	b.Conceal(strings.NewReplacer(secret, "(secret)").Replace)
	log.With("implied", "x "+secret).Info("message "+secret, secret, secret, "error", fmt.Errorf("with %s", secret),
		"list", []string{"a", secret}, "other", map[string]string{"k": secret}, "server", secret)
	text, err := json.Marshal(records(b))
	if err != nil || strings.Contains(string(text), secret) || strings.Count(string(text), "(secret)") != 8 {
		t.Errorf("%s, %v", text, err)
	}
}

// TestHostileRecordsAreBounded logs values that are large, many or broken.
func TestHostileRecordsAreBounded(t *testing.T) {
	log, b := newLog(hclog.Trace)
	long := strings.Repeat("x", 10*maxText)
	var pairs []any
	for i := range 10 * maxFields {
		pairs = append(pairs, fmt.Sprint("k", i), i)
	}
	log.Info(long, pairs...)
	log.Info("list", "list", make([]string, 10*maxListed))
	log.Info("bad \xff text", "panics", panics{}, "nil", error(nil))
	all := records(b)
	if len(all) != 3 {
		t.Fatalf("%d records", len(all))
	}
	if n := len(all[0].Message); n > maxText+4 || len(all[0].Fields) != maxFields {
		t.Errorf("%d bytes, %d fields", n, len(all[0].Fields))
	}
	if n := len(all[1].Fields["list"].([]string)); n != maxListed {
		t.Errorf("%d entries", n)
	}
	if r := all[2]; r.Message != "bad \uFFFD text" || !strings.Contains(fmt.Sprint(r.Fields["panics"]), "PANIC") ||
		r.Fields["nil"] != nil {
		t.Errorf("%+v", r)
	}
	for range 3 * maxRecords {
		log.Info("many")
	}
	if all := records(b); len(all) != maxRecords {
		t.Errorf("%d records", len(all))
	}
	for range 200 {
		log.Info(long)
	}
	total := 0
	for _, r := range records(b) {
		total += sizeOf(r)
	}
	if total > maxBytes || total < maxBytes/2 {
		t.Errorf("%d bytes", total)
	}
}

type panics struct{}

func (panics) String() string { panic("no text") }

// BenchmarkLog compares a log without and with a buffer that has no reader.
func BenchmarkLog(b *testing.B) {
	for _, c := range []struct {
		name  string
		level hclog.Level
		sink  bool
	}{{"written", hclog.Info, false}, {"written and kept", hclog.Info, true}, {"below the level", hclog.Warn, false},
		{"below the level, kept", hclog.Warn, true}} {
		b.Run(c.name, func(b *testing.B) {
			log := hclog.NewInterceptLogger(&hclog.LoggerOptions{Name: "junctor", Level: c.level, Output: io.Discard})
			if c.sink {
				Attach(log).Conceal(func(s string) string { return s })
			}
			b.ReportAllocs()
			for b.Loop() {
				log.Info("a request failed", "id", 7, "server", "files", "method", "tools/call")
			}
		})
	}
}
