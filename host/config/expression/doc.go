// Package expression evaluates the expressions of a configuration. An [Evaluator] belongs to one
// load; a [Host] evaluates those of the blocks that use the same [Names], the locals and variables
// of a part of the configuration. A [Keyring] makes placeholders of stored secrets, and later
// puts the secrets in their places. The package knows no block but locals and variable.
//
// Files, from the top: local.go, variable.go, eval.go, input.go, host.go, function.go,
// passthrough.go, publicvariable.go, static.go, evaluator.go, names.go, resolve.go, absent.go,
// keyring.go, texts.go, functionhelp.go.
package expression
