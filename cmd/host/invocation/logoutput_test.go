package invocation

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"
)

// TestMaskedLogHasNoSecret logs a secret in each kind of value, before and after the secrets
// are known.
func TestMaskedLogHasNoSecret(t *testing.T) {
	const secret = `s3cr3t "quoted"`
	hide := func(text string) string { return strings.ReplaceAll(text, secret, "***") }
	for _, asJSON := range []bool{false, true} {
		var out bytes.Buffer
		l := newMaskedLog(hclog.LoggerOptions{Name: "junctor", Level: hclog.Info, Output: &out, JSONFormat: asJSON})
		l.log.Info("before", "text", secret)
		if text := out.String(); !strings.Contains(text, "s3cr3t") {
			t.Errorf("a log without a mask: %s", text)
		}
		out.Reset()
		l.mask(hide)
		list := []string{"a " + secret, "b"}
		below := l.log.Named("part").With("implied", secret)
		below.Debug("below the level", "text", secret)
		below.Warn("message "+secret, "text", secret, "error", errors.New(secret), "list", list, "n", 7, "stack",
			hclog.CapturedStacktrace(secret), "any", struct{ Text string }{secret}, secret)
		text := out.String()
		if strings.Contains(text, "s3cr3t") || strings.Contains(text, "below") ||
			strings.Count(text, "message ***") != 1 || list[0] != "a "+secret {
			t.Errorf("the log is %s", text)
		}
		var fields map[string]any
		if asJSON && (json.Unmarshal(out.Bytes(), &fields) != nil || fields["n"] != 7.0 || fields["implied"] != "***" ||
			fields["@module"] != "junctor.part") {
			t.Errorf("the record is %v", fields)
		}
		out.Reset()
		l.log.SetLevel(hclog.Debug)
		l.log.Debug("a level that was set later")
		if !strings.Contains(out.String(), "set later") {
			t.Error("the level of the log is not that of the process")
		}
	}
}
