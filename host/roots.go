package host

import (
	"encoding/json"
	"net/url"
	"path/filepath"
	"strings"
)

// rootsOf returns the result of roots/list for directories, or nil without any.
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
		panic(err) // impossible: strings can be encoded
	}
	return b
}

// fileURI returns the URI of an absolute path. It adds a slash before the drive of a
// Windows path.
func fileURI(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}
