package sdk

import (
	"encoding/json"
	"fmt"
	"regexp"
)

// A Manifest describes a plugin that is not running. "PLUGIN describe" prints
// it as JSON. Readers ignore unknown members, so that it can be extended. Hosts cache it, and
// treat it as read only.
type Manifest struct {
	Name         string            `json:"name"`
	Version      string            `json:"version"`
	Description  string            `json:"description,omitempty"`
	SDK          string            `json:"sdk"`
	Protocols    []int             `json:"protocols"` // supported protocol majors, newest first
	Features     []string          `json:"features,omitempty"`
	Transports   map[string]Schema `json:"transports,omitempty"`
	Auths        map[string]Schema `json:"auths,omitempty"`
	SecretStores map[string]Schema `json:"secret_stores,omitempty"`
}

var (
	nameRule    = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,63}$`)
	versionRule = regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$`)
)

// Describe returns the plugin's manifest with the given protocol majors and
// features. It fails if a name, the version or a schema is invalid.
func (p *Plugin) Describe(protocols []int, features []string) (Manifest, error) {
	m := Manifest{
		Name: p.Name, Version: p.Version, Description: p.Description,
		SDK: Version, Protocols: protocols, Features: features,
	}
	if !nameRule.MatchString(p.Name) {
		return m, fmt.Errorf("plugin name %q: want lower case letters, digits and dashes, at most 64", p.Name)
	}
	if !versionRule.MatchString(p.Version) {
		return m, fmt.Errorf("plugin version %q: want a semantic version such as 1.2.3", p.Version)
	}
	if len(p.Transports)+len(p.Auths)+len(p.SecretStores) == 0 {
		return m, fmt.Errorf("plugin %s offers nothing", p.Name)
	}
	add := func(into *map[string]Schema, kind, name string, s Schema) error {
		if !nameRule.MatchString(name) {
			return fmt.Errorf("%s name %q: want lower case letters, digits and dashes, at most 64", kind, name)
		}
		if err := s.check(); err != nil {
			return fmt.Errorf("%s %q: %w", kind, name, err)
		}
		if *into == nil {
			*into = map[string]Schema{}
		}
		(*into)[name] = s
		return nil
	}
	for name, t := range p.Transports {
		if t == nil {
			return m, fmt.Errorf("transport %q is nil", name)
		}
		if err := add(&m.Transports, "transport", name, t.Schema()); err != nil {
			return m, err
		}
	}
	for name, a := range p.Auths {
		if a == nil {
			return m, fmt.Errorf("auth %q is nil", name)
		}
		if err := add(&m.Auths, "auth", name, a.Schema()); err != nil {
			return m, err
		}
	}
	for name, st := range p.SecretStores {
		if st == nil {
			return m, fmt.Errorf("secret store %q is nil", name)
		}
		if err := add(&m.SecretStores, "secret store", name, st.Schema()); err != nil {
			return m, err
		}
	}
	return m, nil
}

// JSON renders the manifest. Equal manifests give equal bytes.
func (m Manifest) JSON() []byte {
	b, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		panic(err) // every field of a manifest can be encoded
	}
	return append(b, '\n')
}
