package configure

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"time"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/host/clientconfig"
)

// backupPath returns where the last version of a configuration is kept before a verb edits it:
// in the directory of Junctor's data, because servers and version control see the directory of
// the configuration. The next edit replaces it. It is "" without such a directory.
func backupPath(data, path string) string {
	if data == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(path))
	return filepath.Join(data, "backups", hex.EncodeToString(sum[:4])+"-"+filepath.Base(path))
}

// writeConfig replaces a configuration and returns the path of a backup; "" for a new file.
func writeConfig(inv *invocation.Invocation, f *clientconfig.File, text []byte) (backup string, err error) {
	if f.Text == nil {
		return "", f.Replace(text)
	}
	if err := inv.FindDirs(); err != nil {
		return "", err
	}
	backup = backupPath(inv.Dirs.Data, f.Path)
	if backup == "" {
		return f.Write(text, time.Now())
	}
	if err := os.MkdirAll(filepath.Dir(backup), 0o700); err != nil {
		return "", err
	}
	// The backup before is still there if the file cannot be written.
	next := backup + ".next"
	if err := os.WriteFile(next, f.Text, 0o600); err != nil {
		return "", err
	}
	if err := f.Replace(text); err != nil {
		_ = os.Remove(next)
		return "", err
	}
	return backup, os.Rename(next, backup)
}
