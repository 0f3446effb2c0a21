package catalog

// MaxInstructions bounds what one server tells models, in bytes.
const MaxInstructions = 64 << 10

// Said is what a server says of itself when it is connected, as it was last known. It is
// immutable. The file of the lists keeps it. A refresh makes it (lists.go), and Catalog.Said
// gives it to the gateway and the console.
type Said struct {
	Instructions string
	Extensions   []byte // an object of its capabilities; nil: none
	Modern       bool
}
