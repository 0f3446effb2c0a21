package capture

import (
	"encoding/json"
	"testing"
)

func TestWithoutDefaults(t *testing.T) {
	for schema, want := range map[string]string{
		`{"type":"object","properties":{"a":{"default":"secret","type":"string"}}}`:   `{"properties":{"a":{"type":"string"}},"type":"object"}`,
		`{"allOf":[{"properties":{"a":{"default":{"b":"secret"}}}}],"maximum":1e400}`: `{"allOf":[{"properties":{"a":{}}}],"maximum":1e400}`,
	} {
		if got := string(withoutDefaults([]byte(schema))); got != want || !json.Valid([]byte(got)) {
			t.Errorf("%s: %s, want %s", schema, got, want)
		}
	}
}
