package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/plugins/internal/httpclient"
	"github.com/junctor-mcp/junctor/sdk"
)

const (
	maxHeaders = 32
	maxAccount = 200 // bytes
)

// An output is the JSON object that a program prints. Members with other names
// are ignored. It belongs to one run.
type output struct {
	Headers   map[string]string `json:"headers"`
	Token     string            `json:"token"`
	TokenType *string           `json:"token_type"`
	ExpiresAt string            `json:"expires_at"`
	ExpiresIn *float64          `json:"expires_in"`
	Account   string            `json:"account"`
}

// read returns the credential that the program printed, in the format of the
// settings. Its errors never contain any of the text.
func (a *authorizer) read(text []byte, now time.Time) (sdk.Credential, *sdk.Error) {
	var o output
	if a.Format == "token" {
		o.Token = strings.TrimSpace(string(text))
		switch {
		case o.Token == "":
			return sdk.Credential{}, a.badOutput("printed nothing")
		case strings.ContainsAny(o.Token, "\r\n"):
			return sdk.Credential{},
				a.badOutput(`printed more than one line; with format = "token" it must print the token alone`)
		}
	} else if problem := o.parse(text); problem != "" {
		return sdk.Credential{}, a.badOutput(problem)
	}
	cred := sdk.Credential{Headers: map[string]string{}, Account: o.Account}
	for name, value := range o.Headers {
		cred.Headers[name] = value
	}
	if o.Token != "" {
		scheme := a.Scheme
		if o.TokenType != nil && *o.TokenType != "" {
			scheme = *o.TokenType
		}
		// RFC 6749 section 5.1: the token type is case-insensitive, but some
		// servers accept only this spelling.
		if strings.EqualFold(scheme, "bearer") {
			scheme = "Bearer"
		}
		cred.Headers[a.Header] = strings.TrimSpace(scheme + " " + o.Token)
	}
	if problem := checkHeaders(cred.Headers); problem != "" {
		return sdk.Credential{}, a.badOutput(problem)
	}
	var problem string
	if cred.Expires, problem = o.expires(now); problem != "" {
		return sdk.Credential{}, a.badOutput(problem)
	}
	return cred, nil
}

// parse reads the object from text. It returns what is wrong with it, or "".
func (o *output) parse(text []byte) (problem string) {
	text = bytes.TrimSpace(text)
	switch err := json.Unmarshal(text, o); {
	case len(text) == 0:
		return "printed nothing"
	case err != nil || text[0] != '{':
		return `did not print one JSON object such as {"token": "…", "expires_in": 3600} (format = "token" takes the token alone)`
	case o.Token == "" && len(o.Headers) == 0:
		return "printed an object without headers and token, or both are empty"
	case len(o.Account) > maxAccount:
		return fmt.Sprintf("printed an account of more than %d bytes", maxAccount)
	}
	return ""
}

// checkHeaders returns why the headers cannot be sent, or "".
func checkHeaders(headers map[string]string) (problem string) {
	if len(headers) > maxHeaders {
		return fmt.Sprintf("printed more than %d headers", maxHeaders)
	}
	for _, value := range headers {
		if strings.TrimSpace(value) == "" {
			return "printed a header without a value"
		}
	}
	if _, errs := httpclient.Headers("headers", headers); len(errs) > 0 {
		return "printed headers that cannot be sent: " + errs[0].Error()
	}
	return ""
}

// expires returns when the credential ends, or the zero time if the output does
// not say.
func (o *output) expires(now time.Time) (end time.Time, problem string) {
	switch {
	case o.ExpiresAt != "" && o.ExpiresIn != nil:
		return end, "printed both expires_at and expires_in"
	case o.ExpiresAt != "":
		var err error
		if end, err = time.Parse(time.RFC3339, o.ExpiresAt); err != nil {
			return end, "printed an expires_at that is not an RFC 3339 time such as 2026-01-02T15:04:05Z"
		}
	case o.ExpiresIn != nil:
		const century = 100 * 365 * 24 * 3600
		end = now.Add(time.Duration(min(*o.ExpiresIn, century) * float64(time.Second)))
	default:
		return end, ""
	}
	if !end.After(now) {
		return end, "printed a credential that has already expired"
	}
	return end, ""
}

func (a *authorizer) badOutput(problem string) *sdk.Error {
	return &sdk.Error{
		Code: sdk.Unavailable, Reason: "command_output", Path: "command", Message: a.name() + " " + problem,
		Hint: "run the command by hand in the same directory and look at what it prints on standard output",
	}
}
