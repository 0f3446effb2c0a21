package language

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// fakeHost evaluates expressions without functions and names.
type fakeHost struct {
	problems []string
	revealed []string
}

func (h *fakeHost) Eval(_ string, e hclsyntax.Expression) (cty.Value, bool) {
	v, diags := e.Value(nil)
	return v, !diags.HasErrors()
}

func (h *fakeHost) Report(p Problem) {
	h.problems = append(h.problems, strings.TrimSuffix(p.Summary+"; "+p.Hint, "; "))
}

func (h *fakeHost) Settled(string, *hclsyntax.Attribute, cty.Value) bool { return true }
func (h *fakeHost) IsSkipped(hclsyntax.Expression) bool                  { return false }
func (h *fakeHost) IsLate(string) bool                                   { return false }
func (h *fakeHost) Path(_, path string) string                           { return "/dir/" + path }
func (h *fakeHost) Reveal(a *hclsyntax.Attribute)                        { h.revealed = append(h.revealed, a.Name) }
func (h *fakeHost) Conceal(string)                                       {}
func (h *fakeHost) Foreign(string, string, []string) string              { return "" }

type (
	kitchen struct {
		Name    string        `hcl:"name" accepts:"a name" doc:"The kitchen's name, such as 'blue'."`
		Doors   int           `hcl:"doors" default:"2" min:"1" max:"4" doc:"How many."`
		Size    int           `hcl:"size" format:"size" unset:"none" min:"1KiB" max:"1MiB" doc:"How large."`
		Heat    string        `hcl:"heat" words:"low,high" doc:"How hot."`
		Open    bool          `hcl:"open" doc:"Whether it is open."`
		Every   time.Duration `hcl:"every" default:"5m" max:"1h" doc:"How often."`
		Keep    time.Duration `hcl:"keep" format:"days" default:"2d" min:"1d" max:"9d" accepts:"days" doc:"How long."`
		Plan    string        `hcl:"plan" format:"path" unset:"none" doc:"A file."`
		Meals   []string      `hcl:"meals" words:"soup,salad" unset:"all" doc:"What is served."`
		Guests  *int          `hcl:"guests" min:"0" max:"9" doc:"How many at once."`
		Key     string        `hcl:"key,optional" secret:"true" accepts:"a text" conflicts:"guests" doc:"The key."`
		Near    bool          `hcl:"distance" words:"far,near" requires:"plan" doc:"How far."`
		private int

		Oven  oven   `hcl:"oven,block" doc:"The oven."`
		Sink  *sink  `hcl:"sink,block" doc:"The sink."`
		Shelf []sink `hcl:"shelf,block" doc:"Shelves."`
	}
	oven struct {
		Degrees float64 `hcl:"degrees" default:"180" max:"300" doc:"How hot."`
	}
	sink struct {
		Label string `hcl:"label,label"`
		Deep  bool   `hcl:"deep" default:"true" doc:"Whether it is deep."`
	}
)

func (k *kitchen) Validate(r Reader) {
	k.private++
	if k.Doors == 3 {
		r.ErrorAt(r.NameAt("doors"), "", "three doors are one too many")
	}
}

func decoded(t *testing.T, text string) (kitchen, *fakeHost) {
	t.Helper()
	file, diags := hclsyntax.ParseConfig([]byte("kitchen {\n"+text+"\n}"), "x.hcl", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	h := &fakeHost{}
	r := NewReader(file.Body.(*hclsyntax.Body).Blocks[0], "")
	r.Host = h
	var k kitchen
	Decode(r, &k)
	return k, h
}

func TestDecodeSetsDefaults(t *testing.T) {
	got, h := decoded(t, `name = "a"`)
	want := kitchen{
		Name:    "a",
		Doors:   2,
		Heat:    "low",
		Every:   5 * time.Minute,
		Keep:    48 * time.Hour,
		Oven:    oven{180},
		private: 1,
	}
	if !reflect.DeepEqual(got, want) || len(h.problems) > 0 {
		t.Errorf("%+v, problems %q", got, h.problems)
	}
}

func TestDecodeReadsEveryKind(t *testing.T) {
	got, h := decoded(t, `
		name = "a"
		doors = 4
		size = "2KiB"
		heat = "high"
		open = true
		every = "1s"
		keep = "3d"
		plan = "p"
		meals = ["soup"]
		key = "k"
		distance = "near"
		oven { degrees = 20.5 }
		sink "x" { deep = false }
		shelf "a" {}
		shelf "b" {}`)
	want := kitchen{
		Name:    "a",
		Doors:   4,
		Size:    2048,
		Heat:    "high",
		Open:    true,
		Every:   time.Second,
		Keep:    72 * time.Hour,
		Plan:    "/dir/p",
		Meals:   []string{"soup"},
		Key:     "k",
		Near:    true,
		Oven:    oven{20.5},
		Sink:    &sink{"x", false},
		Shelf:   []sink{{"a", true}, {"b", true}},
		private: 1,
	}
	if !reflect.DeepEqual(got, want) || len(h.problems) > 0 {
		t.Errorf("%+v, problems %q", got, h.problems)
	}
	if slices.Contains(h.revealed, "key") || !slices.Contains(h.revealed, "heat") {
		t.Errorf("revealed %q", h.revealed)
	}
	public := Public(&got, func(path string) string { return path[1:] })
	if public["plan"] != "dir/p" || public["key"] != nil || public["oven.degrees"] != 20.5 ||
		public["sink.deep"] != false {
		t.Errorf("public settings %v", public)
	}
}

func TestDecodeReportsWrongValues(t *testing.T) {
	for text, want := range map[string]string{
		"":                       `kitchen needs "name"; add name = ... to the block`,
		"doors = 3":              "three doors are one too many",
		"doors = 5":              `"doors" must be a whole number from 1 to 4`,
		`size = "2MiB"`:          `"size" must be at least 1KiB and at most 1MiB`,
		`heat = "hihg"`:          `"heat" must be one of "low", "high", not "hihg"; did you mean "high"?`,
		`every = "2h"`:           `"every" must be at most 1h`,
		`keep = "10d"`:           `"keep" must be at least 1d and at most 9d`,
		`plan = ""`:              `"plan" is empty`,
		`meals = ["x"]`:          `"meals" may list "soup", "salad", not "x"`,
		`meals = [1]`:            `"meals" may list "soup", "salad", not "1"`,
		"guests = 10":            `"guests" must be a whole number from 0 to 9`,
		"oven { degrees = -1 }":  `"degrees" must be a number from 0 to 300`,
		"oven = {}":              `"oven" is a block; write oven { ... }, without an equals sign`,
		"dors = 1":               `unknown attribute "dors"; did you mean "doors"?`,
		`distance = "far"`:       `"distance" needs "plan" beside it; add plan = ... to the block`,
		"guests = 1\nkey = \"\"": `"key" cannot be set together with "guests"; keep one of them`,
		"sink {}":                `a block "sink" needs a label; write sink "NAME" { ... }`,
	} {
		if text != "" {
			text += "\nname = \"a\""
		}
		if _, h := decoded(t, text); !slices.Equal(h.problems, []string{want}) {
			t.Errorf("%s: %q, want %q", text, h.problems, want)
		}
	}
}

func TestFormDescribesTheTags(t *testing.T) {
	f := FormOf[kitchen]()
	if f != FormOf[kitchen]() {
		t.Error("two forms of one block")
	}
	for name, want := range map[string][3]string{
		"name":  {"a name", "", "The kitchen's name, such as `blue`."},
		"doors": {"a whole number from 1 to 4", "`2`", "How many."},
		"size":  {"a size from `1KiB` to `1MiB`", "none", "How large."},
		"heat":  {"`\"low\"` or `\"high\"`", "`\"low\"`", "How hot."},
		"open":  {"`true` or `false`", "`false`", "Whether it is open."},
		"every": {"a duration, at most `1h`", "`\"5m\"`", "How often."},
		"keep":  {"days", "`\"2d\"`", "How long."},
		"plan":  {"a path", "none", "A file."},
	} {
		if e := f.Entry(name); e == nil || [3]string{e.Values.Accepts, e.Unset, e.Doc} != want {
			t.Errorf("%s: %+v", name, e)
		}
	}
	if e := f.Entry("name"); !e.Required || f.Entry("key").Required || !f.Entry("key").Private {
		t.Error("wrong members of entries")
	}
	if s := f.Blocks["sink"]; s.Labels != 1 || s.Many || !f.Blocks["shelf"].Many || s.Body != FormOf[sink]() {
		t.Errorf("wrong shapes: %+v", f.Blocks)
	}
}

func TestWrongTagsPanic(t *testing.T) {
	refused := func(name string, form func() *Form) {
		defer func() {
			if recover() == nil {
				t.Errorf("%s is accepted", name)
			}
		}()
		form()
	}
	refused("no doc", FormOf[struct {
		A bool `hcl:"a"`
	}])
	refused("unknown option", FormOf[struct {
		A bool `hcl:"a,maybe" doc:"A."`
	}])
	refused("no values", FormOf[struct {
		A string `hcl:"a" doc:"A."`
	}])
	refused("wrong limit", FormOf[struct {
		A int `hcl:"a" max:"x" doc:"A."`
	}])
	refused("wrong size", FormOf[struct {
		A int `hcl:"a" format:"size" max:"1" doc:"A."`
	}])
	refused("wrong type", FormOf[struct {
		A chan int `hcl:"a" doc:"A."`
	}])
}
