package console

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/junctor-mcp/junctor/host/console/consoletest"
	"github.com/junctor-mcp/junctor/host/limit"
)

// media returns images and sounds by their types.
func media(t *testing.T) map[string][]byte {
	t.Helper()
	picture := image.NewPaletted(image.Rect(0, 0, 3, 2), color.Palette{color.Black, color.White})
	var p, j, g bytes.Buffer
	if png.Encode(&p, picture) != nil || jpeg.Encode(&j, picture, nil) != nil || gif.Encode(&g, picture, nil) != nil {
		t.Fatal("the images cannot be made")
	}
	webp := append([]byte("RIFF\x20\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00"), 2, 0, 0, 1, 0, 0, 0, 0)
	return map[string][]byte{
		"image/png": p.Bytes(), "image/jpeg": j.Bytes(), "image/gif": g.Bytes(), "image/webp": webp,
		"audio/wav":  []byte("RIFF\x24\x00\x00\x00WAVEfmt "),
		"audio/mpeg": {0xFF, 0xFB, 0x90, 0x64}, "audio/ogg": []byte("OggS\x00\x02"), "audio/flac": []byte("fLaC\x00"),
	}
}

// call returns the page with a result, and its Content Security Policy.
func resultPage(t *testing.T, result string) (text, policy string) {
	t.Helper()
	f := newFake()
	f.result = Result{JSON: []byte(result)}
	resp, text := newSite(t, f, nil).browser(t).signInByLink().post("tool", "tool", "files__read", "arguments", "{}")
	return text, resp.Header.Get("Content-Security-Policy")
}

// TestResultsHaveImagesAndSounds: the type of an image or a sound comes from its first bytes,
// and the page may show data only then.
func TestResultsHaveImagesAndSounds(t *testing.T) {
	for kind, data := range media(t) {
		encoded := base64.StdEncoding.EncodeToString(data)
		for _, block := range []string{
			`{"type":"image","data":"%s","mimeType":"text/html"}`,
			`{"type":"audio","data":"%s","mimeType":"image/svg+xml"}`,
			`{"type":"resource","resource":{"uri":"file:///a","mimeType":"","blob":"%s"}}`,
		} {
			text, policy := resultPage(t, `{"content":[`+fmt.Sprintf(block, encoded)+`]}`)
			want := `<img src="data:` + kind + ";base64,"
			if strings.HasPrefix(kind, "audio/") {
				want = `<audio controls preload="none" src="data:` + kind + ";base64,"
			}
			if !strings.Contains(text, want) || policy != mediaPolicy || strings.Contains(text, "data:text") ||
				strings.Contains(text, "data:image/svg") {
				t.Errorf("%s in %s: %s\n%s", kind, block, policy, consoletest.Said(text))
			}
		}
	}
	if !strings.Contains(mediaPolicy, "img-src 'self' data:; media-src data:;") ||
		strings.Contains(strings.ReplaceAll(mediaPolicy, "img-src 'self' data:; media-src data:;", ""), "data:") {
		t.Error(mediaPolicy)
	}
}

// TestResultsShowNoOtherData: data that is no image or sound, or a huge one, is described.
func TestResultsShowNoOtherData(t *testing.T) {
	m := media(t)
	bomb := bytes.Clone(m["image/png"])
	binary.BigEndian.PutUint32(bomb[16:], 50_000)
	binary.BigEndian.PutUint32(bomb[20:], 50_000)
	vast := bytes.Clone(m["image/webp"])
	copy(vast[24:], []byte{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF})
	for name, c := range map[string]struct{ data, want string }{
		"a page": {base64.StdEncoding.EncodeToString([]byte("<!doctype html><script>alert(1)</script>")),
			"Browsers show no such data here."},
		"SVG": {base64.StdEncoding.EncodeToString(
			[]byte(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`),
		), "Browsers show no such data here."},
		"a video": {base64.StdEncoding.EncodeToString([]byte("\x1a\x45\xdf\xa3webm")),
			"Browsers show no such data here."},
		"nothing": {"", "Browsers show no such data here."},
		"the begin of PNG": {base64.StdEncoding.EncodeToString(m["image/png"][:12]),
			"Browsers show no such data here."},
		"many pixels":  {base64.StdEncoding.EncodeToString(bomb), "Browsers show no such data here."},
		"many in WebP": {base64.StdEncoding.EncodeToString(vast), "Browsers show no such data here."},
		"WebP without end": {base64.StdEncoding.EncodeToString(m["image/webp"][:22]),
			"Browsers show no such data here."},
		"no base64": {"%%%%", "It is not valid base64."},
		"a large image": {
			base64.StdEncoding.EncodeToString(append(bytes.Clone(m["image/png"]), make([]byte, maxMedia)...)),
			"It is too large for this page",
		},
	} {
		text, policy := resultPage(t, `{"content":[{"type":"image","mimeType":"image/png","data":"`+c.data+`"}]}`)
		if !strings.Contains(text, c.want) || strings.Contains(text, "<img") || policy != contentPolicy ||
			len(text) > 256<<10 {
			t.Errorf("%s: %s, %d bytes\n%s", name, policy, len(text), consoletest.Said(text))
		}
	}
	one := `{"type":"image","data":"` +
		base64.StdEncoding.EncodeToString(append(bytes.Clone(m["image/png"]), make([]byte, maxMedia/2)...)) + `"}`
	text, _ := resultPage(t, `{"content":[`+strings.Repeat(one+",", 9)+one+`]}`)
	if n := strings.Count(text, "<img "); n != 3 || strings.Count(text, "too large") != 7 {
		t.Errorf("%d images are shown", n)
	}
}

// TestResultsAreReadable: texts that are JSON have line breaks, structured content that says
// the same is shown once, and other texts are as they are.
func TestResultsAreReadable(t *testing.T) {
	pretty := "{\n  &#34;sum&#34;: 42\n}"
	for name, c := range map[string]struct {
		result string
		want   []string
		not    string
	}{
		"a text": {`{"content":[{"type":"text","text":"two\nlines"}]}`,
			[]string{"two\nlines</bdi></pre>"}, "<h4>"},
		"JSON in a text": {`{"content":[{"type":"text","text":" {\"sum\":42}"}]}`, []string{pretty}, "<h4>"},
		"both": {`{"content":[{"type":"text","text":"{\"sum\":42}"}],"structuredContent":{"sum":42}}`,
			[]string{pretty}, "Structured result"},
		"different ones": {`{"content":[{"type":"text","text":"42"}],"structuredContent":{"sum":42}}`,
			[]string{"Structured result", pretty}, "<h4>Text"},
		"no JSON": {`{"content":[{"type":"text","text":"{sum: 42}"}]}`, []string{"{sum: 42}"}, "<h4>"},
		"a secret member": {`{"content":[],"structuredContent":{"password":"hunter2"}}`,
			[]string{"bytes hidden"}, "hunter2"},
		"two texts": {`{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`,
			[]string{"<h4>Text 1</h4>", "<h4>Text 2</h4>"}, "further"},
		"a link": {`{"content":[{"type":"resource_link","uri":"https://example.com/x","name":"X"}]}`,
			[]string{"<code><bdi>https://example.com/x"}, `href="https://example`},
		"an unknown part": {`{"content":[{"type":"video","data":"` + strings.Repeat("A", 999) + `"}]}`,
			[]string{"<h4>Part 1</h4>", "… (999 bytes of base64)"}, "AAAA"},
		"no list":           {`{"content":"x"}`, []string{"<details open><summary>The whole result"}, "<h4>"},
		"a list of nothing": {`{"content":[null,1,"x"]}`, []string{"<h4>Part 3</h4>"}, "further"},
		"many parts": {`{"content":[` + strings.Repeat(`{"type":"text","text":"a"},`, 99) + `{}]}`,
			[]string{"50 further parts"}, "<h4>Text 51"},
		"nested parts": {`{"content":` + strings.Repeat(`{"content":`, 5000) + "1" + strings.Repeat("}", 5000) + `}`,
			[]string{"<details open><summary>The whole result"}, "<h4>"},
	} {
		text, policy := resultPage(t, c.result)
		for _, w := range c.want {
			if !strings.Contains(text, w) || strings.Contains(text, c.not) || policy != contentPolicy {
				t.Errorf("%s does not show %q, or shows %q\n%.6000s",
					name, w, c.not, text[strings.Index(text, "outcome"):])
			}
		}
	}
}

// TestResultsHoldMemoryUntilTheirPageIsWritten: the memory of a result is held while its page is
// made, and given back also if the page has nothing of it.
func TestResultsHoldMemoryUntilTheirPageIsWritten(t *testing.T) {
	for name, result := range map[string]string{"a result": `{"content":[{"type":"text","text":"the-result"}]}`,
		"no JSON": "the-result"} {
		for page, form := range map[string][]string{
			"tool": {"tool", "files__read", "arguments", "{}"},
			"item": {"kind", "resource", "server", "files", "name", "file:///srv/plan.md"},
		} {
			memory := limit.NewMemory(1 << 20)
			held, err := memory.Hold(1000)
			if err != nil {
				t.Fatal(err)
			}
			f := newFake()
			f.result = Result{JSON: []byte(result), Hold: held}
			var seen atomic.Int64 // bytes that are held while the page shows a text of the result
			b := newSite(t, f, func(o *Options) {
				o.Hide = func(text string) string {
					if strings.Contains(text, "the-result") {
						seen.Store(memory.Used())
					}
					return text
				}
			}).browser(t).signInByLink()
			if _, text := b.post(page, form...); len(text) == 0 {
				t.Error("no page")
			}
			if name == "a result" && seen.Load() != 1000 || memory.Used() != 0 {
				t.Errorf("%s, %s: %d bytes while the page is made, %d after it", page, name, seen.Load(), memory.Used())
			}
		}
	}
}
