package main

import (
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/sdk/plugintest"
)

// TestSecretsStayWithFirstIssuer: secrets of the settings go only to the authorization
// server that accepted them first.
func TestSecretsStayWithFirstIssuer(t *testing.T) {
	for name, one := range map[string]struct {
		then string // the settings after the move; ISSUER is the new one
		out  bool   // a logout before the move
		want string
	}{
		"moved": {`{"client_id":"me","client_secret":"s3cret"}`, false, "issuer_mismatch"},
		"with another key": {`{"client_id":"me","client_secret":"s3cret","client_auth":"client_secret_post"}`, false,
			"issuer_mismatch"},
		"logged out":        {`{"client_id":"me","client_secret":"s3cret"}`, true, ""},
		"another client":    {`{"client_id":"you","client_secret":"s3cret"}`, false, ""},
		"the issuer is set": {`{"client_id":"me","client_secret":"s3cret","issuer":"ISSUER"}`, false, ""},
		"nothing to give":   {`{"client_id":"me"}`, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			v := newVendor(t)
			d := newFixture(t, v, nil, `{"client_id":"me","client_secret":"s3cret"}`)
			d.login(t)
			d.login(t) // the same server again
			if one.out {
				if err := d.Logout(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			v.Move(t)
			before := len(v.logins()) + len(v.forms())
			_, err := newFixture(t, v, d.host, strings.ReplaceAll(one.then, "ISSUER", v.Issuer)).Login(t.Context(), nil)
			asked := len(v.logins()) + len(v.forms()) - before
			if reason(err) != one.want || (one.want != "") != (asked == 0) {
				t.Errorf("%v, asked %d times", err, asked)
			}
			if err != nil &&
				(!strings.Contains(err.Error(), hostOf(v.Issuer)) || !strings.Contains(hintOf(err), "issuer")) {
				t.Errorf("it is said so: %v (%s)", err, hintOf(err))
			}
			for key, value := range d.host.Secrets() {
				if strings.Contains(value, "s3cret") {
					t.Errorf("%s holds the secret", key)
				}
			}
		})
	}
}

// TestMachineSecretsStayWithFirstIssuer: for grants without a user the process remembers
// the issuer, since there may be no store.
func TestMachineSecretsStayWithFirstIssuer(t *testing.T) {
	for name, settings := range map[string]string{
		"a secret":     `{"grant":"client_credentials","client_id":"me","client_secret":"s"}`,
		"a token":      `{"grant":"token_exchange","client_id":"me","subject_token":"abc"}`,
		"an assertion": `{"grant":"jwt_bearer","subject_token":"a.b.c"}`,
	} {
		t.Run(name, func(t *testing.T) {
			v := newVendor(t)
			d := newFixture(t, v, &plugintest.Host{}, settings)
			if status, err := d.request(t); status != 200 || err != nil {
				t.Fatalf("%d, %v", status, err)
			}
			v.Move(t)
			v.Expire()
			before := len(v.forms())
			if _, err := d.request(t); reason(err) != "issuer_mismatch" || len(v.forms()) != before ||
				len(d.host.Secrets()) > 0 {
				t.Errorf("%v, asked %d times more", err, len(v.forms())-before)
			}
		})
	}
}
