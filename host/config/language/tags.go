package language

import (
	"fmt"
	"reflect"
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
//	hcl:"name,label"   label of the block
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
//	required:"rule"    the attribute is required, and Validate reports it
//
// A bool with two words is true for the second. The words of an [fs.FileMode] are in octal. With
// the tag unset, an embedded struct replaces those of its fields. A field called _ declares a
// nested block that another field reads.
//
// Attributes are string, bool, int, float64, time.Duration, fs.FileMode, []string, map[string]string, a
// pointer to one of them, which is nil for an absent attribute, or a [Setting]. Fields without
// the tag hcl are not part of the language. The fields of an embedded struct are part of the
// block around it.

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
	start  func(into reflect.Value)
	read   func(r Reader, into reflect.Value)
	needed bool // absence is reported
	secret bool
	path   bool

	conflicts, requires []string
}

var declarations sync.Map // of *declaration or the panic's text, by reflect.Type

// FormOf returns the form of the block that a struct declares. It panics if the tags are wrong,
// because that is a mistake in the program.
func FormOf[T any]() *Form { return &declarationOf(reflect.TypeFor[T]()).form }

// declarationOf returns the declaration of a struct, always the same one.
func declarationOf(t reflect.Type) *declaration {
	if known, ok := declarations.Load(t); ok {
		return known.(*declaration)
	}
	d := &declaration{form: Form{Blocks: map[string]Shape{}}}
	if err := d.add(t, nil, nil); err != nil {
		panic("language: " + t.String() + ": " + err.Error())
	}
	known, _ := declarations.LoadOrStore(t, d)
	return known.(*declaration)
}

// add adds the fields of a struct. within leads to the struct.
func (d *declaration) add(t reflect.Type, within []int, unset *string) error {
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
			if err := d.add(f.Type, index, inner); err != nil {
				return err
			}
			continue
		case !tagged:
			continue
		}
		name, option, _ := strings.Cut(tag, ",")
		one := field{index: index, name: name, option: option}
		if err := d.addField(f, one); err != nil {
			return fmt.Errorf("field %s: %w", f.Name, err)
		}
		if last := len(d.form.Entries) - 1; unset != nil && one.option != "block" {
			d.form.Entries[last].Unset = *unset
		}
	}
	return nil
}

func (d *declaration) addField(f reflect.StructField, one field) error {
	doc := markdown(f.Tag.Get("doc"))
	switch {
	case one.option == "label":
		d.fields = append(d.fields, one)
		return nil
	case doc == "":
		return fmt.Errorf("has no doc tag")
	case one.option == "block":
		d.form.Blocks[one.name] = shapeOf(f)
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
	_, hasDefault := f.Tag.Lookup("default")
	required := f.Tag.Get("required")
	absent := one.option == "" && !hasDefault && a.unset == "" && f.Type.Kind() != reflect.Pointer
	one.secret, one.path = f.Tag.Get("secret") != "", f.Tag.Get("format") == "path"
	one.conflicts, one.requires = list(f.Tag.Get("conflicts")), list(f.Tag.Get("requires"))
	one.start, one.read, one.needed, one.option = a.start, a.read, absent && required == "", ""
	d.fields = append(d.fields, one)
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
func shapeOf(f reflect.StructField) Shape {
	t, many := f.Type, false
	switch t.Kind() {
	case reflect.Pointer:
		t = t.Elem()
	case reflect.Slice:
		t, many = t.Elem(), true
	}
	s := Shape{Many: many, Doc: markdown(f.Tag.Get("doc")), Refers: f.Tag.Get("refers")}
	if k, ok := reflect.New(t).Interface().(Kinds); ok {
		s.Labels, s.Kinds = 1, k.Kinds()
		return s
	}
	inner := declarationOf(t)
	s.Body = &inner.form
	for _, one := range inner.fields {
		if one.option == "label" {
			s.Labels++
		}
	}
	return s
}
