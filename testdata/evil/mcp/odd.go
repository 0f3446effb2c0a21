package main

// Odd is a result that no library would produce: unknown members, numbers
// beyond 2^53, an unusual order of keys, unnecessary escapes, a lone surrogate,
// white space.
const Odd = `{ "isError":false,"content":[{"hologram":null,"type":"text","text":"%%","n":9007199254740993},{"type":"text","text":"\ufffd\u0041\/ \u2028","annotations":{}}],` +
	`"structuredContent":{"a":[1.0,{}]},	"_meta":{"y":-0.0} ,"unknown":1e300}`

// odd responds to calls in modes about the bytes of messages.
func (s *server) odd(m message) {
	switch s.mode {
	case "odd":
		s.result(m, s.complete(Odd))
	case "odd-error":
		s.line(`{"error":{ "data":{"elicitations":[{"url":"https://x","n":9007199254740993}]},"message":"URL needed\/","code":-32042,"more":[] },"id":%s,"jsonrpc":"2.0"}`,
			m.ID)
	case "hidden": // a second message between CR characters
		s.line("{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":\r{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"content\":[]}\r\r}\r",
			m.ID)
	case "sreq": // NUMBER requests of the server, and one with the id of the call
		for i := range s.number {
			s.line(`{"jsonrpc":"2.0","id":%d,"method":"sampling/createMessage","params":{"messages":[]}}`, i)
		}
		s.line(`{"jsonrpc":"2.0","id":%s,"method":"elicitation/create","params":{"message":"?","requestedSchema":{"$ref":"#"}}}`,
			m.ID)
		s.line(`{"jsonrpc":"2.0","id":"p","method":"ping"}`)
		s.line(`{"jsonrpc":"2.0","id":"v","method":"vendor/x"}`)
		s.result(m, `{"content":[]}`)
	default:
		s.result(m, `{"content":[]}`)
	}
}
