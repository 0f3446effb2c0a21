// Command junctor-plugin-bearer presents a token from the configuration, from a
// file, or entered by the user once.
//
// The host makes an authorizer (authorizer.go) for each server and calls it concurrently. Its
// source is the token of the configuration, a file (file.go) or an entered one.
package main

import (
	"context"
	"errors"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/internal/httpclient"
	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/serve"
)

// version is the version of the plugin; see CHANGELOG.md.
const version = "0.1.0"

// maxToken is the maximum size of a token in bytes. It is the limit of a secret
// store.
const maxToken = 16 << 10

type settings struct {
	Token     *string `hcl:"token" doc:"The token: env(), file() and keyring() keep it out of the configuration. Without token and token_file, junctor login asks for one and stores it." sensitive:"true" conflicts:"token_file"`
	TokenFile string  `hcl:"token_file" doc:"A file that contains only the token. It is read again when it changes, after a minute, and when the server rejects the token. A relative path is relative to the configuration file's directory." default:"" format:"watched_file"`
	Header    string  `hcl:"header" doc:"The header that carries the token." default:"Authorization" format:"header_name"`
	Scheme    string  `hcl:"scheme" doc:"The word before the token. An empty one presents the token alone." default:"Bearer"`
}

func (s *settings) Validate() error {
	_, errs := httpclient.Headers("header", map[string]string{s.Header: ""})
	if len(errs) > 0 {
		errs = []error{sdk.AttrErrorf("header",
			"%q cannot be the header of a token: it is not the name of a header, or the transport sets it", s.Header)}
	}
	if s.Scheme != "" && !httpclient.IsToken(s.Scheme) {
		errs = append(errs, sdk.AttrErrorf("scheme", "is not one word"))
	}
	if s.Token != nil {
		if _, problem := s.clean(*s.Token); problem != "" {
			errs = append(errs, sdk.AttrErrorf("token", "%s", problem))
		}
	}
	return errors.Join(errs...)
}

// clean trims a token. problem describes what is wrong with the token without
// containing it.
func (s *settings) clean(token string) (clean, problem string) {
	token = strings.TrimSpace(token)
	first, _, several := strings.Cut(token, " ")
	switch {
	case token == "":
		return "", "is empty"
	case len(token) > maxToken:
		return "", "is longer than 16 KiB"
	case strings.ContainsFunc(token, func(r rune) bool { return r < 0x20 || r > 0x7e }):
		return "", "has a character that headers cannot hold, such as a line break"
	case s.Scheme != "" && strings.EqualFold(first, s.Scheme) && (several || first == token):
		return "", "begins with the scheme, which is added anyway"
	}
	return token, ""
}

// present returns the header with the token.
func (s *settings) present(token string) map[string]string {
	if s.Scheme != "" {
		token = s.Scheme + " " + token
	}
	return map[string]string{s.Header: token}
}

func start(_ context.Context, server *sdk.AuthServer, s *settings) (sdk.Authorizer, error) {
	a := &authorizer{settings: s, server: server}
	switch {
	case s.Token != nil:
		token, _ := s.clean(*s.Token)
		a.source = fixed{token}
	case s.TokenFile != "":
		a.source = newFile(s, server.Dir)
	default:
		a.source = &entered{settings: s, host: server.Host, name: server.Name}
	}
	return a, nil
}

func plugin() *sdk.Plugin {
	return &sdk.Plugin{
		Name: "bearer", Version: version,
		Description: "Presents a token from the configuration, from a file, or entered once.",
		Auths:       map[string]sdk.Auth{"bearer": sdk.NewAuth(start)},
	}
}

func main() { serve.Main(plugin()) }
