package config

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// checkAuth finds an auth block that cannot do anything. It judges the bundled
// transports only: what others do with credentials is not known.
func (d *draft) checkAuth() {
	if d.Auth == nil {
		return
	}
	switch d.transport.plugin.Source {
	case "builtin/stdio", "builtin/cli":
		d.auth.wrong(d.auth.labelAt, `remove it, and give the program what it needs in the transport: env = { NAME = keyring("NAME") }`,
			"%s starts a program, so there are no requests to authenticate", d.transport.what)
	case "builtin/http", "builtin/sse":
		d.overruled()
	}
	if d.auth.plugin.Source == "builtin/oauth" {
		d.trusting()
	}
}

// trusting warns of secrets that are for one authorization server and are sent to
// whichever the server names: whoever has taken the server over names their own.
func (d *draft) trusting() {
	set := d.auth.body.Attributes
	for _, name := range []string{"client_secret", "subject_token"} {
		if a := set[name]; a != nil && set["issuer"] == nil {
			d.auth.doubtful(a.NameRange, `write issuer = "https://..." beside it, as that authorization server calls itself`,
				"%q is sent to whichever authorization server the server names", name)
		}
	}
}

// overruled warns of a header that the configuration sets and the auth block is
// for: what the configuration says is sent first.
func (d *draft) overruled() {
	var transport struct{ Headers map[string]string }
	var auth struct{ Header string } // a provider without this setting is for the usual header
	_ = json.Unmarshal(d.Transport.Settings, &transport)
	_ = json.Unmarshal(d.Auth.Settings, &auth)
	header := cmp.Or(auth.Header, "Authorization")
	for _, name := range slices.Sorted(maps.Keys(transport.Headers)) {
		value := strings.Fields(transport.Headers[name])
		bare := len(value) == 0 || len(value) == 1 && strings.EqualFold(value[0], "Bearer") // a variable was empty
		if strings.EqualFold(name, header) && !bare {
			at := locateIn(d.transport.body, d.transport.head, []step{{name: "headers"}, {name: name}})
			d.block.doubtful(at, "keep one of them", "the transport sets this header itself, so %s is not asked before the server refuses it", d.auth.what)
		}
	}
}
