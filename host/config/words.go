package config

import (
	"sync"

	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/config/source"
)

// languageWords returns the words of the language for snippets.
func languageWords() source.Words {
	return source.Words{
		Blocks:     blockWords,
		Messages:   fixedWords,
		IsFunction: func(word string) bool { return isKnownFunction(word) || functionLike(word) },
		EnvName:    envRule,
		SecretName: SecretName,
	}
}

// blockWords are the types of blocks.
var blockWords = sync.OnceValue(func() map[string]bool {
	words := map[string]bool{}
	for _, f := range []language.Form{*topLevelForm(), *language.FormOf[Server](), *language.FormOf[Gateway](), *language.FormOf[HTTP]()} {
		for name := range f.Blocks {
			words[name] = true
		}
		for _, name := range f.Later {
			words[name] = true
		}
	}
	return words
})

// fixedWords are the quoted words of HCL's own messages: names of parameters, and
// keywords.
var fixedWords = sync.OnceValue(func() map[string]bool {
	words := map[string]bool{"true": true, "false": true, "if": true, "for": true, "name": true, "fallback": true, "path": true}
	for name, f := range functions {
		if name == "env" || name == "file" || name == "keyring" {
			continue // their parameters are in the list above
		}
		if f.VarParam() != nil {
			words[f.VarParam().Name] = true
		}
		for _, p := range f.Params() {
			words[p.Name] = true
		}
	}
	return words
})

// isKnownFunction reports whether the language has a function.
func isKnownFunction(name string) bool {
	_, known := functions[name]
	return known
}
