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
// A load goes through the files in this order. Text: source reads it safely and
// prescan decides whether it may be parsed. Expressions: local and eval compute
// them with the functions in function, while budget, meter and guard see to it
// that they end, and handson that none looks at a secret which is not read yet.
// Blocks: section and attribute read any block, require and describe those about
// plugins, server, auth and tools those about servers, secret_store the one
// about secrets, and use, settings, setting and fit what belongs to a plugin,
// with the plugin's schema; gateway, address, origin, authentication and
// static_token the gateway's, of which exposure says whether it is safe to listen
// with. Afterwards keyring and resolve put in what was not read. People:
// problem collects what is wrong and foreign what HCL finds; snippet, mask and
// line show where, and hush words it, without telling secrets; render writes it.
package config
