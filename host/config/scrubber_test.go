package config

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
)

// TestScrubberMasksEncodedSecrets: programs print a secret as a part of a URL, of a header or
// of a quoted text.
func TestScrubberMasksEncodedSecrets(t *testing.T) {
	const secret = "p/7f3&9c+2e=b8<d1> 04"
	hide := NewScrubber([]string{secret})
	quoted, err := json.Marshal(map[string]string{"key": secret})
	if err != nil {
		t.Fatal(err)
	}
	twice, err := json.Marshal("line: " + string(quoted))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"https://a.example/?key=" + url.QueryEscape(secret) + "&b=1":                  "https://a.example/?key=***&b=1",
		"https://a.example/" + url.PathEscape(secret) + "/b":                          "https://a.example/***/b",
		"https://a.example/?key=" + strings.ToLower(url.QueryEscape(secret)) + "&b=1": "https://a.example/?key=***&b=1",
		"https://" + url.UserPassword("ada", secret).String() + "@a.example/":         "https://ada:***@a.example/",
		string(quoted): `{"key":"***"}`,
		string(twice):  `"line: {\"key\":\"***\"}"`,
		fmt.Sprintf("%q", fmt.Sprintf("%q", secret)): `"\"***\""`,
		"nothing of it": "nothing of it",
		"key=" + base64.StdEncoding.EncodeToString([]byte(secret)) + "; path=/": "key=***; path=/",
		"p/7f3&9c":  "***", // cut
		"p/7f3&9 …": "p/7f3&9 …",
	} {
		if got := hide.Replace(text); got != want {
			t.Errorf("%s became %s, want %s", text, got, want)
		}
	}
}

// TestScrubberMasksBase64 encodes a secret behind names of each length. Nothing of the base64
// is left, because its first and last characters have bits of the secret.
func TestScrubberMasksBase64(t *testing.T) {
	const secret = "correct-horse"
	hide := NewScrubber([]string{secret, "another-secret", "abc"})
	for _, before := range []string{"", "a", "ab", "abc", "ada:", "x" + strings.Repeat("long", 9)} {
		for _, after := range []string{"", "1", "12", "123"} {
			for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding} {
				encoded := encoding.EncodeToString([]byte(before + secret + after))
				if got := hide.Replace("Authorization: Basic " + encoded + ", next"); got != "Authorization: Basic ***, next" {
					t.Errorf("%q, %q: %s", before, after, got)
				}
			}
		}
	}
	both := base64.StdEncoding.EncodeToString([]byte(secret + ", another-secret"))
	if got := hide.Replace(both + " " + both + "."); got != "*** ***." {
		t.Error(got)
	}
	if text := base64.StdEncoding.EncodeToString([]byte("an ordinary text with abc")); hide.Replace(text) != text {
		t.Errorf("a short secret was found in base64: %s", hide.Replace(text))
	}
}

// TestScrubberMasksSecretsThatWereCut cuts texts at each place in a secret.
func TestScrubberMasksSecretsThatWereCut(t *testing.T) {
	const secret = "0123456789abcdef"
	hide := NewScrubber([]string{secret, "0123zzzz9999"})
	for n := range len(secret) {
		for _, end := range []string{"", "…", "...", " …"} {
			want := "token " + secret[:n] + end
			if n >= minCut {
				want = "token ***" + end
			}
			if got := hide.Replace("token " + secret[:n] + end); got != want {
				t.Errorf("%d bytes: %q, want %q", n, got, want)
			}
		}
	}
	encoded := base64.StdEncoding.EncodeToString([]byte("ada:" + secret))
	if got := hide.Replace("Basic " + encoded[:20]); got != "Basic ***" {
		t.Error(got)
	}
}

// TestScrubberFindsLongSecrets: values of settings such as "error" are words of other texts.
func TestScrubberFindsLongSecrets(t *testing.T) {
	s := NewScrubber([]string{"error", "0123456789abcde", "a-secret-of-length"})
	for text, want := range map[string]bool{
		"an error": false, "0123456789abcde": false, "it is a-secret-of-length.": true, "": false,
		base64.StdEncoding.EncodeToString([]byte("ada:a-secret-of-length")): true,
	} {
		if got := s.Finds(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	if (*Scrubber)(nil).Finds("a") || (*Scrubber)(nil).Replace("a") != "a" {
		t.Error("a Scrubber that is nil has a secret")
	}
}

// TestScrubberMasksPlainSecrets: a plain secret is not looked for in URLs and base64.
func TestScrubberMasksPlainSecrets(t *testing.T) {
	s := NewScrubber([]string{"an/encoded secret"}, "a/plain \"secret\"")
	for text, want := range map[string]string{
		"a/plain \"secret\" and an/encoded secret": "*** and ***", `a/plain \"secret\"`: "***", "a/plain \"se": "***",
		url.QueryEscape("an/encoded secret"): "***", url.QueryEscape("a/plain"): "a%2Fplain",
	} {
		if got := s.Replace(text); got != want {
			t.Errorf("%s became %s, want %s", text, got, want)
		}
	}
}

// FuzzScrubber: a text with a secret has none afterwards, and a text without stays.
func FuzzScrubber(f *testing.F) {
	f.Add("a-secret-value", "before ", " after")
	f.Add("new\nline and more", "\x00base64\x00", "")
	f.Add("====++++////", "AAAA", "====")
	f.Fuzz(func(t *testing.T, secret, before, after string) {
		if len(secret) < minCut || len(secret) > 200 || strings.Contains(masked, secret) || strings.Contains(inBase64, secret) {
			t.Skip()
		}
		s := NewScrubber([]string{secret})
		for _, text := range []string{before + secret + after, before + url.QueryEscape(secret) + after} {
			if got := s.Replace(text); !strings.Contains(got, masked) {
				t.Errorf("%q is left in %q", secret, got)
			}
		}
	})
}
