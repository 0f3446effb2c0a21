package shape

import (
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/mcp"
)

// levelWords are the words of logging libraries for levels that MCP calls otherwise. In
// syslog, whose levels MCP has, panic is another word for emergency. Python has fatal for
// critical.
var levelWords = map[string]string{
	"trace": "debug", "verbose": "debug", "fine": "debug", "silly": "debug",
	"information": "info", "informational": "info", "log": "info", "warn": "warning",
	"err": "error", "severe": "error", "crit": "critical", "fatal": "critical",
	"emerg": "emergency", "panic": "emergency",
}

const defaultLevelWord = "info"

// textMembers are the members that hold the text of a message in logging libraries.
var textMembers = []string{"message", "msg", "text"}

// LogMessage corrects the params of notifications/message to what the schema of MCP allows.
// ok is false for params without any data. The gateway calls it for each log message of a
// server; it is pure.
func LogMessage(params []byte) (fitted []byte, ok bool) {
	if len(params) == 0 || params[0] != '{' {
		return nil, false
	}
	data := mcp.Member(params, "data")
	if data == nil {
		if data = dataIn(params); data == nil {
			return nil, false
		}
		params = mcp.SetMember(params, "data", data)
	}
	said := mcp.Member(params, "level")
	text, _ := mcp.Text(said)
	if level := levelOf(text); said == nil || level != text {
		params = mcp.SetMember(params, "level", mcp.AppendText(nil, level))
	}
	if logger := mcp.Member(params, "logger"); logger != nil && logger[0] != '"' {
		params = mcp.DeleteMember(params, "logger")
	}
	if meta := mcp.Member(params, "_meta"); meta != nil && meta[0] != '{' {
		params = mcp.DeleteMember(params, "_meta")
	}
	return params, true
}

// levelOf returns the level of MCP that a word means.
func levelOf(word string) string {
	word = strings.ToLower(strings.TrimSpace(word))
	switch {
	case slices.Contains(mcp.Levels, word):
		return word
	case levelWords[word] != "":
		return levelWords[word]
	}
	return defaultLevelWord
}

// dataIn returns the data of a message without the member data: its text, or all that is no
// other member of the params. It returns nil if there is nothing.
func dataIn(params []byte) []byte {
	for _, name := range textMembers {
		if text := mcp.Member(params, name); text != nil {
			return text
		}
	}
	rest := params
	for _, name := range []string{"level", "logger", "_meta"} {
		rest = mcp.DeleteMember(rest, name)
	}
	if mcp.Empty(rest) {
		return nil
	}
	return rest
}
