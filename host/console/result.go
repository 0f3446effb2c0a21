package console

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"iter"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/approval"
	"github.com/junctor-mcp/junctor/host/mcp"
)

// The parts of a result that are shown.
const (
	maxParts    = 50
	maxMedia    = 4 << 20 // bytes of an image or a sound
	maxAllMedia = 8 << 20 // bytes of those of a result together
	maxJSON     = 1 << 20 // bytes of a text that is shown as JSON
)

// mediaPolicy is the Content Security Policy of a page with images or sounds of a result,
// which are part of the page. Nothing is loaded.
var mediaPolicy = strings.Replace(contentPolicy, "img-src 'self'", "img-src 'self' data:; media-src data:", 1)

// A shownResult is the result of a tool, a resource or a prompt for people. It belongs to one
// request. Results are untrusted: only mediaType decides what a browser shows.
type shownResult struct {
	Parts      []resultPart
	More       int    // parts that are not shown
	Structured string // JSON; empty: the parts say the same, or there is none
	Whole      string // the result as JSON
}

// A resultPart is a part of the content of a result.
type resultPart struct {
	Title  string // such as "Text 1"
	Role   string // of the message of a prompt
	Text   string
	URI    string // of a resource
	Note   string // why there is no image or sound, and what it is
	Image  template.URL
	Sound  template.URL
	Number int
}

func (r *shownResult) hasMedia() bool {
	if r == nil {
		return false
	}
	for _, p := range r.Parts {
		if p.Image != "" || p.Sound != "" {
			return true
		}
	}
	return false
}

// A contentBlock is a part of the content as servers write it.
type contentBlock struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Data     string `json:"data"`
	MIME     string `json:"mimeType"`
	URI      string `json:"uri"`
	Name     string `json:"name"`
	Resource struct {
		URI  string `json:"uri"`
		MIME string `json:"mimeType"`
		Text string `json:"text"`
		Blob string `json:"blob"`
	} `json:"resource"`
}

// shown returns a result for the page.
func (q *request) shown(result []byte) *shownResult {
	r := &shownResult{Whole: approval.Show(shortData(result, 0), q.hide)}
	blocks := blocksOf(result)
	r.More = max(len(blocks)-maxParts, 0)
	left := maxAllMedia
	for i, raw := range blocks[:len(blocks)-r.More] {
		var b contentBlock
		if err := json.Unmarshal(raw.content, &b); err != nil {
			b = contentBlock{}
		}
		p := q.partOf(&b, raw.content, &left)
		p.Number, p.Role = i+1, raw.role
		r.Parts = append(r.Parts, p)
	}
	if structured := mcp.Member(result, "structuredContent"); structured != nil {
		r.Structured = approval.Show(structured, q.hide)
	}
	if r.Structured != "" && len(r.Parts) == 1 && r.Parts[0].Text == r.Structured {
		r.Structured = ""
	}
	return r
}

// A block is a part of a result. role is that of the message of a prompt.
type block struct {
	content []byte
	role    string
}

// blocksOf returns the content of a tool's result, the contents of a resource as embedded
// resources, or the content of the messages of a prompt. Without these there is none.
func blocksOf(result []byte) (all []block) {
	for one := range elements(result, "content") {
		all = append(all, block{content: one})
	}
	for one := range elements(result, "contents") {
		all = append(all, block{content: fmt.Appendf(nil, `{"type":"resource","resource":%s}`, one)})
	}
	for one := range elements(result, "messages") {
		role, _ := mcp.TextMember(one, "role")
		all = append(all, block{content: mcp.Member(one, "content"), role: role})
	}
	return all
}

// elements returns the elements of a member that is a list.
func elements(result []byte, member string) iter.Seq[json.RawMessage] {
	var list []json.RawMessage
	_ = json.Unmarshal(mcp.Member(result, member), &list) // without a list the whole result is shown
	return slices.Values(list)
}

// partOf returns a part for the page. left is what remains of the bytes of images and sounds.
func (q *request) partOf(b *contentBlock, raw []byte, left *int) (p resultPart) {
	switch b.Type {
	case "text":
		p.Title, p.Text = "Text", q.pretty(b.Text)
	case "image", "audio":
		p.Title = strings.ToUpper(b.Type[:1]) + b.Type[1:]
		p.addMedia(b.Data, b.MIME, left)
	case "resource_link":
		p.Title, p.URI, p.Text = "Link to a resource", b.URI, b.Name
	case "resource":
		p.Title, p.URI = "Resource", b.Resource.URI
		if b.Resource.Blob != "" {
			p.addMedia(b.Resource.Blob, b.Resource.MIME, left)
		} else {
			p.Text = q.pretty(b.Resource.Text)
		}
	default:
		p.Title, p.Text = "Part", approval.Show(shortData(raw, 0), q.hide)
	}
	return p
}

// pretty returns a text, with line breaks if it is a JSON object or array.
func (q *request) pretty(text string) string {
	trimmed := strings.TrimSpace(text)
	if len(trimmed) > maxJSON || !strings.HasPrefix(trimmed, "{") && !strings.HasPrefix(trimmed, "[") ||
		!json.Valid([]byte(trimmed)) {
		return text
	}
	return approval.Show([]byte(trimmed), q.hide)
}

// addMedia adds an image or a sound, or says why it is not shown.
func (p *resultPart) addMedia(data, declared string, left *int) {
	size := base64.StdEncoding.DecodedLen(len(data))
	p.Note = fmt.Sprintf("%s, about %s", declared, sizeOf(size))
	if size > maxMedia || size > *left {
		p.Note += ". It is too large for this page: junctor call writes it to a file."
		return
	}
	content, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		p.Note += ". It is not valid base64."
		return
	}
	kind := mediaType(content)
	if kind == "" {
		p.Note += ". Browsers show no such data here."
		return
	}
	*left -= len(content)
	p.Note = fmt.Sprintf("%s, %s", kind, sizeOf(len(content)))
	address := template.URL("data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(content))
	if strings.HasPrefix(kind, "image/") {
		p.Image = address
	} else {
		p.Sound = address
	}
}

// shortData returns JSON in which long base64 of images, sounds and resources is replaced
// by its length: it says nothing to people. depth is that of value, in a result at most
// dataDepth.
func shortData(value []byte, depth int) []byte {
	const dataDepth, longest = 4, 200
	switch {
	case len(value) == 0 || depth > dataDepth:
		return value
	case value[0] == '[':
		return mcp.RewriteElements(value, func(one []byte) []byte { return shortData(one, depth+1) })
	case value[0] != '{':
		return value
	}
	return mcp.RewriteMembers(value, func(name string, one []byte) []byte {
		switch {
		case (name == "data" || name == "blob") && len(one) > longest && one[0] == '"':
			return fmt.Appendf(nil, `"… (%d bytes of base64)"`, len(one)-2)
		case slices.Contains([]string{"content", "contents", "messages", "resource"}, name):
			return shortData(one, depth+1)
		}
		return one
	})
}
