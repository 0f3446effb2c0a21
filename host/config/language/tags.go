package language

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// A block of the host declares itself: it is a struct with tags, which are those of the settings
// of plugins where both have the same meaning (see [sdk.SchemaOf]).
//
//	hcl:"name"         name of an attribute; ",optional" makes it optional without a default
//	hcl:"name,block"   nested block: a struct (the defaults if it is absent), a pointer to a
//	                   struct (nil if it is absent) or a slice of structs (repeated)
//	hcl:"name,label"   label of the block; several are in their order
//	doc:"…"            Markdown: the meaning; required. Here and in accepts and unset, quotes
//	                   such as 'x' stand for those of code
//	accepts:"…"        Markdown: the values, where the type does not tell them
//	default:"…"        the value of an absent attribute
//	unset:"…"          Markdown: the meaning of an absent attribute, in place of a default
//	words:"a,b"        allowed words; without default and unset, the first is the default
//	min:"…" max:"…"    bounds of a number, a size or a duration
//	format:"…"         of a text: path; of an int: size, such as "16MiB"; of a duration: days
//	secret:"true"      the value is never printed, and may come from env() and file();
//	                   secret:"late": from keyring() too
//	input:"true"       the value may come from env() and file()
//	refers:"…"         what the texts name: server, role or plugin
//	conflicts:"a,b"    attributes that exclude this one
//	requires:"a,b"     attributes that this one requires
//	reload:"…"         what a change does: connection, cache, view or none; see [Noticed]
//	in:"…"             a part of the block that has the attribute too; see below
//	required:"rule"    the attribute is required, and Validate reports it
//
// A bool with two words is true for the second. The words of an [fs.FileMode] are in octal. With
// the tag unset, an embedded struct replaces those of its fields; with the tag part, it has only
// the attributes with that word in their tag in. A field called _ declares an attribute or a
// nested block that something else reads.
//
// Attributes are string, bool, int, float64, time.Duration, fs.FileMode, []string, map[string]string, a
// pointer to one of them, which is nil for an absent attribute or a wrong value, or a [Setting]. Fields without
// the tag hcl are not part of the language. The fields of an embedded struct are part of the
// block around it.

// A Valued attribute says itself which values it has.
type Valued interface{ Values() Values }

// A Plugged block has a label that names a component of a plugin, to which the body belongs.
type Plugged interface{ Role() *Role }

// A Setting is an attribute with a grammar of its own. A pointer to the field implements it.
type Setting interface {
	// ReadSetting reads the attribute, and reports what is wrong with it. Of an absent attribute
	// it sets the default.
	ReadSetting(r Reader, name string)
}

// Kinds is a block with a label that says which attributes it has.
type Kinds interface {
	// Kinds returns the forms of the block by label.
	Kinds() map[string]*Form
}

// A Validator is a block with rules beyond those of single attributes.
type Validator interface {
	// Validate reports what is wrong. The fields are set; those with a wrong value, which is
	// reported already, have their default.
	Validate(r Reader)
}

// A declaration is what the tags of a struct say.
type declaration struct {
	form   Form
	fields []field
}

// A field is an attribute, a nested block or a label of a declaration.
type field struct {
	index  []int
	name   string
	option string // empty for an attribute, "block" or "label"
	entry  int    // the index of the entry of an attribute
	start  func(into reflect.Value)
	read   func(r Reader, into reflect.Value)
	needed bool // absence is reported
	secret bool
	path   bool

	conflicts, requires []string
}

// A declarationKey is a struct, or a part of one.
type declarationKey struct {
	of   reflect.Type
	part string // empty: all of it
}

var declarations sync.Map // of *declaration, by declarationKey

// FormOf returns the form of the block that a struct declares. It panics if the tags are wrong,
// because that is a mistake in the program.
func FormOf[T any]() *Form { return &declarationOf(reflect.TypeFor[T](), "").form }

// declarationOf returns the declaration of a struct, always the same one.
func declarationOf(t reflect.Type, part string) *declaration {
	key := declarationKey{t, part}
	if known, ok := declarations.Load(key); ok {
		return known.(*declaration)
	}
	d := &declaration{form: Form{Blocks: map[string]Shape{}}}
	if err := d.add(t, nil, nil, part); err != nil {
		panic("language: " + t.String() + ": " + err.Error())
	}
	known, _ := declarations.LoadOrStore(key, d)
	return known.(*declaration)
}

// add adds the fields of a struct. within leads to the struct.
func (d *declaration) add(t reflect.Type, within []int, unset *string, part string) error {
	for i := range t.NumField() {
		f := t.Field(i)
		index := append(append([]int(nil), within...), i)
		tag, tagged := f.Tag.Lookup("hcl")
		switch {
		case !tagged && f.Anonymous && f.Type.Kind() == reflect.Struct:
			inner := unset
			if text, given := f.Tag.Lookup("unset"); given {
				text = markdown(text)
				inner = &text
			}
			if err := d.add(f.Type, index, inner, cmp.Or(f.Tag.Get("part"), part)); err != nil {
				return err
			}
			continue
		case !tagged:
			continue
		}
		name, option, _ := strings.Cut(tag, ",")
		one := field{index: index, name: name, option: option}
		if part != "" && option != "block" && !slices.Contains(list(f.Tag.Get("in")), part) {
			continue
		}
		if err := d.addField(f, one, part); err != nil {
			return fmt.Errorf("field %s: %w", f.Name, err)
		}
		if last := len(d.form.Entries) - 1; unset != nil && one.option != "block" {
			d.form.Entries[last].Unset = *unset
		}
	}
	return nil
}

func (d *declaration) addField(f reflect.StructField, one field, part string) error {
	doc := markdown(f.Tag.Get("doc"))
	switch {
	case one.option == "label":
		d.fields = append(d.fields, one)
		return nil
	case doc == "":
		return fmt.Errorf("has no doc tag")
	case one.option == "block":
		shape := shapeOf(f, part)
		if part != "" && (shape.Body == nil || len(shape.Body.Entries) == 0) {
			return nil
		}
		d.form.Blocks[one.name] = shape
		if f.Name != "_" {
			d.fields = append(d.fields, one)
		}
		return nil
	case one.option != "" && one.option != "optional":
		return fmt.Errorf("hcl tag option %q is not known", one.option)
	}
	a, err := attributeOf(f)
	if err != nil {
		return err
	}
	if _, err := ReloadWords(f.Tag); err != nil {
		return err
	}
	_, hasDefault := f.Tag.Lookup("default")
	required := f.Tag.Get("required")
	absent := one.option == "" && !hasDefault && a.unset == "" && f.Type.Kind() != reflect.Pointer
	one.secret, one.path = f.Tag.Get("secret") != "", f.Tag.Get("format") == "path"
	one.conflicts, one.requires = list(f.Tag.Get("conflicts")), list(f.Tag.Get("requires"))
	one.start, one.read, one.needed, one.option = a.start, a.read, absent && required == "", ""
	one.entry = len(d.form.Entries)
	if f.Name != "_" {
		d.fields = append(d.fields, one)
	}
	d.form.Entries = append(d.form.Entries, Entry{
		Name:     one.name,
		Values:   a.values,
		Unset:    a.unset,
		Doc:      doc,
		Required: absent,
		Private:  one.secret,
		Refers:   f.Tag.Get("refers"),
	})
	return nil
}

// markdown returns the Markdown of a tag, in which 'x' stands for code, because a tag cannot have
// the quotes of code. A quote behind a letter or a digit is an apostrophe.
func markdown(text string) string {
	var b strings.Builder
	code, before := false, ' '
	for _, c := range text {
		switch {
		case c == '\'' && (code || !unicode.IsLetter(before) && !unicode.IsDigit(before)):
			code = !code
			b.WriteByte('`')
		default:
			b.WriteRune(c)
		}
		before = c
	}
	return b.String()
}

// list returns the words of a tag.
func list(tag string) []string {
	if tag == "" {
		return nil
	}
	return strings.Split(tag, ",")
}

// shapeOf returns the shape of a nested block.
func shapeOf(f reflect.StructField, part string) Shape {
	t, many := f.Type, false
	switch t.Kind() {
	case reflect.Pointer:
		t = t.Elem()
	case reflect.Slice:
		t, many = t.Elem(), true
	}
	s := Shape{Many: many, Doc: markdown(f.Tag.Get("doc")), Refers: f.Tag.Get("refers")}
	switch b := reflect.New(t).Interface().(type) {
	case Kinds:
		s.Labels, s.Kinds = 1, b.Kinds()
		return s
	case Plugged:
		s.Labels, s.Role = 1, b.Role()
		return s
	}
	inner := declarationOf(t, part)
	s.Body = &inner.form
	for _, one := range inner.fields {
		if one.option == "label" {
			s.Labels++
		}
	}
	return s
}
