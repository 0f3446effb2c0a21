package schema

import (
	"os"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// casesIn returns the cases of a file in testdata: the schema, what clients get, and the
// paths that are left out. "=" is the schema itself. "refused" is followed by the reason.
func casesIn(t testing.TB, file string) (all [][3]string) {
	t.Helper()
	text, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	for part := range strings.SplitSeq(string(text), "\n\n") {
		var c [3]string
		n := 0
		for line := range strings.Lines(part) {
			if line = strings.TrimSuffix(line, "\n"); line != "" && !strings.HasPrefix(line, "#") {
				c[n] = line
				n++
			}
		}
		if n > 0 {
			all = append(all, c)
		}
	}
	return all
}

func TestPortable(t *testing.T) {
	for _, c := range casesIn(t, "portable.txt") {
		got, left, err := Portable([]byte(c[0]))
		if reason, refused := strings.CutPrefix(c[1], "refused "); refused {
			if vet, ok := err.(*VetError); !ok || vet.Reason != reason {
				t.Errorf("%s: %s, %v, want the reason %s", c[0], got, err, reason)
			}
			continue
		}
		want := strings.Replace(c[1], "=", c[0], 1)
		if c[1] != "=" {
			want = c[1]
		}
		if err != nil || string(got) != want || strings.Join(left, " ") != c[2] {
			t.Errorf("%s: %s, left out %v, %v\nwant %s %s", c[0], got, left, err, want, c[2])
			continue
		}
		checkPortable(t, got)
	}
}

// checkPortable checks that a portable schema is one of its dialect, and stays as it is.
func checkPortable(t *testing.T, portable []byte) {
	t.Helper()
	tree, err := parse(portable)
	if err != nil {
		t.Fatalf("%s: %v", portable, err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(noLoader{})
	c.UseRegexpEngine(func(text string) (jsonschema.Regexp, error) { return &pattern{text: text}, nil })
	if err := c.AddResource(resource, tree.value()); err != nil {
		t.Fatalf("%s: %v", portable, err)
	}
	if _, err := c.Compile(resource); err != nil {
		t.Errorf("%s does not compile: %v", portable, err)
	}
	again, left, err := Portable(portable)
	if err != nil || string(again) != string(portable) || left != nil {
		t.Errorf("%s becomes %s, without %v: %v", portable, again, left, err)
	}
}

func FuzzPortable(f *testing.F) {
	for _, c := range casesIn(f, "portable.txt") {
		f.Add([]byte(c[0]))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if got, _, err := Portable(raw); err == nil && got != nil && len(raw) < 4<<10 {
			checkPortable(t, got)
		}
	})
}

func TestPortablePattern(t *testing.T) {
	good := []string{
		``, `abc`, `^[a-z]+$`, `^https?:\/\/`, `^\d{4}-\d{2}-\d{2}$`, `a|b|`, `(a)(?:b)\1`, `^(?!x$)`, `(?=a)b`,
		`[\w.\-]+`, `[a-]`, `[^"\\]*?`, `\u00e9`, `\x41`, `[\b\n]`, `\0`, `a{2}`, `a{2,}`, `a{2,3}?`, `^.{1,4096}$`,
		`[^\s@]+@[^\s@]+`, `é😀`, `[a-z0-9_]`, `\$\{x\}`,
	}
	bad := []string{
		`(?P<n>a)`, `(?<n>a)`, `(?i)abc`, `(?i:a)`, `(?#c)`, `(?>a)`, `(?<=a)b`, `(?<!a)b`, `a++`, `a**`, `a{2}{3}`,
		`a*+`, `^*`, `\b+`, `(?=a)*`, `*a`, `+`, `?`, `{2}`, `a{,5}`, `a{2`, `a{3,2}`, `a{x}`, `a{1000000}`, `}`, `]`,
		`(`, `)`, `a)`, `(a`, `[`, `[a-`, `[]`, `[^]`, `[]a]`, `[z-a]`, `[a-\d]`, `[\d-z]`, `[[:alpha:]]`, `[a&&b]`,
		`[a--b]`, `\`, `[\`, `\A`, `\Z`, `\z`, `\h`, `\R`, `\K`, `\Q`, `\a`, `\e`, `\-`, `\:`, `\_`, `\@`, `\"`, `\ `,
		`\p{L}`, `\pL`, `\k<n>`, `\cJ`, `\u{1F600}`, `\u12`, `\x1`, `\xg1`, `\01`, `\1`, `(\1)`, `(a)\10`, `\ud83d`,
		`[\p{L}]`, `[\:]`, `[\B]`, `[\1]`, strings.Repeat("(", 100) + strings.Repeat(")", 100),
	}
	for _, text := range good {
		if !portablePattern(text) {
			t.Errorf("%s is refused", text)
		}
	}
	for _, text := range bad {
		if portablePattern(text) {
			t.Errorf("%s is accepted", text)
		}
	}
}
