package main

import (
	"encoding/base64"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// An oauthFault has the members of an error reply (RFC 6749 §5.2).
type oauthFault struct {
	Error       text `json:"error"`
	Description text `json:"error_description"`
}

// refusal returns the error of a reply. It masks secrets that were sent.
func (f *oauthFault) refusal(u *url.URL, status int, secrets []string) *oauthError {
	e := &oauthError{Code: readCode(f.Error.Value), Host: u.Host, Status: status}
	if description := strings.TrimSpace(plainWords(mask(f.Description.Value, secrets))); description != "" {
		e.Description = show(description, strconv.Quote)
	}
	return e
}

// An oauthError is an error of an authorization server.
type oauthError struct {
	Code        string
	Description string // quoted, without secrets, for display only
	Host        string
	Status      int
}

func (r *oauthError) Error() string { return r.Host + " answered " + r.words() }

// words returns the code with its description.
func (r *oauthError) words() string {
	if r.Description == "" {
		return r.Code
	}
	return r.Code + ": " + r.Description
}

func isOAuth(err error) bool {
	_, ok := errors.AsType[*oauthError](err)
	return ok
}

// hasCode reports whether an error is an oauthError with one of the codes.
func hasCode(err error, codes ...string) bool {
	r, ok := errors.AsType[*oauthError](err)
	return ok && slices.Contains(codes, r.Code)
}

// unnamedError is the code of a refusal without a code that can be printed.
const unnamedError = "an unnamed error"

// readCode returns an error code if it is safe to print.
func readCode(code string) string {
	if code == "" || len(code) > 64 || strings.Trim(code, "abcdefghijklmnopqrstuvwxyz_") != "" {
		return unnamedError
	}
	return code
}

// secretFields are the members of a form that an error must not repeat.
var secretFields = []string{
	"client_secret", "client_assertion", "code", "code_verifier", "refresh_token", "device_code", "subject_token",
	"assertion", "token",
}

// secretsOf returns the secrets of a request, the longest first, in all forms that it has them.
func secretsOf(c *client, form url.Values) (all []string) {
	for _, name := range secretFields {
		all = append(all, form[name]...)
	}
	if c.Secret != "" {
		all = append(all, c.Secret, basicPair(c), base64.StdEncoding.EncodeToString([]byte(basicPair(c))))
	}
	for _, secret := range slices.Clone(all) {
		all = append(all, url.QueryEscape(secret))
	}
	slices.SortFunc(all, func(a, b string) int { return len(b) - len(a) })
	return all
}

// basicPair returns the content of a Basic header (RFC 6749 §2.3.1).
func basicPair(c *client) string { return url.QueryEscape(c.ID) + ":" + url.QueryEscape(c.Secret) }

const (
	wordMost = 16 // bytes of the longest word of a description that is shown, whatever it is
	codeMost = 40 // and of one of small letters, such as a code
)

// plainWords replaces the words of a text that are longer than words are, but for codes such as
// unsupported_grant_type: an echo of the request may have its secrets in any encoding.
func plainWords(text string) string {
	words := strings.Fields(text)
	for i, word := range words {
		if len(word) > wordMost &&
			(len(word) > codeMost || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz_.,:;") != "") {
			words[i] = "…"
		}
	}
	return strings.Join(words, " ")
}

// maskLeast is the length of the shortest secret that is masked, in bytes. A text with a
// shorter one is dropped: masking would show where it is.
const maskLeast = 4

// mask replaces secrets in a text.
func mask(text string, secrets []string) string {
	for _, secret := range secrets {
		switch {
		case secret == "" || !strings.Contains(text, secret):
		case len(secret) < maskLeast:
			return ""
		default:
			text = strings.ReplaceAll(text, secret, "***")
		}
	}
	return text
}
