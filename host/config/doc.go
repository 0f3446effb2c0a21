// Package config has the blocks of the configuration language and loads HCL files into a checked
// [Config].
//
// [Find] chooses the file or directory. [Load] reads it, evaluates its expressions, asks each used
// plugin for its manifest, and decodes each plugin's blocks with the schema from the manifest. One run
// reports every problem with file, line, column and source line, and without text that could be a
// secret. Load returns a Config only if there is no error, so its users check nothing again.
//
// A block declares itself: it is a struct with tags that package language reads. Its own rules are a
// Validate method beside it. What needs other blocks too is checked by functions that get them.
// Package source reads the texts, package expression evaluates, and a [scope] is a layer, the managed
// configuration or one use of a module.
//
// With [Options.Static], Load checks a text without evaluating it, for editors. [ReadContent] reads a
// configuration for a person who decides whether to trust it. The package starts no upstream and
// writes no file.
//
// Files, from the top: publicsettings.go, ownfiles.go, managedrefusal.go, reviewcontent.go,
// wholeblocks.go, module.go, load.go, lock.go, toplevel.go, audit.go, foreach.go, managed.go,
// managedprogram.go, policies.go, policy.go, condition.go, quantifier.go, policytest.go, testblock.go, approvers.go,
// serverlimits.go, share.go, console.go, policyblocks.go, telemetry.go, notify.go, auditforward.go,
// gateway.go, unsafelisten.go, originheader.go, address.go, calllimit.go, toolcommand.go, written.go,
// server.go, secretstore.go, pluginref.go, plugintable.go, defaults.go, settings.go, setting.go,
// plugindiagnostics.go, foreigntexts.go, shellvariable.go, foreignnames.go, encode.go, tools.go,
// serverattributes.go, require.go, blockreader.go, scope.go, find.go, options.go, config.go.
//
// toplevel.go lists the blocks of the language, and load.go reads them in order. foreach.go,
// server.go, tools.go and serverattributes.go read servers; module.go, scope.go and blockreader.go
// are the layers and modules around them. require.go, pluginref.go, plugintable.go, settings.go,
// setting.go and defaults.go find plugins and decode their blocks. policy.go, policies.go,
// policyblocks.go, condition.go, quantifier.go, approvers.go, policytest.go and testblock.go read
// the policy. gateway.go and the files with the name of a block read that block; address.go,
// originheader.go and unsafelisten.go check where it listens. managed.go, managedprogram.go and
// managedrefusal.go apply the rules of the administrator, and lock.go those of lock files. The
// files whose names begin with foreign hint at habits of other programs. find.go chooses what is
// loaded. publicsettings.go, encode.go, written.go, toolcommand.go and ownfiles.go describe a
// loaded configuration to others.
//
// The callers of Load are package host, at the start and for each reload, package languageserver
// and the verbs that edit. All work of one Load happens on the goroutine of its caller; the
// unexported types with state, such as loader, scope, draft and blockReader, live as long as that
// call and have no lock. A Config and all that it refers to do not change after Load, so any
// goroutine may read them. A Config owns no resource and need not be closed.
//
// The tags of the structs are the language that users write: the reference pages and the JSON
// Schema are generated from them, and a renamed attribute breaks configurations.
package config
