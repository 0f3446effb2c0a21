package login

import (
	"net/http"
	"strconv"
)

// The pages hold nothing of what was sent: no scripts, no parameters, nothing
// from elsewhere.
const (
	pageHead = `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
		`<title>Junctor</title><style>body{font:1.1em/1.5 system-ui,sans-serif;max-width:34em;margin:15vh auto;padding:0 1em;` +
		`color-scheme:light dark}h1{font-size:1.4em}</style></head><body>`
	pageDone = pageHead + `<h1>Back to the terminal</h1><p>Junctor has received the answer and finishes the login there. ` +
		`You can close this page.</p></body></html>`
	pageDeclined = pageHead + `<h1>The login was not completed</h1><p>The service answered with an error, or the request was declined. ` +
		`The terminal says more. You can close this page.</p></body></html>`
	pageBusy = pageHead + `<h1>Too many answers</h1><p>Look at the terminal.</p></body></html>`
)

func page(w http.ResponseWriter, status int, text string) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Length", strconv.Itoa(len(text))) // it is whole when it is flushed
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text))
	_ = http.NewResponseController(w).Flush()
}
