package control

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestAnswersLeaveAnEmptyInstanceOut: the process that answers seldom knows by which name it was
// asked. The member is there when it is known.
func TestAnswersLeaveAnEmptyInstanceOut(t *testing.T) {
	for _, named := range []any{
		&Restarted{Instance: "7"}, &LogLevel{Instance: "7"}, &Approval{Instance: "7"}, &Status{Instance: "7"},
		&Reloaded{Instance: "7"},
		&LoginPage{Instance: "7"}, &LoginDone{Instance: "7"}, &Approvals{Approvals: []Approval{{Instance: "7"}}},
	} {
		text, err := json.Marshal(named)
		if err != nil || !strings.Contains(string(text), `"instance":"7"`) {
			t.Errorf("%T: %s, %v", named, text, err)
		}
		if err := json.Unmarshal([]byte(strings.ReplaceAll(string(text), `"instance":"7"`, `"instance":""`)),
			named); err != nil {
			t.Fatal(err)
		}
		if text, err = json.Marshal(named); err != nil || strings.Contains(string(text), `"instance"`) {
			t.Errorf("%T: %s, %v", named, text, err)
		}
	}
}
