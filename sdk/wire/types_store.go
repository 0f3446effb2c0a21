package wire

// StoreOpenArgs open a vault.
type StoreOpenArgs struct {
	Call      Call
	Component string // which secret store
	Handle    string // the host's name for the vault
	Settings  []byte
	Dir       string // a directory of the store's own; empty: none
}

// StoreArgs name a vault and, where the method is about one, a key in it. For
// StoreSet they hold the value too.
type StoreArgs struct {
	Call   Call
	Handle string
	Key    string
	Value  []byte
	Label  string
}

// StoreKeysReply lists the keys of a vault.
type StoreKeysReply struct {
	Status Status
	Keys   []string
}
