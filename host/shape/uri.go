package shape

import (
	"cmp"
	"math"
	"net/url"
	"strconv"
)

// Absolute reports whether a text is a URI with a scheme. Clients that parse URIs refuse a
// list with any other, or without the host that the scheme asks for.
func Absolute(uri string) bool {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme == "" {
		return false
	}
	if port, err := strconv.Atoi(cmp.Or(u.Port(), "0")); err != nil || port > math.MaxUint16 {
		return false
	}
	switch u.Scheme {
	case "http", "https", "ws", "wss", "ftp":
		return u.Host != ""
	}
	return true
}
