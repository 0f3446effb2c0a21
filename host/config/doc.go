// Package config loads HCL configuration files into a checked [Config].
//
// [Find] chooses the file or directory. [Load] reads it, evaluates its
// expressions, asks each used plugin for its manifest, and decodes each plugin's
// blocks with the schema from the manifest. One run reports every problem with
// file, line, column and source line, and without text that could be a secret.
// Load returns a Config only if there is no error, so its users check nothing
// again.
//
// With [Options.Static], Load checks a text without evaluating it, for editors.
//
// [ReadContent] reads a configuration without evaluating it. Package trust uses
// it to show a person what a found configuration would do.
//
// The package starts no upstream and writes no file. A Config is plain
// data: only cliconfig, which writes HCL, imports it too.
//
// The files, in the order of a load:
//
//   - Text: source.go reads the files; hcltext bounds nesting before the HCL parser
//     runs.
//   - Expressions: local.go and eval.go evaluate, function.go has the functions,
//     keyring.go the placeholders of stored secrets, and passthrough.go keeps
//     expressions from inspecting them.
//   - Blocks: package language decodes a block into the struct that declares it;
//     blockreader.go opens blocks, and evaluation.go is what the loader does for
//     package language. require.go and describe.go read plugins;
//     serverattributes.go, server.go, tools.go and share.go servers; defaults.go the
//     defaults; gateway.go, address.go, originheader.go, unsafelisten.go,
//     authentication.go and statictoken.go the gateway; secretstore.go the secret
//     store.
//   - Blocks of plugins: pluginref.go, settings.go and setting.go decode them with
//     the plugin's schema.
//   - Later: resolve.go inserts stored secrets, plugindiagnostics.go reports a
//     plugin's complaints about its settings, at their places.
//   - Diagnostics: diagnostic.go collects them, hcldiagnostics.go converts those
//     of HCL, snippet.go and mask.go show the source line, redact.go removes
//     secrets, render.go prints. pasted.go recognizes the JSON configuration of an
//     MCP client.
//   - Output: encode.go masks settings for output, encodes them, and computes the
//     fingerprint of a server.
//   - Reviews: content.go reads without evaluation; outline.go,
//     outlineprogram.go and outlinepath.go list the actions of a configuration.
//   - Editors: static.go checks without evaluation, toplevel.go has the blocks of the
//     language, and languageschema.go makes its JSON Schema.
//   - Places: locate.go finds the place of a setting by its path.
package config
