// Package config goes from HCL files to a value that cannot be wrong.
//
// [Find] says which file or directory it is. [Load] reads it, refuses what
// would harm the parser, evaluates expressions within a budget, asks each
// plugin that is used for its manifest, and decodes every transport block with
// the schema found there. It reports everything that is wrong in one run, each
// problem with its file, line and column and without a word that could be a
// secret. There is a [Config] only when there is no error, so the rooms that
// use one check nothing again.
//
// It starts no upstream, writes nothing, and is the only room that knows HCL:
// what it returns is plain data.
//
// The order of a load is the order of the files here: source and prescan (text
// that may be parsed), local and eval (expressions that may be computed),
// require and describe (plugins), server, tools and settings (what the rest of
// the host uses), and problem, snippet and render (what people see).
package config
