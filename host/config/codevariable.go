package config

import "github.com/junctor-mcp/junctor/host/lazyregexp"

// codeVariable matches environment variables that make well-known programs run other
// code.
var codeVariable = lazyregexp.New(`(?i)^(PATH|(LD|DYLD|GIT|NPM_CONFIG|UV|PIP)_.*|NODE_(OPTIONS|PATH)|(PYTHON|PERL5|RUBY).*|(BASH_)?ENV|_?JAVA.*|JDK_.*|CLASSPATH|DOTNET_.*)$`)

// ChoosesCode reports whether an environment variable makes well-known programs run other
// code.
func ChoosesCode(variable string) bool { return codeVariable.MatchString(variable) }
