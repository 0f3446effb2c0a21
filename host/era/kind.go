package era

// An Era is what a client can read: the messages of one era, or of both.
type Era int

// The eras.
const (
	Both Era = iota // the command line shows results of both as the server made them
	Legacy
	Modern
)
