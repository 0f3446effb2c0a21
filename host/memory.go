package host

import (
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/limit"
)

// budgetDivisor is the part of max_memory that messages may take. The rest is for
// the program, for what it knows of servers and sessions, and for garbage.
const budgetDivisor = 2

// newBudget returns the memory for messages.
func newBudget(c *config.Config) *limit.Memory {
	return limit.NewMemory(limit.ProcessMemory(int64(c.Gateway.MaxMemory)) / budgetDivisor)
}

// LimitMemory tells the Go runtime to stay within max_memory, or within the limit
// of the control group when that is lower. A process that serves calls it once.
func (a *App) LimitMemory() {
	most := limit.ProcessMemory(int64(a.Config().Gateway.MaxMemory))
	runtime := limit.SetGoMemory(most)
	a.opts.Log.Debug("memory is limited", "process_mib", most>>20, "messages_mib", most/budgetDivisor>>20, "go_mib", runtime>>20)
}
