package config

import (
	"sync"

	"github.com/junctor-mcp/junctor/host/config/expression"
	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/config/source"
)

// languageWords returns the words of the language for snippets.
func languageWords() source.Words {
	return source.Words{
		Blocks:     blockWords,
		Messages:   expression.MessageWords,
		IsFunction: expression.IsFunction,
		EnvName:    envRule,
		SecretName: expression.SecretName,
	}
}

// blockWords are the types of blocks.
var blockWords = sync.OnceValue(func() map[string]bool {
	words := map[string]bool{}
	for _, f := range []language.Form{*Language(), *language.FormOf[Server](), *language.FormOf[Gateway](), *language.FormOf[HTTP]()} {
		for name := range f.Blocks {
			words[name] = true
		}
		for _, name := range f.Later {
			words[name] = true
		}
	}
	return words
})
