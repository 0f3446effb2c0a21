package sdk_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
)

var update = flag.Bool("update", false, "rewrite golden files")

// every has one field of each kind that settings may have.
type every struct {
	Text     string                     `hcl:"text" doc:"A text."`
	Maybe    *string                    `hcl:"maybe" doc:"A text that may be left out."`
	Mode     string                     `hcl:"mode" doc:"One of several." enum:"fast,safe" default:"safe"`
	Flag     bool                       `hcl:"flag,optional" doc:"A flag."`
	On       *bool                      `hcl:"on" doc:"A flag that may be left out."`
	Small    int8                       `hcl:"small,optional" doc:"A small number."`
	Big      int64                      `hcl:"big,optional" doc:"A big number."`
	Count    uint16                     `hcl:"count" doc:"A number of things." default:"7"`
	Huge     uint64                     `hcl:"huge,optional" doc:"A huge number."`
	Ratio    float64                    `hcl:"ratio" doc:"A ratio." default:"0.5"`
	Coarse   float32                    `hcl:"coarse,optional" doc:"A coarse ratio."`
	Wait     time.Duration              `hcl:"wait" doc:"How long." default:"30s"`
	Waits    []time.Duration            `hcl:"waits,optional" doc:"How long, several times."`
	Words    []string                   `hcl:"words" doc:"Words." default:"[\"a\",\"b\"]"`
	Env      []string                   `hcl:"env,optional" doc:"Names of variables." format:"env_names"`
	Headers  map[string]string          `hcl:"headers,optional" doc:"Headers." sensitive:"true"`
	Limits   map[string]int             `hcl:"limits,optional" doc:"Limits."`
	Table    map[string][]int           `hcl:"table,optional" doc:"Numbers."`
	Any      json.RawMessage            `hcl:"any,optional" doc:"Anything."`
	Anything map[string]json.RawMessage `hcl:"anything,optional" doc:"Anything by name."`
	Old      string                     `hcl:"old,optional" doc:"The old way." deprecated:"use text" conflicts:"new" requires:"flag"`
	New      string                     `hcl:"new,optional" doc:"The new way."`
	Quoted   string                     `hcl:"quoted" doc:"Hard to quote." default:"a\"b\\c\u0007\u00e9\U0001F600<"`

	Retry *retry `hcl:"retry,block" doc:"How to retry."`
	Must  must   `hcl:"must,block" doc:"What must stand."`
	Peers []peer `hcl:"peer,block" doc:"Others."`

	unexported string //lint:ignore U1000 fields without a tag are no settings
}

type retry struct {
	Max   int           `hcl:"max" doc:"How often."`
	Delay time.Duration `hcl:"delay" doc:"How long between." default:"1s"`
}

type must struct {
	Name string `hcl:"name" doc:"A name."`
	Deep *retry `hcl:"deep,block" doc:"Deeper."`
}

type peer struct {
	Name string `hcl:"name,label" doc:"Who."`
	Port uint16 `hcl:"port" doc:"Where." default:"80"`
}

func TestSchemaOf(t *testing.T) {
	schema := sdk.SchemaOf[every]()
	got, err := json.MarshalIndent(schema, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	golden := filepath.Join("testdata", "every.golden")
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("the schema differs from the golden file; run with -update if that is intended\n%s", got)
	}

	if a := schema.Attribute("mode"); a == nil || a.Required || len(a.Enum) != 2 {
		t.Errorf("mode is %+v", a)
	}
	if b := schema.Block("peer"); b == nil || !b.List || b.Label != "name" || b.Need {
		t.Errorf("peer is %+v", b)
	}
	if schema.Attribute("peer") != nil || schema.Block("mode") != nil {
		t.Error("attributes and blocks are mixed up")
	}
}

type endless struct {
	Next *endless `hcl:"next,block" doc:"And so on."`
}

func TestSchemaOfRefuses(t *testing.T) {
	type inner struct {
		Name string `hcl:"name,label" doc:"d"`
	}
	for _, c := range []struct {
		name string
		of   func() sdk.Schema
		want string
	}{
		{"not a struct", sdk.SchemaOf[int], "not a struct"},
		{"no tag", sdk.SchemaOf[struct{ A string }], "no hcl tag"},
		{"no doc", sdk.SchemaOf[struct {
			A string `hcl:"a"`
		}], "no doc tag"},
		{"unknown option", sdk.SchemaOf[struct {
			A string `hcl:"a,remain" doc:"d"`
		}], `"remain" is not known`},
		{"not a name", sdk.SchemaOf[struct {
			A string `hcl:"a b" doc:"d"`
		}], `"a b" cannot be the name`},
		{"twice", sdk.SchemaOf[struct {
			A string `hcl:"a" doc:"d"`
			B string `hcl:"a" doc:"d"`
		}], `two settings "a"`},
		{"channel", sdk.SchemaOf[struct {
			A chan int `hcl:"a" doc:"d"`
		}], "chan int"},
		{"struct without block", sdk.SchemaOf[struct {
			A retry `hcl:"a" doc:"d"`
		}], "which settings cannot have"},
		{"pointers in a list", sdk.SchemaOf[struct {
			A []*string `hcl:"a" doc:"d"`
		}], "which settings cannot have"},
		{"keys that are not strings", sdk.SchemaOf[struct {
			A map[int]string `hcl:"a" doc:"d"`
		}], "keys must be strings"},
		{"interface", sdk.SchemaOf[struct {
			A any `hcl:"a" doc:"d"`
		}], "which settings cannot have"},
		{"default is not JSON", sdk.SchemaOf[struct {
			A []string `hcl:"a" doc:"d" default:"x"`
		}], "not JSON"},
		{"default does not fit", sdk.SchemaOf[struct {
			A uint8 `hcl:"a" doc:"d" default:"256"`
		}], "fits"},
		{"default is not a duration", sdk.SchemaOf[struct {
			A time.Duration `hcl:"a" doc:"d" default:"soon"`
		}], "must be a duration"},
		{"default outside the enum", sdk.SchemaOf[struct {
			A string `hcl:"a" doc:"d" default:"z" enum:"x,y"`
		}], "enum lacks"},
		{"enum of numbers", sdk.SchemaOf[struct {
			A int `hcl:"a" doc:"d" enum:"1,2"`
		}], "not a string"},
		{"sensitive, perhaps", sdk.SchemaOf[struct {
			A string `hcl:"a" doc:"d" sensitive:"yes"`
		}], `sensitive:"yes"`},
		{"conflict with nothing", sdk.SchemaOf[struct {
			A string `hcl:"a,optional" doc:"d" conflicts:"b"`
		}], `names "b"`},
		{"needs itself", sdk.SchemaOf[struct {
			A string `hcl:"a,optional" doc:"d" requires:"a"`
		}], `names "a"`},
		{"names that are no list", sdk.SchemaOf[struct {
			A string `hcl:"a" doc:"d" format:"env_names"`
		}], "env_names"},
		{"files that are a list", sdk.SchemaOf[struct {
			A []string `hcl:"a" doc:"d" format:"watched_file"`
		}], "watched_file"},
		{"headers that are a list", sdk.SchemaOf[struct {
			A []string `hcl:"a" doc:"d" format:"headers"`
		}], "headers"},
		{"a name of a header that is a map", sdk.SchemaOf[struct {
			A map[string]string `hcl:"a" doc:"d" format:"header_name"`
		}], "header_name"},
		{"label at the top", sdk.SchemaOf[inner], "named already"},
		{"label in a single block", sdk.SchemaOf[struct {
			A inner `hcl:"a,block" doc:"d"`
		}], "stand only once"},
		{"label that is a number", sdk.SchemaOf[struct {
			A []struct {
				N int `hcl:"n,label" doc:"d"`
			} `hcl:"a,block" doc:"d"`
		}], "one string field"},
		{"two labels", sdk.SchemaOf[struct {
			A []struct {
				N string `hcl:"n,label" doc:"d"`
				M string `hcl:"m,label" doc:"d"`
			} `hcl:"a,block" doc:"d"`
		}], "one string field"},
		{"label and setting", sdk.SchemaOf[struct {
			A []struct {
				N string `hcl:"n,label" doc:"d"`
				M string `hcl:"n" doc:"d"`
			} `hcl:"a,block" doc:"d"`
		}], "a label and a setting"},
		{"block of numbers", sdk.SchemaOf[struct {
			A []int `hcl:"a,block" doc:"d"`
		}], "not a struct"},
		{"block in itself", sdk.SchemaOf[endless], "contains itself"},
		{"inside a block", sdk.SchemaOf[struct {
			A []struct {
				N string `hcl:"n"`
			} `hcl:"a,block" doc:"d"`
		}], "no doc tag"},
	} {
		t.Run(c.name, func(t *testing.T) {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, c.want) {
					t.Errorf("got %q, want %q", got, c.want)
				}
			}()
			c.of()
		})
	}
}
