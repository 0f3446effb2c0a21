package login

import (
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/junctor-mcp/junctor/sdk"
)

// A portRange is the range of ports for the callback, tried in order. 0 to 0 means any
// free port. It is a value.
type portRange struct{ first, last int }

// usualPorts are the ports to register at authorization servers that require it.
var usualPorts = portRange{8085, 8099}

func (r portRange) String() string {
	if r.first == r.last {
		return fmt.Sprintf("port %d", r.first)
	}
	return fmt.Sprintf("ports %d-%d", r.first, r.last)
}

func parsePorts(s string) (portRange, error) {
	if s = strings.TrimSpace(s); s == "" {
		return usualPorts, nil
	}
	low, high, isRange := strings.Cut(s, "-")
	if !isRange {
		high = low
	}
	first, err1 := strconv.ParseUint(strings.TrimSpace(low), 10, 16)
	last, err2 := strconv.ParseUint(strings.TrimSpace(high), 10, 16)
	if err1 != nil || err2 != nil || first > last || isRange && first == 0 {
		return portRange{}, &sdk.Error{
			Code: sdk.Invalid, Reason: "callback_ports",
			Message: fmt.Sprintf("%q is not a port or range for the callback", s),
			Hint:    `write one port, a range such as "8085-8099", or 0 for any port that is free`,
		}
	}
	return portRange{int(first), int(last)}, nil
}

// listen listens on the first free port.
func (r portRange) listen() (net.Listener, error) {
	var last error
	for port := r.first; port <= r.last; port++ {
		l, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err == nil {
			return l, nil
		}
		last = err
	}
	return nil, &sdk.Error{
		Code: sdk.Unavailable, Reason: "callback_ports",
		Message: fmt.Sprintf("cannot listen for the end of the login: %s of 127.0.0.1 cannot be used (%v)", r, last),
		Hint:    "end the programs that use them, or configure another port or range for the callback; 0 means any free port, if the authorization server allows that",
	}
}
