package ndjson

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// read returns all lines and errors as text.
func read(r *Reader) []string {
	var got []string
	for {
		line, err := r.Next()
		long, ok := errors.AsType[*TooLongError](err)
		switch {
		case ok:
			got = append(got, fmt.Sprintf("<%d: %s>", long.Limit, long.Prefix))
		case err == io.EOF:
			return got
		case err != nil:
			return append(got, "error: "+err.Error())
		default:
			got = append(got, string(line))
		}
	}
}

// ways are behaviours of a source.
var ways = map[string]func(io.Reader) io.Reader{
	"at once":          func(r io.Reader) io.Reader { return r },
	"byte by byte":     iotest.OneByteReader,
	"halves":           iotest.HalfReader,
	"end with data":    iotest.DataErrReader,
	"bytes, then both": func(r io.Reader) io.Reader { return iotest.DataErrReader(iotest.OneByteReader(r)) },
}

func TestReader(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{"nothing", "", nil},
		{"empty lines", "\n\r\n\n\r\r\n", nil},
		{"lines", "a\nb\n", []string{"a", "b"}},
		{"CRLF", "a\r\nb\r\n", []string{"a", "b"}},
		{"last line without an end", "a\nb", []string{"a", "b"}},
		{"last line ends in CR", "a\r", []string{"a"}},
		{"spaces are a line", " \n", []string{" "}},
		{"CR inside", "a\rb\n", []string{"a\rb"}},
		{"at the limit", "1234567890\n1234567890\r\n1234567890", []string{"1234567890", "1234567890", "1234567890"}},
		{"beyond", "12345678901\na\n", []string{"<10", "a"}},
		{"beyond with CR", "12345678901\r\na\n", []string{"<10", "a"}},
		{"too many CRs", "1234567890\r\r\na\n", []string{"<10", "a"}},
		{"last line is beyond", "a\n12345678901", []string{"a", "<10"}},
		{"beyond in between", "a\n" + strings.Repeat("x", 40) + "\nb", []string{"a", "<10", "b"}},
		{"beyond twice", strings.Repeat("x", 12) + "\n" + strings.Repeat("y", 13) + "\n", []string{"<10", "<10"}},
		{"NUL and bad UTF-8", "\x00\xff\n", []string{"\x00\xff"}},
	} {
		for way, wrap := range ways {
			t.Run(c.name+"/"+way, func(t *testing.T) {
				got := read(NewReader(wrap(strings.NewReader(c.in)), 10))
				for i, g := range got {
					// The length of the prefix depends on the sizes of the
					// reads.
					if size, _, long := strings.Cut(g, ":"); long && strings.HasPrefix(g, "<") {
						got[i] = size
					}
				}
				if !slices.Equal(got, c.want) {
					t.Errorf("got %q, want %q", got, c.want)
				}
			})
		}
	}
}

func TestReaderError(t *testing.T) {
	broken := io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(errors.New("torn")))
	if got := read(NewReader(broken, 0)); !slices.Equal(got, []string{"a", "b", "error: torn"}) {
		t.Errorf("got %q", got)
	}
}

// TestPrefix checks that the first 4 KiB of a line that is too long are kept.
func TestPrefix(t *testing.T) {
	line := bytes.Repeat([]byte("0123456789abcdef"), 10_000)
	for _, limit := range []int{10, 100, 5_000, 100_000} {
		r := NewReader(bytes.NewReader(append(slices.Clone(line), "\nnext\n"...)), limit)
		_, err := r.Next()
		long, ok := errors.AsType[*TooLongError](err)
		if !ok || long.Size <= int64(limit) || !bytes.HasPrefix(line, long.Prefix) || len(long.Prefix) != maxPrefix {
			t.Errorf("limit %d: %v, a prefix of %d bytes", limit, err, len(long.Prefix))
		}
		if next, err := r.Next(); string(next) != "next" || err != nil {
			t.Errorf("limit %d: after it came %q, %v", limit, next, err)
		}
	}
}

// endless is a source of n bytes without a line break.
type endless struct{ left int }

func (e *endless) Read(b []byte) (int, error) {
	if e.left <= 0 {
		return 0, io.EOF
	}
	n := min(len(b), e.left)
	for i := range b[:n] {
		b[i] = 'x'
	}
	e.left -= n
	return n, nil
}

// TestMemory checks that 100 MiB without a line break use no more memory than
// the limit implies, and that it is released afterwards.
func TestMemory(t *testing.T) {
	r := NewReader(io.MultiReader(&endless{100 << 20}, strings.NewReader("\nnext\n")), 0)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	_, err := r.Next()
	if long, ok := errors.AsType[*TooLongError](err); !ok || long.Size <= DefaultLimit {
		t.Fatalf("got %v", err)
	}
	next, err := r.Next()
	runtime.ReadMemStats(&after)
	if string(next) != "next" || err != nil {
		t.Errorf("got %q, %v", next, err)
	}
	// A buffer that doubles up to the limit allocates three times the limit.
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 4*DefaultLimit {
		t.Errorf("allocated %d MiB", grown>>20)
	}
	if len(r.buf) > maxIdleBuffer {
		t.Errorf("keeps a buffer of %d bytes", len(r.buf))
	}
}

// TestLineWithoutEnd checks that a line which never ends ends the reader.
func TestLineWithoutEnd(t *testing.T) {
	for _, limit := range []int{10, maxSkipped/4 + 1<<20} {
		src := &endless{1 << 40}
		r := NewReader(src, limit)
		if _, err := r.Next(); !errors.As(err, new(*TooLongError)) {
			t.Fatalf("limit %d: %v", limit, err)
		}
		for range 2 {
			_, err := r.Next()
			if e, ok := errors.AsType[*EndlessError](err); !ok || e.Size < max(maxSkipped, 4*int64(limit)) ||
				e.Size > max(maxSkipped, 4*int64(limit))+firstBuffer {
				t.Errorf("limit %d: %v", limit, err)
			}
		}
	}
}

// TestEndlessLineIsReportedAtTheLimit checks that a line is reported before its end,
// which may never come.
func TestEndlessLineIsReportedAtTheLimit(t *testing.T) {
	src, server := io.Pipe()
	defer src.Close()
	go func() { _, _ = server.Write(bytes.Repeat([]byte("x"), 12)) }() // ends with the first Next
	r := NewReader(src, 10)
	_, err := r.Next()
	if long, ok := errors.AsType[*TooLongError](err); !ok || long.Limit != 10 || string(long.Prefix) != "xxxxxxxxxxxx" {
		t.Fatalf("got %v", err)
	}
	go func() { _, _ = server.Write([]byte("xx\nnext\n")) }()
	if next, err := r.Next(); string(next) != "next" || err != nil {
		t.Errorf("got %q, %v", next, err)
	}
}

// TestLarge reads lines of many sizes up to the limit.
func TestLarge(t *testing.T) {
	const limit = 5 << 20
	rnd := rand.New(rand.NewPCG(1, 2))
	sizes := []int{limit, 1, limit - 1, 10, firstBuffer, firstBuffer - 1, firstBuffer + 1, maxIdleBuffer, limit}
	for range 50 {
		sizes = append(sizes, 1+rnd.IntN(2*firstBuffer))
	}
	var in bytes.Buffer
	for i, n := range sizes {
		in.Write(bytes.Repeat([]byte{byte('a' + i%26)}, n))
		in.WriteString("\n")
	}
	r := NewReader(iotest.DataErrReader(&in), limit)
	for i, n := range sizes {
		line, err := r.Next()
		if err != nil || len(line) != n || bytes.Count(line, []byte{byte('a' + i%26)}) != n {
			t.Fatalf("line %d: %d bytes, %v; want %d", i, len(line), err, n)
		}
		if len(r.buf) > limit+firstBuffer {
			t.Fatalf("the buffer has %d bytes", len(r.buf))
		}
	}
	if _, err := r.Next(); err != io.EOF {
		t.Errorf("at the end: %v", err)
	}
}

func TestBeforeRead(t *testing.T) {
	r := NewReader(iotest.OneByteReader(strings.NewReader("a\nb\n")), 0)
	waits := 0
	r.BeforeRead = func() { waits++ }
	if got := read(r); len(got) != 2 || waits != 5 {
		t.Errorf("read %q with %d waits", got, waits)
	}
	r = NewReader(strings.NewReader("a\nb\n"), 0)
	r.BeforeRead = func() { waits++ }
	waits = 0
	for range 2 {
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
	}
	if waits != 1 { // the first read returned both lines
		t.Errorf("%d waits", waits)
	}
}

func TestMessage(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"an object", `{"a":1}`, `{"a":1}`},
		{"empty object", `{}`, `{}`},
		{"white space around", " \t{\"a\":1} \r", `{"a":1}`},
		{"white space inside stays", `{ "a" : 1 }`, `{ "a" : 1 }`},
		{"CR between tokens", "{\"a\":\r1}", `{"a": 1}`},
		{"LF between tokens", "{\"a\"\n:\r\n1}", `{"a" :  1}`},
		{"escaped CR in a string", `{"a":"\r"}`, `{"a":"\r"}`},
		{"CR in a string", "{\"a\":\"\r\"}", ""},
		{"CR in a name", "{\"a\r\":1}", ""},
		{"CR in a number", "{\"a\":1\r2}", ""},
		{"CR in a word", "{\"a\":tr\rue}", ""},
		{"CR in what is not JSON", "{a\r}", ""},
		{"LF as a second message", "{\"a\":1}\n{\"b\":2}", ""},
		{"nothing", "", ""},
		{"spaces", "   ", ""},
		{"banner", "Server listening on stdio", ""},
		{"banner in braces, not looked into", "{starting}", "{starting}"},
		{"batch", `[{"a":1}]`, ""},
		{"text", `"{}"`, ""},
		{"one brace", "{", ""},
		{"no end", `{"a":1`, ""},
		{"no beginning", `"a":1}`, ""},
		{"byte order mark", "\ufeff{}", "{}"},
		{"byte order mark and white space", "\ufeff \n{\"a\":1}\n", `{"a":1}`},
		{"two byte order marks", "\ufeff\ufeff{}", ""},
		{"white space before the byte order mark", " \ufeff{}", ""},
		{"byte order mark at the end", "{}\ufeff", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Message([]byte(c.in))
			if string(got) != c.want || (err == nil) != (c.want != "") {
				t.Errorf("got %q, %v; want %q", got, err, c.want)
			}
		})
	}
}

// TestOwned keeps lines of all sizes, and compares them after everything was read.
func TestOwned(t *testing.T) {
	var text bytes.Buffer
	var want []string
	for n, size := range []int{10, 100, 40 << 10, 70 << 10, 5, 300 << 10, 1, 64 << 10, 32 << 10, 1 << 20, 3} {
		line := strings.Repeat(string(rune('a'+n)), size)
		want = append(want, line)
		text.WriteString(line + "\n")
	}
	for name, wrap := range map[string]func(io.Reader) io.Reader{"at once": func(r io.Reader) io.Reader { return r },
		"halves": iotest.HalfReader} {
		r := NewReader(wrap(bytes.NewReader(text.Bytes())), 0)
		var got [][]byte
		for range want {
			line, err := r.Next()
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, r.Owned(line))
		}
		for i, line := range want {
			if string(got[i]) != line {
				t.Errorf("%s: line %d of %d bytes has changed", name, i, len(line))
			}
			if cap(got[i]) > 2*len(line)+firstBuffer {
				t.Errorf("%s: line %d of %d bytes holds %d", name, i, len(line), cap(got[i]))
			}
		}
	}
}

// TestExpectedSize: the buffer grows in one step for a line like one before, if that is
// admitted, and in small steps again after many short lines.
func TestExpectedSize(t *testing.T) {
	long, short := strings.Repeat("x", 1<<20), strings.Repeat("s\n", maxShortLines)
	middle := strings.Repeat("m", 100<<10)
	var parts []io.Reader // read one after the other, as from a pipe
	for _, text := range []string{long, long, middle, long, short, long} {
		parts = append(parts, strings.NewReader(strings.TrimSuffix(text, "\n")+"\n"))
	}
	r := NewReader(io.MultiReader(parts...), 0)
	var asked []int
	most := 16 << 20
	r.Admit = func(size int) bool { asked = append(asked, size); return size <= most }
	read := func(want string, steps int) {
		t.Helper()
		asked = nil
		line, err := r.Next()
		if err != nil || len(line) != len(want) {
			t.Fatalf("%d bytes of %d, %v", len(line), len(want), err)
		}
		_ = r.Owned(line)
		if len(asked) != steps {
			t.Errorf("%d bytes: the buffer grew %d times, want %d: %d", len(want), len(asked), steps, asked)
		}
	}
	read(long, 5)
	read(long, 1)
	most = 512 << 10
	read(middle, 2) // the expected size is refused
	most = 16 << 20
	read(long, 1)
	for range maxShortLines {
		read("s", 0)
	}
	read(long, 5)
}

// TestAdmit refuses long lines. Their first and last bytes are reported, and the lines
// around them are read.
func TestAdmit(t *testing.T) {
	long := "{" + strings.Repeat("x", 200<<10) + "}"
	endless := strings.Repeat("y", 2<<20)
	text := "a\n" + long + "\nb\n" + endless + "\nc\n" + long
	for name, wrap := range map[string]func(io.Reader) io.Reader{"at once": func(r io.Reader) io.Reader { return r },
		"halves": iotest.HalfReader} {
		r := NewReader(wrap(strings.NewReader(text)), 1<<20)
		var sizes []int
		r.Admit = func(size int) bool { sizes = append(sizes, size); return false }
		next := func(want string) {
			t.Helper()
			if line, err := r.Next(); string(line) != want || err != nil {
				t.Fatalf("%s: %.20q, %v", name, line, err)
			}
		}
		refused := func() {
			t.Helper()
			_, err := r.Next()
			e, ok := errors.AsType[*NotAdmittedError](err)
			if !ok || e.Size != int64(len(long)) || !strings.HasPrefix(long, string(e.Prefix)) ||
				!strings.HasSuffix(long, string(e.Suffix)) || len(e.Prefix) == 0 || len(e.Suffix) != maxSuffix {
				t.Fatalf("%s: %v", name, err)
			}
		}
		next("a")
		refused()
		next("b")
		if _, err := r.Next(); !errors.As(err, new(*TooLongError)) {
			t.Fatalf("%s: %v", name, err)
		}
		next("c")
		refused() // the last line has no ending
		if _, err := r.Next(); err != io.EOF {
			t.Errorf("%s: %v", name, err)
		}
		if len(sizes) != 3 || slices.Max(sizes) > 384<<10 || len(r.buf) > firstBuffer {
			t.Errorf("%s: asked for %d, the buffer has %d", name, sizes, len(r.buf))
		}
	}
}

// TestBufferGrowsWithReads checks that the buffer of a peer that sends little stays small,
// and that one read returns more once a peer sends more at a time.
func TestBufferGrowsWithReads(t *testing.T) {
	line := strings.Repeat("x", 99) + "\n"
	for _, c := range []struct {
		name  string
		burst int // lines
		want  int
	}{{"little", 10, smallBuffer}, {"much", 100, firstBuffer}} {
		src := strings.Repeat(line, c.burst)
		r := NewReader(io.MultiReader(strings.NewReader(src), strings.NewReader(src), strings.NewReader(src)), 0)
		for n := range 3 * c.burst {
			got, err := r.Next()
			if err != nil || string(got)+"\n" != line {
				t.Fatalf("%s: line %d: %q, %v", c.name, n, got, err)
			}
		}
		if _, err := r.Next(); err != io.EOF {
			t.Errorf("%s: the end is %v", c.name, err)
		}
		if len(r.buf) != c.want {
			t.Errorf("%s: the buffer has %d bytes, want %d", c.name, len(r.buf), c.want)
		}
	}
}
