package main

import (
	"net/http"
	"testing"
)

// status makes the usual handler of a path answer with another status.
func status(v *vendor, path string, code int) {
	v.Instead(path, func(w http.ResponseWriter, r *http.Request) {
		v.Usual(&otherStatus{ResponseWriter: w, code: code}, r)
	})
}

// An otherStatus is a response whose status is always code.
type otherStatus struct {
	http.ResponseWriter
	code int
}

func (o *otherStatus) WriteHeader(int) { o.ResponseWriter.WriteHeader(o.code) }

// TestStatusOfTokens: tokens are taken with every status of success, and with no other one.
func TestStatusOfTokens(t *testing.T) {
	for code, want := range map[int]string{
		200: "", 201: "", 202: "", 203: "", 206: "", 226: "", 299: "",
		204: "bad_reply", 300: "redirect_refused", 307: "redirect_refused", 400: "http_status", 401: "http_status", 403: "http_status", 404: "http_status",
		409: "http_status", 429: "http_status", 500: "http_status", 503: "http_status", 600: "http_status",
	} {
		v := newVendor(t)
		status(v, "/token", code)
		d := newFixture(t, v, nil, `{}`)
		if _, err := d.Login(t.Context(), nil); reason(err) != want || (err == nil) != (want == "") {
			t.Errorf("%d: %v, want %q", code, err, want)
		}
	}
}

// TestSuccessWithoutToken: a status of success without a token is no success.
func TestSuccessWithoutToken(t *testing.T) {
	for _, code := range []int{200, 201, 202, 204} {
		for body, want := range map[string]string{
			``: "bad_reply", `{}`: "bad_reply", `<html>`: "bad_reply", `{"access_token":""}`: "bad_reply", `[{"access_token":"at"}]`: "bad_reply",
			`{"access_token":"at"`: "bad_reply", `{"error":"invalid_grant"}`: "token_refused", `{"access_token":"at","error":"invalid_grant"}`: "token_refused",
		} {
			if code == 204 {
				want = "bad_reply"
			}
			v := newVendor(t)
			v.Instead("/token", func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(code)
				_, _ = w.Write([]byte(body))
			})
			if _, err := newFixture(t, v, nil, `{}`).Login(t.Context(), nil); reason(err) != want {
				t.Errorf("%d %s: %v, want %q", code, body, err, want)
			}
		}
	}
}

// TestStatusOfRegistrations: a registration succeeds with status 200 or 201 only.
func TestStatusOfRegistrations(t *testing.T) {
	for code, want := range map[int]string{
		200: "", 201: "", 202: "no_client", 204: "no_client", 302: "redirect_refused", 400: "no_client", 401: "no_client", 403: "no_client",
		429: "http_status", 500: "http_status",
	} {
		v := newVendor(t)
		status(v, "/register", code)
		d := newFixture(t, v, nil, `{}`)
		d.authorizer.host.Person = noTerminal{d.authorizer.host.Person}
		if _, err := d.Login(t.Context(), nil); reason(err) != want || (err == nil) != (want == "") {
			t.Errorf("%d: %v, want %q", code, err, want)
		}
	}
}
