package control

import (
	"context"
	"net/http"
	"net/url"
	"time"
)

// A Loginer logs the user in to servers.
type Loginer interface {
	// BeginLogin begins a login to a server that ends with ctx, or joins the one in progress.
	// Exactly one of the results is not nil.
	BeginLogin(ctx context.Context, server string) (*LoginPage, *Failure)
	// AwaitLogin waits for the end of the login until ctx ends. Exactly one of the results is
	// not nil.
	AwaitLogin(ctx context.Context, server string) (*LoginDone, *Failure)
}

// A LoginPage is the page of a login, for a browser on the machine of the process.
type LoginPage struct {
	Instance string `json:"instance,omitempty"`
	Server   string `json:"server"`
	URL      string `json:"url"`
}

// A LoginDone is a login that succeeded.
type LoginDone struct {
	Instance string `json:"instance,omitempty"`
	Server   string `json:"server"`
	Account  string `json:"account,omitempty"` // if the provider says so
}

// handleLogins begins logins and waits for their ends. A login ends when ctx does, and not with
// the program that asked for it.
func handleLogins(ctx context.Context, mux *http.ServeMux, p Loginer) {
	mux.HandleFunc("POST /v1/servers/{name}/login", func(w http.ResponseWriter, r *http.Request) {
		if page, failure := p.BeginLogin(ctx, r.PathValue("name")); failure != nil {
			respond(w, http.StatusUnprocessableEntity, failure)
		} else {
			respond(w, http.StatusOK, page)
		}
	})
	mux.HandleFunc("GET /v1/servers/{name}/login", func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // the deadline of the request would end the wait
		if done, failure := p.AwaitLogin(r.Context(), r.PathValue("name")); failure != nil {
			respond(w, http.StatusUnprocessableEntity, failure)
		} else {
			respond(w, http.StatusOK, done)
		}
	})
}

// Login makes a process log in to a server. It calls show with the page of the login, and
// waits for the end.
func (i *Instance) Login(ctx context.Context, server string, show func(page string)) (*LoginDone, error) {
	path := "/v1/servers/" + url.PathEscape(server) + "/login"
	page, err := ask[LoginPage](ctx, i, http.MethodPost, path)
	if err != nil {
		return nil, err
	}
	show(page.URL)
	done, err := ask[LoginDone](ctx, i, http.MethodGet, path)
	if err == nil {
		done.Instance = i.Name
	}
	return done, err
}
