package config

import (
	"path/filepath"
	"slices"
)

// publicVariables are environment variables with directories of the user, which messages of
// programs repeat all the time.
var publicVariables = []string{
	"HOME", "USERPROFILE", "PWD", "TMPDIR", "TMP", "TEMP", "APPDATA", "LOCALAPPDATA", "ProgramFiles", "SystemRoot",
	"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR",
}

// isPublic reports whether the value of a variable is the path of a directory that is no
// secret.
func isPublic(name, value string) bool {
	return slices.Contains(publicVariables, name) && filepath.IsAbs(value)
}

// withoutPublic removes the values of public variables from secrets. A setting whose values
// are secret, such as env, may have them.
func (l *loader) withoutPublic(secrets []string) []string {
	var public []string
	for _, name := range publicVariables {
		if value, set := l.lookup(name); set && isPublic(name, value) {
			public = append(public, value)
		}
	}
	return slices.DeleteFunc(slices.Clone(secrets), func(text string) bool { return slices.Contains(public, text) })
}
