// Package credential keeps what is presented to one server, and decides when
// the auth provider is asked for more.
//
// Transports ask for every request, and are answered from memory until the
// credential expires. Then one caller's question is everybody's, also between
// processes. A refusal is taken to the provider once; a server that goes on to
// refuse is left alone after three of them, and a provider that says that only
// a person can help is not asked again before something has changed.
//
// What the provider needs to obtain a credential, a refresh token say, never
// comes here.
package credential
