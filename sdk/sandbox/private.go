package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
)

// PrivateVariable is an environment variable of plugins. It lists the directories
// of Junctor itself, which no program behind the wall may reach.
const PrivateVariable = "JUNCTOR_PRIVATE"

// credentials are paths below the home directory that hold credentials or private
// files. Programs get them only if the configuration names them or [Needs] has
// them for this program.
var credentials = []string{
	".ssh", ".gnupg", ".pki", ".netrc", "_netrc", ".authinfo", ".authinfo.gpg", ".password-store", ".git-credentials",
	".vault-token", ".age",
	".aws", ".azure", ".oci", ".config/gcloud", ".config/doctl", ".kube", ".docker", ".config/containers",
	".terraform.d", ".terraformrc", ".fly", ".config/op", ".s3cfg", ".boto", ".config/rclone",
	".config/gh", ".config/glab-cli", ".config/hub", ".npmrc", ".yarnrc", ".yarnrc.yml", ".pypirc", ".gem/credentials",
	".cargo/credentials", ".cargo/credentials.toml", ".m2/settings.xml", ".gradle/gradle.properties",
	".composer/auth.json", ".nuget/NuGet.Config",
	".pgpass", ".my.cnf", ".mylogin.cnf", ".dbshell",
	".local/share/keyrings", ".local/share/kwalletd", ".config/sops",
	".mozilla", ".thunderbird", ".config/google-chrome", ".config/chromium", ".config/BraveSoftware",
	".config/microsoft-edge", ".config/vivaldi", ".config/opera", "snap", ".var/app", ".claude", ".claude.json",
	".config/Claude", ".cursor", ".codex", ".gemini", ".continue", ".codeium", ".windsurf", ".vscode", ".vscode-server",
	".config/Code", ".config/Cursor", ".config/zed", ".config/goose", ".copilot", ".config/github-copilot",
	".bash_history", ".zsh_history", ".python_history", ".node_repl_history", ".psql_history", ".mysql_history",
	".sqlite_history", ".lesshst", ".viminfo", ".config/junctor", ".local/share/junctor", ".cache/junctor",
	".local/state/junctor",
}

// systemSecrets are paths outside of home directories with credentials of the
// machine. Only a program of the superuser could read most of them.
var systemSecrets = []string{
	"/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers", "/etc/sudoers.d",
	"/etc/ssh/ssh_host_rsa_key", "/etc/ssh/ssh_host_ecdsa_key", "/etc/ssh/ssh_host_ed25519_key",
	"/etc/ssh/ssh_host_dsa_key", "/etc/ssl/private", "/etc/pki/tls/private", "/etc/krb5.keytab", "/etc/kubernetes",
	"/etc/rancher", "/etc/docker", "/etc/wireguard", "/etc/openvpn", "/etc/ppp", "/etc/ipsec.d", "/etc/ipsec.secrets",
	"/etc/NetworkManager/system-connections", "/etc/letsencrypt", "/etc/junctor", "/etc/credstore",
	"/etc/credstore.encrypted", "/proc/kcore", "/proc/kmsg", "/proc/keys", "/proc/key-users",
}

// Home returns the home directory of this process without symbolic links, or "".
func Home() string {
	home := os.Getenv("HOME")
	if !filepath.IsAbs(home) {
		return ""
	}
	if real, err := filepath.EvalSymlinks(home); err == nil {
		return real
	}
	return filepath.Clean(home)
}

// Own returns the directories of Junctor itself.
func Own() []string {
	var own []string
	for _, dir := range filepath.SplitList(os.Getenv(PrivateVariable)) {
		if filepath.IsAbs(dir) {
			own = append(own, dir)
		}
	}
	return own
}

// Private returns what is never granted as a part of a directory: credentials and private
// files that exist, and the directories of Junctor itself, whether they exist or not.
func Private() []string {
	all := slices.Clone(systemSecrets)
	for _, home := range Homes() {
		all = append(all, credentialsIn(home)...)
	}
	return append(Own(), present(all)...)
}

// present returns the paths that exist.
func present(paths []string) []string {
	return slices.DeleteFunc(paths, func(path string) bool { return !MayExist(path) })
}

// MayExist reports whether a path exists or lies in a directory that is shut to this process. A
// program of the same user can open such a directory again.
func MayExist(path string) bool {
	_, err := os.Lstat(path)
	return err == nil || errors.Is(err, fs.ErrPermission)
}

// PrivateIn returns the credentials and private files that are in a directory that looks like a
// home directory, wherever it lies, or nil.
func PrivateIn(dir string) []string {
	for _, sign := range []string{".ssh", ".gnupg", ".aws", ".bash_history", ".profile"} {
		if MayExist(filepath.Join(dir, sign)) {
			return present(credentialsIn(dir))
		}
	}
	return nil
}

func credentialsIn(home string) []string {
	var all []string
	for _, path := range credentials {
		all = append(all, filepath.Join(home, filepath.FromSlash(path)))
	}
	return all
}

// OwnHomes returns the home directories of the user: HOME, and the one that the
// system has for the user, which is another where HOME was changed. They have no
// symbolic links.
func OwnHomes() []string {
	candidates := []string{Home()}
	if u, err := user.Current(); err == nil {
		candidates = append(candidates, u.HomeDir)
	}
	return distinct(candidates)
}

// Homes returns the home directories of the user and of other people.
func Homes() []string {
	others, _ := filepath.Glob("/home/*")
	return distinct(append(append(OwnHomes(), others...), "/root"))
}

// distinct returns the existing directories without symbolic links, once each.
func distinct(dirs []string) []string {
	var all []string
	for _, dir := range dirs {
		real, err := filepath.EvalSymlinks(dir)
		if err == nil && filepath.IsAbs(real) && real != "/" && !slices.Contains(all, real) {
			all = append(all, real)
		}
	}
	return all
}

// HiddenIn returns the entries of the home directory whose names begin with a dot.
// A directory that contains the home directory is granted without them: what they
// hold is not for other programs, known or not.
func HiddenIn(home string) []string {
	if home == "" {
		return nil
	}
	entries, err := os.ReadDir(home)
	if errors.Is(err, fs.ErrPermission) {
		return []string{home} // with what may be hidden in it
	}
	if err != nil {
		return nil
	}
	var hidden []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			hidden = append(hidden, filepath.Join(home, e.Name()))
		}
	}
	return hidden
}

// Expand returns the absolute path of a path in the configuration: "~" is the home
// directory, and a relative path is relative to dir.
func Expand(path, dir string) string {
	switch rest, tilde := strings.CutPrefix(path, "~"); {
	case tilde && (rest == "" || rest[0] == '/'):
		return filepath.Join(Home(), rest)
	case filepath.IsAbs(path):
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}
