// Package schema handles JSON Schemas that strangers wrote: it vets them,
// compiles them, and uses them to check arguments and results.
//
// A tool's schema arrives from an upstream that nobody trusts, and compilers
// of JSON Schema trust what they compile: {"$ref":"#"} overflows the stack of
// one and kills the process, a chain of doubled allOf keeps any of them busy
// for hours, a file:// reference makes one read local files, and none takes a
// context. So the order is fixed:
//
//	raw bytes ── parse ── a tree, strict and at most 64 deep
//	          ── vet ──── every subschema found, every reference resolved to
//	                      one of them, cycles and cost bounded
//	          ── normal ─ the same schema as plain 2020-12: one resource, no
//	                      ids, no anchors, no annotations
//	          ── compile  by santhosh-tekuri/jsonschema, with a loader that
//	                      refuses everything
//
// # Dialects
//
// 2020-12 unless $schema names 2019-09, draft-07, draft-06 or draft-04; an
// unknown $schema is read as 2020-12. Older dialects are translated, so that
// the library only ever sees one. What servers really send is read as it was
// meant, whatever the dialect: boolean exclusiveMinimum, items as a list,
// dependencies, keywords that are null, properties that are [].
//
// # What is ignored
//
// format is never asserted, in no dialect: it is an annotation by default, and
// the server checks it. A pattern that RE2 cannot match (lookahead, back
// references), an unknown type name and a boolean required (draft-03) are
// ignored and mentioned in [Schema.Notes], because half a check is better than
// none. That is only done where ignoring accepts more: below not, if, oneOf
// and contains it could refuse good arguments, so there Compile returns an
// error, and the caller goes without validation for that tool.
//
// # Checking
//
// [Schema.Check] first tries to accept the bytes as they are, which is enough
// for nearly every call. Otherwise it decodes them, with numbers as text so
// that none is rounded, walks schema and instance once without checking to see
// what checking would cost, and then lets the library decide. A vetted schema
// can still be exponential in the depth of the instance (two branches of an
// allOf that both descend into the same property), which is why the cost is
// counted for the instance at hand and not for the schema alone. Past the
// limit Check refuses the instance instead of hanging.
//
// This package does not know tools, servers or calls. It never echoes a value
// of an instance, because a message may end up with somebody who may not see
// it; names of keys are quoted and cut.
package schema
