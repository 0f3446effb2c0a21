package goplugin

import (
	"io"
	"net"

	"github.com/hashicorp/yamux"
)

// muxConfig returns the settings of yamux that go-plugin uses: its own. The library would print
// what it logs about a connection that ends to standard error, where the host looks for the last
// words of the plugin.
func muxConfig() *yamux.Config {
	c := yamux.DefaultConfig()
	c.LogOutput = io.Discard
	return c
}

// streams are those that every connection begins with, in the order in which they are opened.
type streams struct{ calls, stdout, stderr net.Conn }

// openStreams gets each of the streams with open, which opens or accepts the next one.
func openStreams(open func() (net.Conn, error)) (s streams, err error) {
	for _, stream := range []*net.Conn{&s.calls, &s.stdout, &s.stderr} {
		if *stream, err = open(); err != nil {
			return s, err
		}
	}
	return s, nil
}
