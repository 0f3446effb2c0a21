package catalog

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
)

const (
	// silentRest is how long verbs that list the items of all servers leave a server alone
	// that did not get ready.
	silentRest = 10 * time.Minute
	// silentTTL is how long a client does not wait for the first list of such a server,
	// which is started nevertheless.
	silentTTL = diskTTL
)

// silentName returns the name of the file that says when a server did not get ready.
func silentName(key string) string { return filepath.Join("catalogs", key+"-silent") }

// silentEarly is how long a refresh has to run before the end of the process counts as
// silence for the next client.
const silentEarly = 3 * time.Second

// A silence is what the file says.
type silence struct {
	Since time.Time `json:"since"`
	Ended bool      `json:"ended"` // the process ended before the server's time was over
}

// recordSilence remembers on disk whether a server got ready, for processes that would
// wait for it.
func (c *Catalog) recordSilence(s *Server, err error) {
	switch {
	case err == nil:
		c.dir.Remove(silentName(s.Key))
	case fault.Is(err, fault.UpstreamStartTimeout):
		c.writeSilence(s, false)
	}
}

// recordUnanswered remembers the servers that a process which ends now has waited for.
func (c *Catalog) recordUnanswered() {
	c.mu.Lock()
	var all []*Server
	for name := range c.refreshing {
		s := c.server(name)
		if first := c.attempts[name].first; s != nil && c.lists[name] == nil && time.Since(first) >= silentEarly {
			all = append(all, s)
		}
	}
	c.mu.Unlock()
	for _, s := range all {
		if _, silent := c.silence(s); !silent {
			c.writeSilence(s, true)
		}
	}
}

func (c *Catalog) writeSilence(s *Server, ended bool) {
	text, err := json.Marshal(silence{time.Now().UTC(), ended})
	if err != nil {
		panic(err) // a time and a bool
	}
	c.dir.Write(silentName(s.Key), text)
}

// silence returns what the file of a server says, if it is not too old.
func (c *Catalog) silence(s *Server) (was silence, silent bool) {
	text, ok := c.dir.Read(silentName(s.Key))
	if !ok || json.Unmarshal(text, &was) != nil {
		return silence{}, false
	}
	age := time.Since(was.Since)
	return was, age >= 0 && age < silentTTL
}

// Silent returns which of the named servers have no lists, and when they last did not get
// ready. Verbs that list the items of all servers do not wait for them.
func (c *Catalog) Silent(names []string) map[string]time.Time {
	all := map[string]time.Time{}
	for _, s := range c.Servers() {
		if !slices.Contains(names, s.Name) || !c.unknown(s.Name) {
			continue
		}
		if was, silent := c.silence(s); silent && !was.Ended && time.Since(was.Since) < silentRest {
			all[s.Name] = was.Since
		}
	}
	return all
}

// impatient returns the refreshes of servers that a client waits for, and sets the error of
// the others.
func (c *Catalog) impatient(runs []*refreshRun, failed map[string]error) []*refreshRun {
	servers := c.Servers()
	return slices.DeleteFunc(runs, func(a *refreshRun) bool {
		i := slices.IndexFunc(servers, func(s *Server) bool { return s.Name == a.server })
		if i < 0 {
			return false
		}
		_, silent := c.silence(servers[i])
		if silent {
			failed[a.server] = context.DeadlineExceeded
		}
		return silent
	})
}
