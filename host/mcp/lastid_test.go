package mcp

import "testing"

func TestLastID(t *testing.T) {
	for suffix, want := range map[string]string{
		`...]},"jsonrpc":"2.0","id":7}`:           `7`,
		`...]},"id":7,"jsonrpc":"2.0"}`:           `7`,
		`...]} , "id" : 7 , "jsonrpc" : "2.0" } `: `7`,
		`...]},"id":"a-1"}`:                       `"a-1"`,
		`..."}},"id":-3}`:                         `-3`,
		`{"id":7}`:                                `7`,
		`...,"text":"{\"id\":7}`:                  ``,
		`...,"text":",\"id\":7}"}}`:               ``,
		`...,"id":7}}`:                            ``, // of what is nested
		`...,"id":7,"jsonrpc":"1.0"}`:             ``,
		`...,"id":7.5}`:                           ``,
		`...,"id":null}`:                          ``,
		`...,"id":"a\"b"}`:                        ``,
		`...,"xid":7}`:                            ``,
		`...,"jsonrpc":"2.0"}`:                    ``,
		``:                                        ``,
	} {
		if got := LastID([]byte(suffix)); string(got) != want {
			t.Errorf("%s: %s", suffix, got)
		}
	}
}
