// Package conversation is the other end of the host's conversations, for tests:
// servers that say what is written down, or what a test tells them to.
//
// A [Link] is a channel to a server, as host/upstream wants one, whose other end
// a test holds. A [Server] sits at that end and answers by itself what every
// server is asked; the rest it leaves to the test. A conversation in a file
// (upstream/*.txt, gateway/*.txt) is a list of [Step]s; the room that is tested
// plays it and knows the verbs.
//
// It is under testdata because it is no part of the program, and not in a room
// because three rooms use it.
package conversation
