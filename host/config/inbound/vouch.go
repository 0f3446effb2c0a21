package inbound

import (
	"fmt"
	"slices"
)

// A Vouch is what an auth block lets an issuer, or the holder of another credential, say
// about its clients.
type Vouch struct {
	Issuer   string
	Names    bool     // its clients have subjects
	Subjects []string // that it may name; nil: all
	Groups   bool     // puts clients into groups
	Roles    bool     // gives clients roles
	Given    []string // the roles that the block itself gives
}

// Vouches returns what auth blocks let issuers say, one for each issuer.
func Vouches(blocks []Authentication) (all []Vouch) {
	for _, a := range blocks {
		if a.Settings == nil || a.Settings.Vouch() == nil {
			continue
		}
		v := *a.Settings.Vouch()
		if i := slices.IndexFunc(all, func(o Vouch) bool { return o.Issuer == v.Issuer }); i >= 0 {
			all[i] = all[i].with(v)
		} else {
			all = append(all, v)
		}
	}
	return all
}

// with returns what two blocks of one issuer let it say.
func (v Vouch) with(o Vouch) Vouch {
	v.Groups, v.Roles = v.Groups || o.Groups, v.Roles || o.Roles
	if v.Subjects == nil || o.Subjects == nil {
		v.Subjects = nil
	} else {
		v.Subjects = slices.Concat(v.Subjects, o.Subjects)
	}
	return v
}

// Can reports whether the issuer can make a client a holder of a kind and name.
func (v Vouch) Can(kind, name string) bool {
	switch kind {
	case "group":
		return v.Groups
	case "role":
		return v.Roles
	}
	return v.Names && (v.Subjects == nil || slices.Contains(v.Subjects, name))
}

// Vouchers returns the issuers that can make a client a holder of a kind and name, quoted. Package
// config asks when it checks policies and the console.
func Vouchers(all []Vouch, kind, name string) (can []string) {
	for _, v := range all {
		if v.Can(kind, name) {
			can = append(can, fmt.Sprintf("%q", v.Issuer))
		}
	}
	return can
}
