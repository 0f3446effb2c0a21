package loopback

import "testing"

func TestIs(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost": true, "LocalHost": true, "127.0.0.1": true, "127.1.2.3": true, "::1": true,
		"::ffff:127.0.0.1": true,
		"":                 false, "0.0.0.0": false, "::": false, "10.0.0.1": false, "::ffff:10.0.0.1": false,
		"[::1]": false, "127.0.0.1:80": false,
		"127.1": false, "2130706433": false, "0177.0.0.1": false, "localhost.": false, "localhost.example": false,
		"a.localhost": false,
	} {
		if got := Is(host); got != want {
			t.Errorf("Is(%q) = %v", host, got)
		}
	}
}
