package inbound

import (
	"maps"
	"slices"

	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/config/source"
)

// A kind is a kind of auth block of the gateway.
type kind struct {
	form func() *language.Form
	read func(r language.Reader, used RoleUse) ClientAuth
}

// kinds are the kinds of auth blocks of the gateway, by their labels.
var kinds = map[string]kind{
	"static_token": {language.FormOf[tokenBlock], readTokenAuth},
	"jwt":          {language.FormOf[jwtBlock], readJWTAuth},
	"certificate":  {language.FormOf[certificateBlock], readCertificateAuth},
	"forwarded":    {language.FormOf[forwardedBlock], readForwardedAuth},
}

// Kinds implements [language.Kinds].
func (*Authentication) Kinds() map[string]*language.Form {
	forms := map[string]*language.Form{}
	for label, k := range kinds {
		forms[label] = k.form()
	}
	return forms
}

// Read reads the auth blocks of the gateway. The result contains wrong
// blocks too, so that no second problem asks for authentication.
func Read(r language.Reader, used RoleUse) []Authentication {
	var all []Authentication
	for _, b := range r.Labelled("auth") {
		one := r.Nested(b)
		auth := Authentication{Kind: one.Label, At: source.StartOf(one.Head)}
		switch k, known := kinds[one.Label]; {
		case known:
			auth.Settings = k.read(one, used)
		case one.Label == "none":
			one.ErrorAt(one.LabelAt, "remove the block; a loopback address needs no authentication",
				`there is no auth "none"`)
		default:
			one.ErrorAt(one.LabelAt, language.DidYouMean(one.Label, slices.Sorted(maps.Keys(kinds))),
				"there is no kind of auth called %q", one.Label)
		}
		all = append(all, auth)
	}
	rejectDuplicateTokens(r, all)
	rejectDuplicateIssuers(r, all)
	return all
}
