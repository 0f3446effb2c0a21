package mcp

import (
	"encoding/base64"
	"strings"
	"testing"
)

// TestSkipBase64 compares the search that takes eight bytes at a time with isBase64.
func TestSkipBase64(t *testing.T) {
	for c := range 256 {
		for at := range 9 {
			b := []byte(strings.Repeat("aZ09+/Qz", 2))
			b[at] = byte(c)
			want := len(b)
			if !isBase64(byte(c)) {
				want = at
			}
			if got := skipBase64(b, 0); got != want {
				t.Errorf("%q: %d, want %d", b, got, want)
			}
		}
	}
}

func FuzzBase64(f *testing.F) {
	for _, text := range []string{"", "QUJD", "__79-w", "data:image/png;base64,QUJD", "zz!", "QQ==", "QR", "Q",
		"=", "QUJD="} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		standard, _, ok := Base64(text)
		quoted := AppendText(nil, text)
		if quotedBase64(quoted) && (!ok || standard != text) {
			t.Fatalf("%q is base64, and became %q, %t", text, standard, ok)
		}
		if !ok {
			return
		}
		if _, err := base64.StdEncoding.DecodeString(standard); err != nil {
			t.Fatalf("%q became %q: %v", text, standard, err)
		}
		if !quotedBase64(AppendText(nil, standard)) {
			t.Fatalf("%q became %q, which is not standard", text, standard)
		}
	})
}
