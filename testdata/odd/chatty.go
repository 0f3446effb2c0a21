package main

import (
	"fmt"
	"strings"
	"sync/atomic"
)

// asked is the level that the client of a chatty server has set.
var asked atomic.Value

// chatty answers as a server that logs a message at each level for each call, whatever
// level it was asked for. Its tool "text" returns that level.
func chatty(r request) bool {
	switch {
	case r.Method == "initialize":
		reply(r, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"logging":{}},"serverInfo":{"name":"chatty","version":"1"}}`)
	case r.Method == "logging/setLevel":
		asked.Store(r.Params.Level)
		reply(r, `{}`)
	case r.Method == "tools/call" && r.Params.Name == "text":
		for _, level := range strings.Fields("debug info notice warning error critical alert emergency") {
			fmt.Printf(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":%q,"logger":"odd","data":"this is %s \u001b[31mred\u001b[0m\u202e"}}`+
				"\n", level, level)
		}
		text(r, fmt.Sprint("asked for ", asked.Load()))
	default:
		return false
	}
	return true
}
