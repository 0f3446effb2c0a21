// Package plugintest checks behaviour that every plugin must have, whatever its
// purpose. A plugin that passes works with any host.
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
// [InProcess] runs the plugin in the test's process, for debuggers and the race
// detector. [Binary] starts the program as a host does. It also checks the
// program's output and the processes that it leaves.
//
// Every check is a subtest and takes at most three minutes. If an author's code
// does not return, the failure names the check and prints the stacks of all
// goroutines. Checks count goroutines, descriptors and processes, so no other
// test may run in parallel.
//
// Two types help with auth providers. [Host] plays the user who logs in.
// [Vendor] is an MCP server with an authorization server, whose mistakes a test
// can choose.
//
// The package depends on no test framework except package testing.
package plugintest
