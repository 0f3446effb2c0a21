package host

import (
	"encoding/json"
	"net/url"
	"path/filepath"
	"strings"
)

// rootsOf makes the result of roots/list of directories; nil without any.
func rootsOf(paths []string) []byte {
	if len(paths) == 0 {
		return nil
	}
	type root struct {
		URI  string `json:"uri"`
		Name string `json:"name"`
	}
	var roots []root
	for _, p := range paths {
		roots = append(roots, root{fileURI(p), filepath.Base(p)})
	}
	b, err := json.Marshal(map[string]any{"roots": roots})
	if err != nil {
		panic(err) // strings can always be rendered
	}
	return b
}

// fileURI is the URI of an absolute path. One of Windows gets a slash before its
// drive.
func fileURI(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}
