package confine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// newTestDir returns a directory with a few files and links, and the directory
// above it, which holds a secret.
func newTestDir(t *testing.T) (d *Dir, top string) {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"work/sub/deep/x", "work/a", "work/a b, (c).txt", "work/name:x", "work/http:x",
		"secret", "other/c"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(top, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(top, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{
		"out": "../other", "file": "../secret", "self": "/proc/self/cwd",
		"fds": "/dev/fd", "stdin": "/dev/stdin", "xaa": "../made", "part-1": "a", "deeper": "sub/deep", "root": "/",
	} {
		if err := os.Symlink(target, filepath.Join(top, "work", name)); err != nil {
			t.Fatal(err)
		}
	}
	if d, err = New(filepath.Join(top, "work")); err != nil {
		t.Fatal(err)
	}
	return d, top
}

// outside are spellings of a path outside the directory. $TOP is the directory
// above it.
var outside = []string{
	// Other files for each process.
	"/proc/self/cwd/../secret", "/proc/thread-self/cwd/../secret", "/proc/self/root/etc/passwd", "/proc/self/fd/0",
	"/proc/self/environ", "/proc/1/root", "//proc//self/cwd/a",
	"/dev/fd/0", "/dev/null/..", "/dev/null/../zero", "/dev/nullx", "/dev/stdin", "/dev/stdout", "self/a",
	"self/../secret", "fds/0", "stdin", "root/proc/self/cwd/../secret", "deeper/../../self/a", "$TOP/work/self/a",
	// Absolute paths with any characters, whether they exist or not.
	"$TOP/secret", "$TOP/with space_", "$TOP/x ", " $TOP/x", "$TOP/a\tb", "$TOP/a\nb", "\t$TOP/x", "\n$TOP/x",
	"$TOP/\u00e9\u202e\U0001F600", "$TOP/no/such/place", "/x", "/", "//", "/.", "/..",
	"/no such/place", "$TOP/work two/x", "$TOP/work/../secret", "$TOP/workx", "$TOP/./work/./../secret",
	"//$TOP/secret", "/\u00a0/x",
	// Names before the path.
	"x:$TOP/secret", "x:../secret", "a:b:$TOP/secret", "KEY=$TOP/secret", "KEY=../secret", "@$TOP/secret", "@../secret",
	"x@$TOP/secret", "<$TOP/secret", "k=@$TOP/secret", ":$TOP/secret", ":/", ":../x",
	"file:$TOP/secret", "file://$TOP/secret", "file:///$TOP/secret", "FILE:$TOP/secret", "file://localhost$TOP/secret",
	"cache:$TOP/secret", "cache:file:$TOP/secret", "concat:a|$TOP/secret", "concat:a|../secret",
	"subfile,,start,0,end,9,,:$TOP/secret", "md5:$TOP/secret", "tee:$TOP/x", "pipe:/x", "data:,$TOP/x",
	"jar:file:$TOP/x!/a", "zip://$TOP/x", "sqlite:///$TOP/x", "unix:///run/docker.sock", "x;$TOP/x", "a,$TOP/x",
	"a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,$TOP/secret", "a|b|c|d|e|f|g|h|i|j|k|../secret", "movie=$TOP/secret", "[a]$TOP/x",
	"(../x)", "{a,$TOP/x}", "{a,../x}", "\"$TOP/x\"", "'$TOP/x'", "`$TOP/x`", "a $TOP/x", "a\t../x", "-I$TOP",
	"a -L../x", "-f=$TOP/x",
	"a!$TOP/x", "a&$TOP/x", "$$TOP/x", "^$TOP/x", "#$TOP/x", "?$TOP/x", "*$TOP/x", "+$TOP/x", ">$TOP/x",
	"https://example.com|$TOP/x", "https://example.com,$TOP/x", "cache:https://$TOP/secret", "http://../../secret",
	// Escapes.
	"%2e%2e/secret", "%2E%2E%2Fsecret", "..%2fsecret", "%2fetc%2fpasswd", "%252e%252e/secret", "file:%2fetc/passwd",
	"sub/%2e%2e/%2e%2e/secret", "x:%2e%2e/secret",
	// Climbing and links.
	"..", "../", "../secret", "./../secret", "sub/../../secret", "sub/deep/../../../secret", "new/../../secret",
	"a/../../secret", "out", "out/c", "file", "deeper/../../file", "deeper/../file", "new/../file", "root/etc/passwd",
	"sub/.././file",
	"././././file", "KEY=file", "x:file", "@out/c", "a,file", "k=sub/../file",
	"~", "~/x", "~root/x", "@~/x", "k=~/x", "x:~/x", "file:~/x", "a ~/x",
}

// TestTextsAndPathsThatLeadOut checks that neither a path nor a text leads out,
// whatever is around the path.
func TestTextsAndPathsThatLeadOut(t *testing.T) {
	d, top := newTestDir(t)
	for _, spelling := range outside {
		value := strings.ReplaceAll(spelling, "$TOP", top)
		for kind, check := range map[string]func(string) error{"path": d.Path, "place": d.Place, "text": d.Text,
			"prefix": d.Prefix} {
			err := check(value)
			if err == nil {
				t.Errorf("%s %q is accepted", kind, spelling)
			} else if strings.Contains(err.Error(), "secret") {
				t.Errorf("%s %q: the error has the path: %v", kind, spelling, err)
			}
		}
	}
	for _, value := range []string{"sub/.*/../secret", `..\secret`, `sub\..\..\secret`, ".?/secret", ".[.]/secret",
		".*/x", "cache:a", "x:y", "http://example.com/x", "https://example.com/x", "c:x", `C:\x`, "pipe:", "data:,x",
		"ext::x", "a+b:c", "none,,:x"} {
		if err := d.Path(value); err == nil {
			t.Errorf("path %q is accepted", value)
		}
	}
	for _, value := range []string{"/etc/passwd", "../x", "a=/etc/passwd", "x:../secret", "@/etc/passwd",
		" /etc/passwd", "file", "a,/etc/passwd", "/x y", "sub/../../x", "~/x", "%2fetc"} {
		if err := d.Sentence(value); err == nil {
			t.Errorf("sentence %q is accepted", value)
		}
	}
	for _, value := range []string{"xa", "x", "", "sub/../x", "fil", "/proc/self/cwd/x"} {
		if err := d.Prefix(value); err == nil {
			t.Errorf("prefix %q is accepted", value)
		}
	}
}

// TestHarmlessValues checks values that people give every day.
func TestHarmlessValues(t *testing.T) {
	d, top := newTestDir(t)
	for _, value := range []string{
		"a", "./a", "sub/deep/x", "a b, (c).txt", "name:x", "./name:y", "./cache:x", "http:x", "new/file", "sub/../a",
		"deeper/x", "part-1", ".hidden", "..a", "a..b", "...", "-", "x~", "caf\u00e9", "100%", "50%25", "*.go",
		"src/*.go", "$TOP/work/a", "$TOP/work/a b, (c).txt", "$TOP/work", "$TOP/work/", "//$TOP/work/a", "/dev/null",
	} {
		if err := d.Path(strings.ReplaceAll(value, "$TOP", top)); err != nil {
			t.Errorf("path %q: %v", value, err)
		}
	}
	for _, value := range []string{
		"https://example.com/a/b?x=/y#/z", "see https://example.com/a, please", "url=https://example.com/x",
		"git@example.com:a/b.git", "HEAD~2:sub/x", "main..topic", "HEAD^{tree}", "a:b:c", "12:30", "k=v,l=w", "x=1;y=2",
		"select 4 / 2 from t where a = 'b'", "x // a comment", "a -> b", "s/a/b/g", "and/or", "%Y-%m-%d", "%H/%M",
		"$TOP/work/a:$TOP/work/sub", "in=$TOP/work/a", "std::string", "1.5", "a@b.example", "{\"a\":[1,2]}",
		"x=$TOP/work/a b, (c).txt", "postgres://db.example/x", "s3://bucket/key", "~1", "a~", "2>/dev/null", "#channel",
		"@user", "+1", "key: value",
	} {
		if err := d.Text(strings.ReplaceAll(value, "$TOP", top)); err != nil {
			t.Errorf("text %q: %v", value, err)
		}
	}
	for _, value := range []string{"fix: ../ is resolved",
		"see /etc/passwd", "a / b (/c)", "Revert \"x\" in /usr/lib", "typo in a/../b", strings.Repeat("word ", 2000)} {
		if err := d.Sentence(value); err != nil {
			t.Errorf("sentence %q: %v", value, err)
		}
	}
	for _, value := range []string{"https://example.com/x", "ssh://host/srv/x", "repo", "$TOP/work/a"} {
		if err := d.Place(strings.ReplaceAll(value, "$TOP", top)); err != nil {
			t.Errorf("place %q: %v", value, err)
		}
	}
	for _, value := range []string{"part", "part-", "sub/x", "new"} {
		if err := d.Prefix(value); err != nil {
			t.Errorf("prefix %q: %v", value, err)
		}
	}
}
