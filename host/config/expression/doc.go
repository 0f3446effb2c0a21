// Package expression evaluates the expressions of a configuration. An [Evaluator] belongs to one
// load; a [Host] evaluates those of the blocks that use the same [Names], the locals and variables
// of a part of the configuration. A [Keyring] makes placeholders of stored secrets, and later
// puts the secrets in their places. The package knows no block but locals and variable.
//
// Files, from the top: local.go, variable.go, eval.go, input.go, host.go, function.go,
// passthrough.go, publicvariable.go, static.go, evaluator.go, names.go, resolve.go, absent.go,
// keyring.go, texts.go, functionhelp.go.
//
// eval.go and host.go evaluate; input.go, function.go and passthrough.go are the functions with
// effects, such as env() and keyring(). local.go, variable.go and names.go are the names of a
// scope. keyring.go, resolve.go and absent.go are the placeholders. static.go is for editors, and
// publicvariable.go for values that are no secrets.
//
// Package config makes an Evaluator for each load; all types but the Keyring end with the load and
// are for its goroutine. After the load the Keyring is only read: the host calls Substitute for
// each connection, from any goroutine.
package expression
