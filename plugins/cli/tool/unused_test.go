package tool

import (
	"errors"
	"testing"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
	"github.com/junctor-mcp/junctor/sdk"
)

// TestUnused checks that a pattern for options that matches nothing is an
// error.
func TestUnused(t *testing.T) {
	p := &model.Program{Name: "p", Root: &model.Command{Commands: []*model.Command{{Path: []string{"a"}, Runnable: true, Options: []model.Option{
		{Names: []string{"--output", "-o"}}, {Names: []string{"--name"}, Inherited: true},
	}}}}}
	for _, c := range []struct {
		o    Options
		path string // of the error; empty if there is none
	}{
		{Options{Omit: []string{"--output", "o", "out*", "name"}, Globals: []string{"na*"}}, ""},
		{Options{Omit: []string{"--output", "--outptu"}}, "omit[1]"},
		{Options{Globals: []string{"output"}}, "globals[0]"},
		{Options{Omit: []string{"--output json"}}, "omit[0]"},
		{Options{}, ""},
	} {
		err := c.o.Unused(p)
		e, failed := errors.AsType[*sdk.Error](err)
		if failed != (c.path != "") || failed && e.Path != c.path {
			t.Errorf("%+v: %v", c.o, err)
		}
	}
}
