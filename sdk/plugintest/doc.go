// Package plugintest asks a plugin the questions that every plugin must answer,
// and nothing about what it is for. A plugin that passes works with any host.
//
// An author writes one test for the code and one for the program:
//
//	var acme = plugintest.Transport{
//		Name: "acme",
//		Peer: func(t testing.TB) plugintest.Peer {
//			addr, die := plugintest.EchoServer(t, "tcp")
//			return plugintest.Peer{Settings: fmt.Sprintf(`{"address":%q,"token":%q}`, addr, plugintest.Canary), Die: die}
//		},
//		Refused: []plugintest.Refusal{{Settings: `{"address":"nowhere"}`, Paths: []string{"address"}}},
//	}
//
//	func TestPlugin(t *testing.T)  { plugintest.InProcess(t, plugin(), acme) }
//	func TestProgram(t *testing.T) { plugintest.Binary(t, plugintest.Build(t, "."), acme) }
//
// [InProcess] joins a host to the plugin within the test, where a debugger and
// the race detector see everything. [Binary] starts the program as a host does,
// and asks more: what it prints, and what is left when its host is gone. Every
// question is a subtest, and takes at most three minutes: when an author's code
// does not return, the failure names the question and shows what every goroutine
// waits for. They count goroutines, descriptors and processes, so
// no other test may run in parallel with them.
//
// An auth provider's author has two more: [Host] plays the person who logs in, and
// [Vendor] the server to log in to, with its authorization server, as wrong as
// a test wants them.
//
// It is no framework: it needs nothing but package testing.
package plugintest
