package catalog

import (
	"encoding/json"
	"path/filepath"
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

// A silence is what the file says. Other processes read it, as JSON; a file of another form
// counts as none.
type silence struct {
	Since time.Time `json:"since"`
	Ended bool      `json:"ended"` // the process ended before the server's time was over
}

// recordSilence remembers on disk whether a server got ready, for processes that would
// wait for it. It writes a file, on the goroutine of the refresh.
func (d *disk) recordSilence(s *Server, err error) {
	switch {
	case err == nil:
		d.dir.Remove(silentName(s.Key))
	case fault.Is(err, fault.UpstreamStartTimeout):
		d.writeSilence(s, false)
	}
}

// writeSilence remembers that a server did not get ready.
func (d *disk) writeSilence(s *Server, ended bool) {
	text, err := json.Marshal(silence{time.Now().UTC(), ended})
	if err != nil {
		panic(err) // a time and a bool
	}
	d.dir.Write(silentName(s.Key), text)
}

// silence returns what the file of a server says, if it is not too old. Waits for lists and
// verbs that list all servers call it; it reads a file.
func (d *disk) silence(s *Server) (was silence, silent bool) {
	text, ok := d.dir.Read(silentName(s.Key))
	if !ok || json.Unmarshal(text, &was) != nil {
		return silence{}, false
	}
	age := time.Since(was.Since)
	return was, age >= 0 && age < silentTTL
}
