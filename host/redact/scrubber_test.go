package redact

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf16"
	"unicode/utf8"
)

// TestScrubberMasksEncodedSecrets: programs print a secret as a part of a URL, of a header or
// of a quoted text.
func TestScrubberMasksEncodedSecrets(t *testing.T) {
	const secret = "p/7f3&9c+2e=b8<d1> 04"
	hide := New([]string{secret})
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

// TestScrubberMasksLinesOfSecrets checks secrets in one piece and line by line.
func TestScrubberMasksLinesOfSecrets(t *testing.T) {
	key := "-----BEGIN KEY-----\nMIIEvQIBADANBgkq\nab\n-----END KEY-----\n"
	hide := New([]string{"short-lived-token", key, "abc", `say "hi"`})
	for text, want := range map[string]string{
		"nothing to hide":                     "nothing to hide",
		"got short-lived-token!":              "got ***!",
		"a line: MIIEvQIBADANBgkq":            "a line: ***",
		"all of it: " + key:                   "all of it: ***",
		"ab and abc are in every other abcde": "ab and abc are in every other abcde",
		`{"m":"say \"hi\" twice"}`:            `{"m":"*** twice"}`,
	} {
		if got := hide.Replace(text); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestScrubberMasksBase64 encodes a secret behind names of each length. Nothing of the base64
// is left, because its first and last characters have bits of the secret.
func TestScrubberMasksBase64(t *testing.T) {
	const secret = "correct-horse"
	hide := New([]string{secret, "another-secret", "abc"})
	for _, before := range []string{"", "a", "ab", "abc", "ada:", "x" + strings.Repeat("long", 9)} {
		for _, after := range []string{"", "1", "12", "123"} {
			for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding} {
				encoded := encoding.EncodeToString([]byte(before + secret + after))
				if got := hide.Replace("Authorization: Basic " + encoded + ", next"); got !=
					"Authorization: Basic ***, next" {
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
	hide := New([]string{secret, "0123zzzz9999"})
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
	s := New([]string{"error", "0123456789abcde", "a-secret-of-length"})
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
	s := New([]string{"an/encoded secret"}, "a/plain \"secret\"")
	for text, want := range map[string]string{
		"a/plain \"secret\" and an/encoded secret": "*** and ***", `a/plain \"secret\"`: "***", "a/plain \"se": "***",
		url.QueryEscape("an/encoded secret"): "***", url.QueryEscape("a/plain"): "a%2Fplain",
	} {
		if got := s.Replace(text); got != want {
			t.Errorf("%s became %s, want %s", text, got, want)
		}
	}
}

// jsonString returns a text as a string of JSON.
func jsonString(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(quoted)
}

// asciiString returns a text as a string of JSON in which no character but letters and digits is
// as it is.
func asciiString(text string) string {
	var b strings.Builder
	for _, unit := range utf16.Encode([]rune(text)) {
		if unit < 'z' && unit >= '0' && unit != '\\' {
			b.WriteByte(byte(unit))
		} else {
			fmt.Fprintf(&b, `\u%04X`, unit)
		}
	}
	return `"` + b.String() + `"`
}

// TestScrubberMasksSecretsThatWereEscapedSeveralTimes nests the notations of escapes: a result has
// JSON in JSON text, a page has JSON in HTML, and a link has JSON in a URL.
func TestScrubberMasksSecretsThatWereEscapedSeveralTimes(t *testing.T) {
	inSlashes := func(text string) string { return strings.ReplaceAll(jsonString(text), "/", `\/`) }
	inPython := func(text string) string {
		return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\x1f", `\x1f`).Replace(text) + "'"
	}
	in64 := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	notations := map[string]func(string) string{
		"JSON": jsonString, "ASCII": asciiString, "slashes": inSlashes, "Go": strconv.Quote, "Python": inPython,
		"query": url.QueryEscape, "path": url.PathEscape, "HTML": html.EscapeString,
		"decimal HTML": func(text string) string {
			return strings.NewReplacer(`"`, "&#34;", "<", "&#60;", "&", "&#x26;").Replace(text)
		},
	}
	for _, secret := range []string{`a"b…<c>&d/e`, "it's a \"pass\\word\" \U0001F511",
		`x\n%41+&amp;"y"`, "tab\tand\x1funit", `"{\"k\":\"v/1\"}"`} {
		hide := New([]string{secret})
		older := New(nil, secret)
		check := func(how, text string) {
			for _, s := range []*Scrubber{hide, older} {
				if got := s.Replace("before " + text + " after"); !strings.Contains(got, Mask) ||
					strings.Contains(got, secret) || !strings.HasPrefix(got, "before ") ||
					!strings.HasSuffix(got, " after") {
					t.Errorf("%s of %s: %s became %s", how, secret, text, got)
				}
			}
		}
		for first, one := range notations {
			check(first, one(secret))
			for second, two := range notations {
				check(second+" of "+first, two("{"+one(secret)+"}"))
				for third, three := range notations {
					check(third+" of "+second+" of "+first, three("["+two("{"+one(secret)+"}")+"]"))
				}
			}
			if got := hide.Replace("key=" + one(in64("ada:"+secret)) + ";"); !strings.Contains(got, Mask) {
				t.Errorf("%s of base64 of %s became %s", first, secret, got)
			}
		}
		check("JSON, four times", jsonString(jsonString(jsonString(jsonString(secret)))))
	}
}

// TestScrubberKeepsTheTextAroundSecrets: the text around a secret stays as it was written, and so
// does a text that is not the secret.
func TestScrubberKeepsTheTextAroundSecrets(t *testing.T) {
	hide := New([]string{`a"b/c<d>`, "secret-value-1"})
	for text, want := range map[string]string{
		`{"text":"{\"key\":\"a\\\"b/c<d>\",\"n\":\"\\u0041\"}"}`:         `{"text":"{\"key\":\"***\",\"n\":\"\\u0041\"}"}`,
		`"a\"b\/c\u003cd\u003E and a\"b\/c\u003cd"`:                      `"*** and a\"b\/c\u003cd"`,
		`C:\temp\secret-value-1\new`:                                     `C:\temp\***\new`,
		`x&lt;a&quot;b/c&lt;d&gt;&lt;y`:                                  `x&lt;***&lt;y`,
		`?k=a%22b%2Fc%3Cd%3E&l=%41`:                                      `?k=***&l=%41`,
		`secret-value-1secret-value-1`:                                   `******`,
		`a%2bb, a%22b%2F, a&quot;b/c, 100%, R&D; \q \u12 %zz &nosuch; \`: `a%2bb, a%22b%2F, a&quot;b/c, 100%, R&D; \q \u12 %zz &nosuch; \`,
		`%a%22b/c%3Cd%3E0 and \\a\\"b/c<d>`:                              `%***0 and \\***`,
		`cut within: secret-value\u002d…`:                                `cut within: ***…`,
		`cut within: secret-value\u00…`:                                  `cut within: ***…`,
		`cut within: secret-value%2 …`:                                   `cut within: *** …`,
		`cut within: secret-value&#4`:                                    `cut within: ***`,
		`cut too early: secret-\u00`:                                     `cut too early: secret-\u00`,
	} {
		if got := hide.Replace(text); got != want {
			t.Errorf("%s became %s, want %s", text, got, want)
		}
	}
}

// TestScrubberTakesBoundedTime searches texts that are made to be slow, of a size in which a
// search with quadratic time takes minutes.
func TestScrubberTakesBoundedTime(t *testing.T) {
	const size = 1 << 20
	secrets := []string{strings.Repeat("a", 300)}
	for n := range 500 {
		secrets = append(secrets, fmt.Sprintf("eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9.%04d\"", n))
	}
	hide := New(secrets)
	for _, unit := range []string{`\`, `%25`, `&amp;`, `\u005c`, `\\%25&amp;`, "eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9.",
		strings.Repeat("a", 299) + "b", base64.StdEncoding.EncodeToString([]byte(secrets[1])) + "/"} {
		text := strings.Repeat(unit, size/len(unit))
		begun := time.Now()
		got := hide.Replace(text)
		if took := time.Since(begun); took > 20*time.Second {
			t.Errorf("%.40s: %s", unit, took)
		}
		t.Logf("%.20s: %d bytes, %s", unit, len(got), time.Since(begun))
	}
}

// FuzzScrubber: a text with a secret has none afterwards, and a text without stays.
func FuzzScrubber(f *testing.F) {
	f.Add("a-secret-value", "before ", " after")
	f.Add("new\nline and more", "\x00base64\x00", "")
	f.Add("====++++////", "AAAA", "====")
	f.Fuzz(func(t *testing.T, secret, before, after string) {
		if len(secret) < minCut || len(secret) > 200 || strings.Contains(Mask, secret) {
			t.Skip()
		}
		s := New([]string{secret})
		for _, text := range []string{before + secret + after, before + url.QueryEscape(secret) + after,
			jsonString(jsonString(before + secret + after))} {
			if got := s.Replace(text); utf8.ValidString(secret) && !strings.Contains(got, Mask) ||
				strings.Contains(got, secret) && !strings.Contains(before+Mask+after, secret) {
				t.Errorf("%q is left in %q", secret, got)
			}
		}
	})
}
