package clientconfig

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// An OAuth is the settings of a login.
type OAuth struct {
	ClientID, ClientSecret string
	RedirectURL            string
	Issuer, Resource       string
	Grant                  string // empty: a user logs in
	Scopes                 []string
}

// Empty reports whether nothing is set.
func (o *OAuth) Empty() bool {
	return o.ClientID+o.ClientSecret+o.RedirectURL+o.Issuer+o.Resource+o.Grant == "" && len(o.Scopes) == 0
}

// oauthNames are the names of settings, in lower case and without _ and -.
var oauthNames = map[string]func(o *OAuth, text string) bool{
	"clientid":     func(o *OAuth, text string) bool { o.ClientID = text; return true },
	"clientsecret": func(o *OAuth, text string) bool { o.ClientSecret = text; return true },
	"redirecturi":  (*OAuth).redirect, "redirecturl": (*OAuth).redirect, "callbackurl": (*OAuth).redirect,
	"callbackport": func(o *OAuth, text string) bool { return o.redirect("http://localhost:" + text + "/callback") },
	"issuer":       func(o *OAuth, text string) bool { o.Issuer = text; return true },
	"resource":     func(o *OAuth, text string) bool { o.Resource = text; return true },
	"scope":        (*OAuth).scopes, "scopes": (*OAuth).scopes,
	"authservermetadataurl": (*OAuth).metadata,
	"granttype": func(o *OAuth, text string) bool {
		if text == "client_credentials" {
			o.Grant = text
		}
		return text == o.Grant || text == "authorization_code"
	},
	"enabled": func(*OAuth, string) bool { return true },
	"type":    func(_ *OAuth, text string) bool { return strings.HasPrefix(strings.ToLower(text), "oauth") },
}

// redirect sets the address for the answer of a login, which is on this machine.
func (o *OAuth) redirect(text string) bool {
	port, ok := strings.CutPrefix(text, "http://localhost:")
	if !ok {
		port, ok = strings.CutPrefix(text, "http://127.0.0.1:")
	}
	number, path, _ := strings.Cut(port, "/")
	if !ok || len(number) == 0 || len(number) > 5 || strings.Trim(number, "0123456789") != "" ||
		strings.TrimLeft(number, "0") == "" || strings.ContainsAny(path, "?#$ ") {
		return false
	}
	var n int
	if _, err := fmt.Sscan(number, &n); err != nil || n > 65535 {
		return false
	}
	o.RedirectURL = text
	return true
}

func (o *OAuth) scopes(text string) bool {
	for _, scope := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' }) {
		if !slices.Contains(o.Scopes, scope) {
			o.Scopes = append(o.Scopes, scope)
		}
	}
	return true
}

// metadata sets the issuer whose metadata is at a URL.
func (o *OAuth) metadata(text string) bool {
	for _, end := range []string{"/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"} {
		if issuer, ok := strings.CutSuffix(text, end); ok && strings.HasPrefix(issuer, "https://") {
			o.Issuer = issuer
			return true
		}
	}
	return false
}

// flatOAuth are settings of a login that are members of the entry.
var flatOAuth = map[string]string{
	"scopes": "scopes", "oauthScope": "scope", "oauthScopes": "scopes", "oauth_scopes": "scopes",
	"oauthClientId": "clientId", "oauthClientSecret": "clientSecret",
	"oauthRedirectUrl": "redirectUrl", "oauth_resource": "resource",
}

// login reads the settings of a login with OAuth. A program has none.
func (r *entryReader) login() {
	if r.s.URL == "" {
		return
	}
	all, known := map[string]any{}, map[string]string{}
	for _, member := range []string{"oauth", "auth"} {
		v, _ := r.take(member)
		switch v := v.(type) {
		case nil:
		case bool:
			r.s.OAuth = r.oauthIf(v)
		case string:
			if r.s.OAuth = r.oauthIf(strings.EqualFold(v, "oauth")); r.s.OAuth == nil {
				r.s.Ignored = append(r.s.Ignored, member)
			}
		case map[string]any:
			if v["enabled"] == false || !wantsOAuth(member, v) {
				r.ignore(member, v)
				continue
			}
			r.s.OAuth = r.oauthIf(true)
			for name, value := range v {
				all[member+"."+name] = value
			}
		default:
			r.s.Ignored = append(r.s.Ignored, member)
		}
	}
	for flat, name := range flatOAuth {
		if v, _ := r.take(flat); v != nil {
			all[flat], known[flat] = v, name
		}
	}
	if v := r.text("oauthClientSecretEnv"); v != "" {
		all["oauthClientSecretEnv"], known["oauthClientSecretEnv"] = "${"+v+"}", "clientSecret"
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		r.oauthSetting(name, cmp.Or(known[name], name[strings.LastIndexByte(name, '.')+1:]), all[name])
	}
	if o := r.s.OAuth; o != nil && o.ClientSecret != "" && o.ClientID == "" {
		o.ClientSecret = ""
		r.remark("the secret of a client without the id of the client was left out")
	}
}

// oauthIf returns the settings of a login if there is one, and never takes them back.
func (r *entryReader) oauthIf(wanted bool) *OAuth {
	if r.s.OAuth == nil && wanted {
		return &OAuth{}
	}
	return r.s.OAuth
}

// wantsOAuth reports whether an object is the settings of a login with OAuth.
func wantsOAuth(member string, v map[string]any) bool {
	kind, _ := v["type"].(string)
	return member == "oauth" || strings.HasPrefix(strings.ToLower(kind), "oauth") ||
		kind == "" && slices.ContainsFunc(slices.Collect(maps.Keys(v)),
			func(name string) bool { return plainName(name) == "clientid" })
}

// plainName returns a name in lower case and without _ and -.
func plainName(name string) string {
	return strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(name))
}

// oauthSetting reads one setting of a login, and notes it if it has no equivalent. name is
// that in the entry.
func (r *entryReader) oauthSetting(name, setting string, v any) {
	var texts []string
	if all, isList := v.([]any); isList {
		for _, one := range all {
			text, ok := one.(string)
			if !ok {
				texts = nil
				break
			}
			texts = append(texts, text)
		}
	} else if text, ok := plainText(v); ok {
		texts = []string{text}
	}
	set := oauthNames[plainName(setting)]
	o := r.oauthIf(true)
	text := r.reference(strings.Join(texts, " "))
	if v == nil {
		return
	}
	if set == nil || texts == nil || !set(o, text) {
		r.s.Ignored = append(r.s.Ignored, name)
		return
	}
	r.s.OAuth = o
}
