package host

import (
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/limit"
)

// budgetDivisor is the ratio of max_memory to the memory for messages. The rest is
// for the program, the state of servers and sessions, and garbage.
const budgetDivisor = 2

// newBudget returns the limit of the memory for messages.
func newBudget(c *config.Config) *limit.Memory {
	return limit.NewMemory(limit.ProcessMemory(int64(c.Gateway.MaxMemory)) / budgetDivisor)
}

// LimitMemory sets the memory limit of the Go runtime to max_memory, or to the limit
// of the control group if that is lower. A process that serves calls it once.
func (a *App) LimitMemory() {
	most := limit.ProcessMemory(int64(a.Config().Gateway.MaxMemory))
	runtime := limit.SetGoMemory(most)
	a.opts.Log.Debug("memory is limited", "process_mib", most>>20, "messages_mib", most/budgetDivisor>>20, "go_mib", runtime>>20)
}
