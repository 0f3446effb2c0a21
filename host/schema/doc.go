// Package schema vets and compiles untrusted JSON Schemas, and validates arguments and
// results against them.
//
// The schema of a tool comes from an untrusted server, but compilers of JSON Schema
// trust their input. {"$ref":"#"} overflows the stack of one compiler and kills the
// process. A chain of doubled allOf blocks any of them for hours. A file:// reference
// makes one read local files. No compiler accepts a context. A schema therefore passes
// these steps:
//
//	raw bytes ── parse ── a strict tree, at most 64 levels deep
//	          ── vet ──── all subschemas found, all references resolved to them,
//	                      cycles and cost bounded
//	          ── normal ─ the same schema in plain 2020-12: one resource, no ids,
//	                      no anchors, no annotations
//	          ── compile  by santhosh-tekuri/jsonschema, with a loader that
//	                      always fails
//
// # Dialects
//
// The dialect is 2020-12 unless $schema names 2019-09, draft-07, draft-06 or draft-04.
// An unknown $schema is read as 2020-12. Older dialects are translated, so the library
// handles only one. Common deviations are accepted in every dialect: boolean
// exclusiveMinimum, items as a list, dependencies, null keywords, and properties: [].
//
// # Ignored keywords
//
// format is an annotation in every dialect and is never asserted; the server checks it.
// These are ignored and listed in [Schema.Notes]: patterns that RE2 does not support
// (lookahead, back references), unknown type names, and a boolean required (draft-03).
// Ignoring them must only accept more. Below not, if, oneOf and contains it could
// reject valid arguments, so Compile returns an error there. The caller then skips
// validation for the tool.
//
// # Checking
//
// [Schema.Check] first tries to accept the raw bytes, which suffices for nearly every
// call. Otherwise it decodes them with numbers as text. It then walks schema and
// instance once to determine the cost of the validation, and finally calls the library.
// A vetted schema can still be exponential in the depth of the instance: for example,
// if two branches of an allOf descend into the same property. The cost therefore
// depends on the instance. Above the limit Check rejects the instance.
//
// The package does not know tools, servers or calls. Messages never contain values of
// an instance, because their readers may not be allowed to see them. Names of keys are
// quoted and truncated.
//
// The catalog corrects and narrows schemas, the gateway checks arguments and results, and the
// command line, the console and package policy/check read properties and fields. All functions
// may be called concurrently, and do not wait; Schema and Cache may be shared. Other values,
// such as documents, walkers, portings and meters, belong to one call.
//
// tree.go, walk.go, reference.go, keyword.go, pattern.go, cost.go and vet.go read and vet;
// normal.go, translate.go, compile.go and cache.go compile. check.go, quick.go, quick_build.go,
// meter.go and decode.go check instances, and explain.go, message.go, path.go and union.go say
// what is wrong. repair.go, portable.go, portablepattern.go, dangling.go, view.go, narrow.go
// and members.go change schemas for clients. forms.go, typed.go, arguments.go, field.go,
// property.go, unlisted.go and elicitation.go serve people who write arguments.
//
// A schema that fits keeps its bytes, because digests and clients compare them. Reasons of a
// [VetError] must stay.
//
// Files, from the top: unlisted.go, cache.go, union.go, repair.go, dangling.go, portable.go,
// portablepattern.go, field.go, arguments.go, narrow.go, members.go, view.go, typed.go, cost.go,
// elicitation.go, translate.go, property.go, forms.go, decode.go, check.go, compile.go,
// quick_build.go, quick.go, pattern.go, meter.go, normal.go, reference.go, vet.go, walk.go,
// keyword.go, explain.go, tree.go, message.go, path.go.
package schema
