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
	unset  string // Markdown
	read   func(r Reader, into reflect.Value)
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
	values := WordsOr("", t.words()...)
	if typ.Kind() == reflect.Slice {
		values = TextLists("")
	}
	return kind{values, "", func(r Reader, into reflect.Value) {
		into.Addr().Interface().(Setting).ReadSetting(r, t.name)
	}}
}

// optional is a pointer: nil for an absent attribute.
func (t *tags) optional(typ reflect.Type) kind {
	k := t.kindOf(typ)
	read := k.read
	k.unset = ""
	k.read = func(r Reader, into reflect.Value) {
		if r.IsSet(t.name) {
			into.Set(reflect.New(typ))
			read(r, into.Elem())
		}
	}
	return k
}

func (t *tags) boolean() kind {
	unset := t.Get("default") == "true"
	return kind{Booleans, fmt.Sprintf("`%t`", unset), func(r Reader, into reflect.Value) {
		into.SetBool(r.Boolean(t.name, unset))
	}}
}

// whole is a whole number, or a number of bytes.
func (t *tags) whole() kind {
	if t.Get("format") == "size" {
		unset, least, most := t.size("default"), t.size("min"), t.size("max")
		return kind{Sizes(least, most), t.unset(SizeText(unset)), func(r Reader, into reflect.Value) {
			into.SetInt(int64(r.Size(t.name, unset, least, most)))
		}}
	}
	unset, least, most := t.number("default"), t.number("min"), t.number("max")
	k := kind{values: Integers(least, most)}
	if text, given := t.Lookup("default"); given {
		k.unset = "`" + text + "`"
	}
	k.read = func(r Reader, into reflect.Value) { into.SetInt(int64(r.Integer(t.name, unset, least, most))) }
	return k
}

// fraction is a number from 0 to max.
func (t *tags) fraction() kind {
	unset, most := float64(t.number("default")), float64(t.number("max"))
	k := kind{values: Numbers(most)}
	if text, given := t.Lookup("default"); given {
		k.unset = "`" + text + "`"
	}
	k.read = func(r Reader, into reflect.Value) { into.SetFloat(r.Number(t.name, unset, most)) }
	return k
}

func (t *tags) duration() kind {
	unset, most := t.time("default"), t.time("max")
	return kind{Durations(most), t.unset(ShortDuration(unset)), func(r Reader, into reflect.Value) {
		into.SetInt(int64(r.Duration(t.name, unset, most)))
	}}
}

// days is a duration that may have the unit d.
func (t *tags) days() kind {
	unset, least, most := t.time("default"), t.time("min"), t.time("max")
	return kind{Texts(""), t.unset(DaysText(unset)), func(r Reader, into reflect.Value) {
		into.SetInt(int64(r.Days(t.name, unset, least, most)))
	}}
}

// text is one of several words, a path or another text.
func (t *tags) text() kind {
	if words := t.words(); len(words) > 0 {
		return kind{Words(words...), CodeText(words[0]), func(r Reader, into reflect.Value) {
			into.SetString(r.Choice(t.name, words...))
		}}
	}
	read := Reader.textOr
	open := t.Get("secret") == "true" || t.Get("input") == "true"
	switch {
	case t.Get("format") == "path" && open:
		read = Reader.inputPath
	case t.Get("format") == "path":
		read = Reader.pathOr
	case open:
		read = Reader.secretText
	}
	values := Texts("")
	if t.Get("format") == "path" {
		values = Texts("a path")
	}
	unset := t.Get("default")
	return kind{values, t.unset(unset), func(r Reader, into reflect.Value) {
		into.SetString(read(r, t.name, unset))
	}}
}

// list is a list of words, of secrets or of other texts.
func (t *tags) list() kind {
	words := t.words()
	switch {
	case t.Get("secret") == "true":
		return kind{TextLists(""), "", func(r Reader, into reflect.Value) {
			into.Set(reflect.ValueOf(r.secretTexts(t.name)).Convert(into.Type()))
		}}
	case len(words) > 0:
		return kind{WordLists(words...), "", func(r Reader, into reflect.Value) {
			into.Set(reflect.ValueOf(r.words(t.name, words)).Convert(into.Type()))
		}}
	}
	return kind{TextLists(""), "", func(r Reader, into reflect.Value) {
		var texts []string
		if items := r.Texts(t.name); items != nil {
			texts = []string{}
			for _, e := range items {
				texts = append(texts, e.Text)
			}
		}
		into.Set(reflect.ValueOf(texts).Convert(into.Type()))
	}}
}

// textMap is a map of secrets by name.
func (t *tags) textMap() kind {
	return kind{TextMaps(""), "", func(r Reader, into reflect.Value) {
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

func (t *tags) words() []string {
	if all := t.Get("words"); all != "" {
		return strings.Split(all, ",")
	}
	return nil
}

// unset returns a default in Markdown, or "" without one.
func (t *tags) unset(text string) string {
	if _, given := t.Lookup("default"); !given {
		return ""
	}
	return CodeText(text)
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
