package terminal

import "testing"

// TestProgressOfCalls: progress is shown behind the name of what is called.
func TestProgressOfCalls(t *testing.T) {
	for params, want := range map[string]string{
		`{"progress":2,"total":8,"message":"copying"}`: "calling a__b: 2 of 8 (25%), copying",
		`{"progress":2,"total":8}`:                     "calling a__b: 2 of 8 (25%)",
		`{"progress":7}`:                               "calling a__b: 7",
		`{"progress":0.5,"message":"half\nway"}`:       "calling a__b: 0.5, half …",
		`{"progress":"x"}`:                             "calling a__b",
		`[]`:                                           "calling a__b",
	} {
		s := &Spinner{what: "calling a__b", text: "calling a__b"}
		s.Progress([]byte(params))
		if s.text != want {
			t.Errorf("%s: %q, want %q", params, s.text, want)
		}
	}
}
