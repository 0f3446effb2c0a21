// Package identity is who is asking: the person at the command line, or a
// client of the gateway once it has proved who it is.
package identity

// A Principal is who a client proved to be.
type Principal struct {
	Subject string
	Tenant  string
	Roles   []string
}

// Local is the user who runs Junctor: at the command line, or behind the
// client that started "junctor serve" on its standard streams. Whoever that is
// owns the configuration.
func Local() Principal { return Principal{Subject: "local", Tenant: "local"} }
