package console

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"time"
)

//go:embed static/console.css static/console.js static/icon.svg
var static embed.FS

// The paths of the assets have digests in them, so browsers may keep the assets.
var (
	stylePath  = assetPath("console.css", ".css")
	scriptPath = assetPath("console.js", ".js")
	iconPath   = assetPath("icon.svg", ".svg")
)

// assetPath returns the path under which an asset is served. The variables above are set once
// and only read.
func assetPath(name, suffix string) string {
	sum := sha256.Sum256(asset(name))
	return "/static/" + hex.EncodeToString(sum[:8]) + suffix
}

func asset(name string) []byte {
	text, err := static.ReadFile("static/" + name)
	if err != nil {
		panic(err) // it is part of the program
	}
	return text
}

// serveAsset answers with the style sheet, the script or the icon. It needs no session.
func serveAsset(w http.ResponseWriter, r *http.Request) error {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return errMethod("GET, HEAD")
	}
	name, kind := "icon.svg", "image/svg+xml"
	switch r.URL.Path {
	case stylePath:
		name, kind = "console.css", "text/css; charset=utf-8"
	case scriptPath:
		name, kind = "console.js", "text/javascript; charset=utf-8"
	}
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Cache-Control", "private, max-age=31536000, immutable")
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(asset(name)))
	return nil
}
