package main

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/host/audit"
)

// TestShowHasEveryField: junctor audit show prints all fields that a row can have.
func TestShowHasEveryField(t *testing.T) {
	for f := range reflect.TypeFor[audit.Row]().Fields() {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); !slices.Contains(auditFields, name) {
			t.Errorf("show leaves out %q", name)
		}
	}
}
