package fault

import "time"

// A Document is the JSON form of an error. Fields are only added.
type Document struct {
	Code       Code     `json:"code"`
	Message    string   `json:"message"`
	Server     string   `json:"server,omitempty"`
	Plugin     string   `json:"plugin,omitempty"`
	At         string   `json:"at,omitempty"`
	Output     []string `json:"output,omitempty"`
	Hint       string   `json:"hint,omitempty"`
	RetryAfter int64    `json:"retry_after_ms,omitempty"`
	Timeout    int64    `json:"timeout_ms,omitempty"`
}

// Document returns the JSON form of the fault. Path and Err are not part of it.
func (e *Error) Document() *Document {
	return &Document{
		Code: e.Code, Message: e.Message, Server: e.Server, Plugin: e.Plugin, At: e.At, Output: e.Output, Hint: e.Hint,
		RetryAfter: e.RetryAfter.Milliseconds(), Timeout: e.Timeout.Milliseconds(),
	}
}

// Fault returns the fault that the document describes.
func (d *Document) Fault() *Error {
	return &Error{
		Code: d.Code, Message: d.Message, Server: d.Server, Plugin: d.Plugin, At: d.At, Output: d.Output, Hint: d.Hint,
		RetryAfter: time.Duration(d.RetryAfter) * time.Millisecond,
		Timeout:    time.Duration(d.Timeout) * time.Millisecond,
	}
}

// Masked returns the document with texts that hide has replaced.
func (d *Document) Masked(hide func(string) string) *Document {
	masked := *d
	masked.Message, masked.Hint, masked.Output = hide(d.Message), hide(d.Hint), nil
	for _, line := range d.Output {
		masked.Output = append(masked.Output, hide(line))
	}
	return &masked
}
