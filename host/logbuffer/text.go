package logbuffer

import (
	"encoding/json"
	"fmt"
)

// Text returns the value of a field as text. It is "" for a field that does not apply.
func Text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case nil:
		return "null"
	}
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}
