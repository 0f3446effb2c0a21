package upstream

import (
	"runtime/debug"

	"github.com/junctor-mcp/junctor/host/fault"
)

// saved turns a mistake of ours into an error, for a function that defers it: it
// costs what was being done and nothing else.
func (u *Upstream) saved(doing string, err *error) {
	if p := recover(); p != nil {
		*err = u.panicked(doing, p)
	}
}

// goes does something for the connection in a goroutine that Close waits for. A
// mistake of ours in it ends the connection, with which everybody who waits for
// the rest of it is told.
func (c *conn) goes(doing string, do func()) {
	c.up.work.Go(func() {
		defer func() {
			if p := recover(); p != nil {
				_ = c.up.panicked(doing, p)
				c.link.Close(0)
			}
		}()
		do()
	})
}

// panicked takes note of a mistake of ours and returns what callers are told.
func (u *Upstream) panicked(doing string, p any) error {
	u.opts.Log.Error("junctor made a mistake", "server", u.opts.Name, "doing", doing, "panic", p, "stack", string(debug.Stack()))
	return fault.New(fault.Internal, "something went wrong in junctor while %s; its log says what", doing)
}
