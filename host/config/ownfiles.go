package config

import (
	"os"
	"path/filepath"
	"slices"
)

// Written returns the files that decide what Junctor runs: those of the configuration with
// its layers, modules and lock files, and the programs of plugins. A program that
// changes one of them runs as Junctor.
func (c *Config) Written() []string {
	all := slices.Concat(c.Files, c.Under, []string{c.Path})
	for path := range c.Locks {
		all = append(all, path)
	}
	for _, path := range slices.Clone(all) {
		all = append(all, filepath.Join(filepath.Dir(path), LockName))
	}
	for _, p := range c.Plugins {
		if filepath.IsAbs(p.Source) { // not a bundled one
			all = append(all, p.Source)
		}
	}
	return files(all)
}

// Confidential returns the files that the configuration names for Junctor alone: those of
// file(), of secret stores, keys and credentials, and the audit log. No server may change
// them.
func (c *Config) Confidential() []string {
	all := append(slices.Clone(c.included), c.Audit.File)
	if c.SecretStore != nil && c.SecretStore.File != nil {
		all = append(all, c.SecretStore.File.PasswordFile, c.SecretStore.File.Path)
	}
	if tls := c.Gateway.HTTP.TLS; tls != nil {
		all = append(all, tls.Key)
	}
	if c.Console != nil && c.Console.TLS != nil {
		all = append(all, c.Console.TLS.Key)
	}
	for _, s := range c.Servers {
		if s.Auth != nil {
			all = append(all, s.Auth.Files()...)
		}
	}
	return files(all)
}

// files returns the absolute paths of the files among paths, sorted, once each.
func files(paths []string) []string {
	var all []string
	for _, path := range paths {
		if path == "" {
			continue
		}
		path, err := filepath.Abs(path)
		if err != nil {
			continue
		}
		if info, err := os.Stat(path); err != nil || !info.IsDir() {
			all = append(all, path)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
