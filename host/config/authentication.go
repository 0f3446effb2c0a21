package config

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// An Authentication is one way for a client to prove who it is.
type Authentication struct {
	Kind     string
	At       Position
	Settings any // such as a StaticToken, by the kind
}

// An authKind reads the blocks of one kind.
type authKind struct {
	form form
	read func(s blockReader) any
}

// authKinds are all there are.
var authKinds = map[string]authKind{
	"static_token": {staticTokenForm, blockReader.staticToken},
}

// blocksOf are the nested blocks of a kind that has a label.
func (s blockReader) blocksOf(kind string) []*hclsyntax.Block {
	return slices.DeleteFunc(slices.Clone(s.body.Blocks), func(b *hclsyntax.Block) bool { return b.Type != kind || len(b.Labels) != 1 })
}

// authentication reads the auth blocks of the gateway. One that is wrong counts as one: the
// rule that there be some has been followed.
func (s blockReader) authentication() []Authentication {
	var all []Authentication
	for _, b := range s.blocksOf("auth") {
		one := s.nested(b)
		auth := Authentication{Kind: one.label, At: startOf(one.head)}
		switch kind, known := authKinds[one.label]; {
		case known:
			one.check(kind.form)
			auth.Settings = kind.read(one)
		case one.label == "none":
			one.wrong(one.labelAt, "remove the block; a loopback address needs no authentication", `there is no auth "none"`)
		default:
			one.wrong(one.labelAt, didYouMean(one.label, slices.Sorted(maps.Keys(authKinds))), "there is no kind of auth called %q", one.label)
		}
		all = append(all, auth)
	}
	s.sameTokens(all)
	return all
}
