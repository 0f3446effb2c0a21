package host

import (
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/host/config"
)

// TestLoginTime: a provider that has the setting says it, within an hour; every
// other has five minutes.
func TestLoginTime(t *testing.T) {
	for settings, want := range map[string]time.Duration{
		``: defaultLoginTime, `{}`: defaultLoginTime,
		`{"login_timeout":"90s"}`: 90 * time.Second, `{"login_timeout":"20m"}`: 20 * time.Minute,
		`{"login_timeout":"9h"}`:  time.Hour,
		`{"login_timeout":"-1s"}`: defaultLoginTime, `{"login_timeout":"soon"}`: defaultLoginTime,
		`{"login_timeout":7}`: defaultLoginTime, `{"login_timeout":null}`: defaultLoginTime, `[`: defaultLoginTime,
	} {
		if got := LoginTime(&config.Server{Auth: &config.Block{Settings: []byte(settings)}}); got != want {
			t.Errorf("%s: %s", settings, got)
		}
	}
	if got := LoginTime(&config.Server{}); got != defaultLoginTime {
		t.Errorf("without an auth block: %s", got)
	}
}
