package gateway

import (
	"strings"

	"github.com/junctor-mcp/junctor/host/era"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// serverWords returns the result of a server without what only Junctor says, and without what the era of the
// server does not have: clients would act on it. The functions of this file are pure. They undo what a server,
// which may be Junctor itself, says in words that only Junctor may say.
func serverWords(c *call, reply *upstream.Reply) []byte {
	result, names := reply.Result, reply.Names
	if names.MayHaveOwnMeta() {
		result = mcp.WithoutOwnMeta(result)
	}
	if !reply.Revision.Modern() {
		return withoutModern(result, names)
	}
	if names.Maybe("requestState") && !era.IsInputRequired(result) {
		result = mcp.DeleteMember(result, "requestState")
	}
	if c.modern() && names.Maybe("inputRequests") {
		result = withServerKeys(result)
	}
	if c.method == mcp.MethodGetTask && names.Maybe("error") {
		result = withServerError(result)
	}
	return result
}

// withoutModern returns the result of a legacy server without the members that ask for input
// or say of which type it is. One that says what every legacy result is keeps its bytes.
func withoutModern(result []byte, names mcp.Names) []byte {
	for _, name := range []string{"requestState", "inputRequests", "resultType"} {
		if names.Maybe(name) && (name != "resultType" || string(mcp.Member(result, name)) != `"complete"`) {
			result = mcp.DeleteMember(result, name)
		}
	}
	return result
}

// fitTask returns a task of a notification as clients get it.
func fitTask(task []byte) []byte { return withServerError(withServerKeys(task)) }

// withServerError returns a task whose error, if it has one, is as clients get errors of servers.
func withServerError(task []byte) []byte {
	was := mcp.Member(task, "error")
	if is := mcp.ServerError(was); !sameBytes(is, was) {
		return mcp.SetMember(task, "error", is)
	}
	return task
}

// serverKey precedes the key of a question of a server that looks like one of Junctor. A
// server may be Junctor, too.
const serverKey = "server:"

// isOwnKey reports whether a key, without any serverKey before it, is one of Junctor.
func isOwnKey(key string) bool {
	for strings.HasPrefix(key, serverKey) {
		key = key[len(serverKey):]
	}
	return strings.HasPrefix(key, "junctor.") || strings.HasPrefix(key, mcp.OwnMeta)
}

// withServerKeys returns a result whose questions have no keys of Junctor.
func withServerKeys(result []byte) []byte {
	return withKeys(result, "inputRequests", func(key string) (string, bool) {
		if isOwnKey(key) {
			key = serverKey + key
		}
		return key, true
	})
}

// answersForServer returns the params of a request with the answers under the keys of the
// server. Answers to questions of Junctor are left out.
func answersForServer(params []byte) []byte {
	return withKeys(params, "inputResponses", func(key string) (string, bool) {
		if !isOwnKey(key) {
			return key, true
		}
		return strings.CutPrefix(key, serverKey)
	})
}

// withKeys changes the keys in a member of an object. keep is false for one to leave out.
func withKeys(object []byte, member string, change func(key string) (now string, keep bool)) []byte {
	b, changed := []byte("{"), false
	for key, value := range mcp.Members(mcp.Member(object, member)) {
		now, keep := change(key)
		changed = changed || now != key || !keep
		if !keep {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(append(mcp.AppendText(b, now), ':'), value...)
	}
	if !changed {
		return object
	}
	return mcp.SetMember(object, member, append(b, '}'))
}
