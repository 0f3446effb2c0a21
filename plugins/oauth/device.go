package main

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/junctor-mcp/junctor/sdk"
)

const deviceGrantType = "urn:ietf:params:oauth:grant-type:device_code"

const (
	pollEvery = 5 * time.Second // without an interval from the server
	pollMost  = time.Minute
)

// pollLeast is the shortest interval of polling; shorter ones from the server are
// ignored. pollSlower is added after slow_down. Tests reduce both.
var pollLeast, pollSlower = time.Second, 5 * time.Second

var codeExpired error = &sdk.Error{Code: sdk.Deadline, Reason: "login_timeout",
	Message: "the code expired before it was entered", Hint: "run the login again to get another code"}

// loginWithDevice performs the device grant (RFC 8628): the user enters a code in a browser
// on any device.
func (ul *userLogin) loginWithDevice(ctx context.Context, s *discovery, scopes []string) (*login, error) {
	if s.AS.DeviceEndpoint == "" {
		return nil, &sdk.Error{Code: sdk.Invalid, Path: "grant",
			Message: fmt.Sprintf("the authorization server %s does not support the device grant", hostOf(s.AS.Issuer)),
			Hint:    "use grant = \"authorization_code\""}
	}
	c, err := ul.registrar.resolveClient(ctx, s.AS, "")
	if err != nil {
		return nil, err
	}
	form := url.Values{"resource": {s.Resource}}
	if len(scopes) > 0 {
		form.Set("scope", strings.Join(scopes, " "))
	}
	res, u, err := ul.poster.post(ctx, "the device authorization endpoint", s.AS.DeviceEndpoint, s.AS, c, form)
	if err != nil {
		return nil, ul.registrar.loginError(ctx, err, c, s.AS)
	}
	var d struct {
		Device   text   `json:"device_code"`
		User     text   `json:"user_code"`
		Page     text   `json:"verification_uri"`
		Complete text   `json:"verification_uri_complete"`
		Expires  number `json:"expires_in"`
		Interval number `json:"interval"`
	}
	switch {
	case json.Unmarshal(res.Body, &d) != nil:
		return nil, badReply(u, "to the device login "+typeOf(res)+noObject)
	case !visible(d.Device.Value):
		return nil, badReply(u, "contains no valid device_code")
	case !isUserCode(d.User.Value):
		return nil, badReply(u, "contains no user_code that can be typed")
	}
	page := cmp.Or(d.Complete.Value, d.Page.Value)
	where, err := ul.visitor.URL("the page of the device login", page)
	if err != nil {
		return nil, err
	}
	purpose := fmt.Sprintf("log in to %s: enter the code %s", ul.name, d.User.Value) + sentBy(s.AS, where)
	if err := ul.host.Person.OpenURL(ctx, where.String(), purpose); err != nil {
		return nil, err
	}
	limit, tooLate := ul.LoginTimeout, ul.tooLate()
	if d.Expires >= 1 && float64(d.Expires) < limit.Seconds() {
		limit, tooLate = time.Duration(d.Expires*number(time.Second)), codeExpired
	}
	asked, cancel := context.WithTimeoutCause(ctx, limit, tooLate)
	defer cancel()
	every := pollEvery
	if d.Interval > 0 {
		every = time.Duration(min(float64(d.Interval), pollMost.Seconds()) * float64(time.Second))
	}
	t, err := ul.poll(ctx, asked, s, c, d.Device.Value, max(every, pollLeast))
	if err != nil {
		return nil, ul.registrar.loginError(ctx, err, c, s.AS)
	}
	return ul.newLogin(s, c, t, scopes), nil
}

// isUserCode reports whether a code can be printed and typed.
func isUserCode(code string) bool {
	return code != "" && len(code) <= 32 && !strings.ContainsFunc(code, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-' || r == ' ')
	})
}

// poll requests the tokens until the user has decided or asked ends. A request in flight at
// that time may still succeed, since it uses ctx.
func (ul *userLogin) poll(
	ctx, asked context.Context, s *discovery, c *client, device string, every time.Duration,
) (*tokenReply, error) {
	for {
		select {
		case <-time.After(every):
		case <-asked.Done():
			return nil, context.Cause(asked)
		}
		form := url.Values{"grant_type": {deviceGrantType}, "device_code": {device}, "resource": {s.Resource}}
		t, err := ul.poster.token(ctx, s.AS, c, form)
		switch {
		case err == nil:
			return t, nil
		case hasCode(err, "authorization_pending"):
		case hasCode(err, "slow_down"):
			every = min(every+pollSlower, pollMost)
		case hasCode(err, "access_denied"):
			return nil, &sdk.Error{Code: sdk.Denied, Reason: "login_declined", Message: "the login was declined",
				Hint: "run the login again to decide otherwise"}
		case hasCode(err, "expired_token"):
			return nil, codeExpired
		case sdk.CodeOf(err) == sdk.Unavailable:
			every = min(2*every, pollMost) // RFC 8628 §3.5, after a connection timeout
		default:
			return nil, err
		}
	}
}
