package main

import (
	"encoding/json"
	"testing"

	"github.com/junctor-mcp/junctor/sdk/plugintest"
)

// on returns the case of a server that listens on a network.
func on(network string) plugintest.Transport {
	return plugintest.Transport{
		Name: "acme",
		Peer: func(t testing.TB) plugintest.Peer {
			address, die := plugintest.EchoServer(t, network)
			settings, err := json.Marshal(map[string]string{"address": address})
			if err != nil {
				t.Fatal(err)
			}
			return plugintest.Peer{Settings: string(settings), Die: die}
		},
		Refused: []plugintest.Refusal{
			{Settings: `{"address":"localhost:1","timeout":"soon"}`, Paths: []string{"timeout"}},
			{Settings: `{"address":1}`, Paths: []string{"address"}},
		},
	}
}

func TestPlugin(t *testing.T) { plugintest.InProcess(t, plugin(), on("tcp")) }

func TestProgram(t *testing.T) { plugintest.Binary(t, plugintest.Build(t, "."), on("unix")) }
