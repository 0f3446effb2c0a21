package run

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
)

// signatures are the beginnings of sounds that net/http does not know.
var signatures = []struct {
	at     int // bytes before the signature
	begins string
	mime   string
}{
	{0, "fLaC", "audio/flac"},
	{0, "\xff\xfb", "audio/mpeg"}, {0, "\xff\xf3", "audio/mpeg"}, {0, "\xff\xf2", "audio/mpeg"},
	{0, "\xff\xf1", "audio/aac"}, {0, "\xff\xf9", "audio/aac"},
	{4, "ftypM4A", "audio/mp4"},
}

// mimeOf returns the type of media by its first bytes.
func mimeOf(data []byte) string {
	for _, s := range signatures {
		if len(data) > s.at && bytes.HasPrefix(data[s.at:], []byte(s.begins)) {
			return s.mime
		}
	}
	mime, _, _ := strings.Cut(http.DetectContentType(data), ";")
	if mime == "application/ogg" {
		return "audio/ogg"
	}
	return mime
}

func (f Form) isMedia() bool { return f.Output == Image || f.Output == Audio }

// media adds an output as an image or a sound. It returns a text about it, or why it is none.
func (r *result) media(kind string, o *Output) (shown, problem string) {
	mime := mimeOf(o.Head)
	article := map[string]string{Image: "an image", Audio: "a sound"}[kind]
	switch {
	case len(o.Head) == 0:
		return "", "it is empty"
	case !strings.HasPrefix(mime, kind+"/"):
		return "", fmt.Sprintf("it is not %s that clients know, but %s of %d bytes", article, mime, int64(len(o.Head)+len(o.Tail))+o.Omitted)
	case o.Omitted > 0:
		return "", "it is larger than max_output or a message, so it was cut; make it smaller, or raise max_output"
	}
	r.Content = append(r.Content, content{Type: kind, MimeType: mime, Data: base64.StdEncoding.EncodeToString(o.Head)})
	return fmt.Sprintf("[%s of %d bytes]", mime, len(o.Head)), ""
}
