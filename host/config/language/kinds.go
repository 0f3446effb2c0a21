package language

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/zclconf/go-cty/cty"
)

// A kind is how the attribute of a field is described and read.
type kind struct {
	values Values
	unset  string                             // Markdown
	start  func(into reflect.Value)           // sets the default; nil: zero
	read   func(r Reader, into reflect.Value) // leaves the field of an absent attribute as it is
}

var (
	settingType  = reflect.TypeFor[Setting]()
	durationType = reflect.TypeFor[time.Duration]()
)

// attributeOf returns the kind of a field.
func attributeOf(f reflect.StructField) (kind, error) {
	t := tags{f.Tag, f.Tag.Get("hcl"), nil}
	t.name, _, _ = strings.Cut(t.name, ",")
	k := t.kindOf(f.Type)
	if unset, given := f.Tag.Lookup("unset"); given {
		k.unset = markdown(unset)
	}
	if accepts, given := f.Tag.Lookup("accepts"); given {
		k.values.Accepts = markdown(accepts)
	}
	switch {
	case t.err != nil:
		return kind{}, t.err
	case k.read == nil:
		return kind{}, fmt.Errorf("has type %s, which no attribute has", f.Type)
	case k.values.Accepts == "":
		return kind{}, fmt.Errorf("has no accepts tag")
	}
	return k, nil
}

// tags are those of the field of an attribute.
type tags struct {
	reflect.StructTag
	name string
	err  error // the first mistake
}

func (t *tags) kindOf(typ reflect.Type) kind {
	if v, ok := reflect.New(typ).Interface().(Valued); ok {
		k := kind{values: v.Values(), read: func(Reader, reflect.Value) {}}
		if reflect.PointerTo(typ).Implements(settingType) {
			k.read = t.setting(typ).read
		}
		return k
	}
	switch {
	case reflect.PointerTo(typ).Implements(settingType):
		return t.setting(typ)
	case typ.Kind() == reflect.Pointer:
		return t.optional(typ.Elem())
	case typ == durationType && t.Get("format") == "days":
		return t.days()
	case typ == durationType:
		return t.duration()
	}
	switch typ.Kind() {
	case reflect.Bool:
		return t.boolean()
	case reflect.Uint32:
		return t.mode()
	case reflect.Int:
		return t.whole()
	case reflect.Float64:
		return t.fraction()
	case reflect.String:
		return t.text()
	case reflect.Slice:
		if typ.Elem().Kind() == reflect.String {
			return t.list()
		}
	case reflect.Map:
		if typ.Key().Kind() == reflect.String && typ.Elem().Kind() == reflect.String {
			return t.textMap()
		}
	}
	return kind{}
}

// setting is a Setting.
func (t *tags) setting(typ reflect.Type) kind {
	k := kind{values: Texts("")}
	words := list(t.Get("words"))
	switch {
	case typ.Kind() == reflect.Slice && len(words) > 0:
		k.values = WordLists(words...)
	case typ.Kind() == reflect.Slice:
		k.values = TextLists("")
	case len(words) > 0 && t.Get("accepts") == "":
		k.values, k.unset = Words(words...), CodeText(words[0])
	case len(words) > 0:
		k.values = wordsOr("", words...)
	case typ.Kind() == reflect.Map:
		k.values = textMaps("")
	case typ.Kind() == reflect.Struct:
		k.values = Objects
	}
	k.read = func(r Reader, into reflect.Value) { into.Addr().Interface().(Setting).ReadSetting(r, t.name) }
	return k
}

// optional is a pointer: nil for an absent attribute, and for a wrong value.
func (t *tags) optional(typ reflect.Type) kind {
	k := t.kindOf(typ)
	read := k.read
	k.unset, k.start = "", nil
	k.read = func(r Reader, into reflect.Value) {
		if !r.IsSet(t.name) {
			return
		}
		into.Set(reflect.New(typ))
		before := r.state.errors
		if read(r, into.Elem()); r.state.errors > before || !r.IsRead(t.name) {
			into.SetZero()
		}
	}
	return k
}

// boolean is true or false, or one of two words.
func (t *tags) boolean() kind {
	if words := list(t.Get("words")); len(words) == 2 {
		return kind{values: Words(words...), unset: CodeText(words[0]), read: func(r Reader, into reflect.Value) {
			into.SetBool(r.Choice(t.name, words...) == words[1])
		}}
	}
	unset := t.Get("default") == "true"
	return kind{
		values: Booleans,
		unset:  fmt.Sprintf("`%t`", unset),
		start:  func(into reflect.Value) { into.SetBool(unset) },
		read:   func(r Reader, into reflect.Value) { into.SetBool(r.Boolean(t.name, into.Bool())) },
	}
}

// integer returns a kind of whole numbers.
func (t *tags) integer(values Values, unset int, read func(r Reader, unset int) int) kind {
	k := kind{values: values, read: func(r Reader, into reflect.Value) { into.SetInt(int64(read(r, int(into.Int())))) }}
	if t.has("default") {
		k.unset, k.start = t.markdown(values), func(into reflect.Value) { into.SetInt(int64(unset)) }
	}
	return k
}

// whole is a whole number, or a number of bytes.
func (t *tags) whole() kind {
	if t.Get("format") == "size" {
		unset, least, most := t.size("default"), t.size("min"), t.size("max")
		return t.integer(sizes(least, most), unset, func(r Reader, unset int) int {
			return r.size(t.name, unset, least, most)
		})
	}
	unset, least, most := t.number("default"), t.number("min"), t.number("max")
	return t.integer(integers(least, most), unset, func(r Reader, unset int) int {
		return r.integer(t.name, unset, least, most)
	})
}

// fraction is a number from 0 to max.
func (t *tags) fraction() kind {
	unset, most := float64(t.number("default")), float64(t.number("max"))
	k := kind{values: Numbers(most), read: func(r Reader, into reflect.Value) {
		into.SetFloat(r.Number(t.name, into.Float(), most))
	}}
	if t.has("default") {
		k.unset, k.start = t.markdown(k.values), func(into reflect.Value) { into.SetFloat(unset) }
	}
	return k
}

// duration is a duration of at most max. With min:"0s" it may be zero.
func (t *tags) duration() kind {
	unset, most := t.time("default"), t.time("max")
	return t.integer(durations(most), int(unset), func(r Reader, unset int) int {
		if t.has("min") && isZeroDuration(r, t.name) {
			return 0
		}
		return int(r.Duration(t.name, time.Duration(unset), most))
	})
}

// days is a duration that may have the unit d.
func (t *tags) days() kind {
	unset, least, most := t.time("default"), t.time("min"), t.time("max")
	return t.integer(Texts(""), int(unset), func(r Reader, unset int) int {
		return int(r.days(t.name, time.Duration(unset), least, most))
	})
}

// mode is the mode of a file, one of several words in octal.
func (t *tags) mode() kind {
	words := list(t.Get("words"))
	octal := func(word string) uint64 {
		n, err := strconv.ParseUint(word, 8, 32)
		t.fail("words", err)
		return n
	}
	for _, word := range words {
		octal(word)
	}
	return kind{values: Words(words...), unset: CodeText(words[0]), read: func(r Reader, into reflect.Value) {
		into.SetUint(octal(r.Choice(t.name, words...)))
	}}
}

// text is one of several words, a path or another text.
func (t *tags) text() kind {
	if words := list(t.Get("words")); len(words) > 0 {
		return kind{values: Words(words...), unset: CodeText(words[0]), read: func(r Reader, into reflect.Value) {
			into.SetString(r.Choice(t.name, words...))
		}}
	}
	k := kind{values: Texts("")}
	if t.Get("format") == "path" {
		k.values = Texts("a path")
	}
	read := t.textReader()
	k.read = func(r Reader, into reflect.Value) { into.SetString(read(r, t.name, into.String())) }
	if t.has("default") {
		unset := t.Get("default")
		k.unset, k.start = t.markdown(k.values), func(into reflect.Value) { into.SetString(unset) }
	}
	return k
}

// textReader returns what reads a text or a path.
func (t *tags) textReader() func(r Reader, name, unset string) string {
	path, open := t.Get("format") == "path", t.Get("secret") == "true" || t.Get("input") == "true"
	switch {
	case t.Get("secret") == "late":
		return lateText
	case path && open:
		return inputPath
	case path:
		return pathOr
	case open:
		return secretText
	}
	return textOr
}

// list is a list of words, of secrets or of other texts.
func (t *tags) list() kind {
	words := list(t.Get("words"))
	switch {
	case t.Get("secret") == "true":
		return kind{values: TextLists(""), read: func(r Reader, into reflect.Value) {
			setList(into, secretTexts(r, t.name))
		}}
	case len(words) > 0:
		return kind{values: WordLists(words...), read: func(r Reader, into reflect.Value) {
			setList(into, wordList(r, t.name, words))
		}}
	}
	return kind{values: TextLists(""), read: func(r Reader, into reflect.Value) {
		setList(into, texts(r.Texts(t.name)))
	}}
}

// texts returns the texts of items, and nil for nil.
func texts(items []Item) (all []string) {
	if items != nil {
		all = []string{}
	}
	for _, e := range items {
		all = append(all, e.Text)
	}
	return all
}

// setList sets a field to a list that is set.
func setList(into reflect.Value, all []string) {
	if all != nil {
		into.Set(reflect.ValueOf(all).Convert(into.Type()))
	}
}

// textMap is a map of secrets by name.
func (t *tags) textMap() kind {
	return kind{values: textMaps(""), read: func(r Reader, into reflect.Value) {
		v, _, set := r.Value(t.name, cty.Map(cty.String))
		if !set {
			return
		}
		texts := map[string]string{}
		v, _ = v.UnmarkDeep()
		for name, e := range v.AsValueMap() {
			texts[name] = ""
			if !e.IsNull() {
				texts[name] = e.AsString()
			}
		}
		into.Set(reflect.ValueOf(texts).Convert(into.Type()))
	}}
}

// markdown returns the default as it is written in a configuration.
func (t *tags) markdown(values Values) string {
	if values.Schema["type"] == "string" {
		return CodeText(t.Get("default"))
	}
	return "`" + t.Get("default") + "`"
}

func (t *tags) has(tag string) bool {
	_, given := t.Lookup(tag)
	return given
}

func (t *tags) fail(tag string, err error) {
	if err != nil && t.err == nil {
		t.err = fmt.Errorf("tag %s: %w", tag, err)
	}
}

func (t *tags) number(tag string) int {
	text, given := t.Lookup(tag)
	if !given {
		return 0
	}
	n, err := strconv.Atoi(text)
	t.fail(tag, err)
	return n
}

func (t *tags) time(tag string) time.Duration {
	text, given := t.Lookup(tag)
	if !given {
		return 0
	}
	d, err := parseDays(text)
	t.fail(tag, err)
	return d
}

// size returns the number of bytes in a tag, or the largest size that an int can hold.
func (t *tags) size(tag string) int {
	text, given := t.Lookup(tag)
	if !given {
		return 0
	}
	for unit, bits := range map[string]int{"KiB": 10, "MiB": 20, "GiB": 30} {
		if digits, found := strings.CutSuffix(text, unit); found {
			n, err := strconv.ParseInt(digits, 10, 32)
			t.fail(tag, err)
			return int(min(n<<bits, int64(math.MaxInt)>>20<<20))
		}
	}
	t.fail(tag, fmt.Errorf("%q is no size", text))
	return 0
}
