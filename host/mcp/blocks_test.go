package mcp

import "testing"

// TestPlain checks which results are not looked at again before clients get them.
func TestPlain(t *testing.T) {
	plain := map[string]string{
		`{"content":[]}`: "content",
		`{"isError":true,"content":[{"type":"text","text":"a"},{"mimeType":"b","data":"QQ==","type":"image"}],"structuredContent":{"content":[1]},"_meta":{}}`: "content",
		`{"x":null,"content":[{"text":"[{","type":"text"}],"y":[[{}]]}`:                                                                                        "content",
		`{"contents":[{"uri":"file:///a","text":"b","mimeType":"c"},{"blob":"QUJD","uri":"x:y"}]}`:                                                             "contents",
	}
	for result, member := range plain {
		if !NamesOf([]byte(result)).Plain(member) {
			t.Errorf("%s is not plain", result)
		}
	}
	for _, result := range []string{
		`{}`, `[]`, `"x"`, `null`, `{"contents":[]}`, `{"content":{}}`, `{"content":null}`, `{"content":"x"}`,
		`{"content":["x"]}`, `{"content":[[]]}`,
		`{"content":[{}]}`, `{"content":[{"type":"text"}]}`, `{"content":[{"text":"a"}]}`,
		`{"content":[{"type":"text","text":1}]}`, `{"content":[{"type":"text","text":"a"},{"type":"x"}]}`,
		`{"content":[{"type":"text","text":"a","annotations":{}}]}`,
		`{"content":[{"type":"audio","data":"a","mimeType":"b"}]}`,
		`{"content":[{"type":"resource_link","uri":"a:b"}]}`,
		`{"content":[{"type":"image","data":"a"}]}`, `{"content":[{"t\u0079pe":"text","text":"a"}]}`,
		`{"content":[],"isError":null}`, `{"content":[],"structuredContent":[]}`,
		`{"content":[],"_meta":null}`, `{"content":[],"isErr\u006fr":null}`, `{"cont\u0065nt":[{}],"x":1}`,
		`{"content":[{"type":"text","text":"a"},7]}`,
		`{"content":[{"type":"image","data":"a","mimeType":"b"},{"type":"text"}]}`,
		`{"content":[{"type":"image","data":"QQ","mimeType":"b"}]}`,
		`{"content":[{"type":"image","data":"QU_D","mimeType":"b"}]}`,
		`{"content":[{"type":"image","data":"Q===","mimeType":"b"}]}`,
		`{"content":[{"type":"image","data":"data:b;base64,QUJD","mimeType":"b"}]}`,
		`{"content":[{"type":"image","data":"QUJD\\n","mimeType":"b"}]}`,
		`{"content":[{"type":"image","data":"QQ==QUJD","mimeType":"b"}]}`,
	} {
		if NamesOf([]byte(result)).Plain("content") {
			t.Errorf("%s is plain", result)
		}
	}
	for _, result := range []string{
		`{"contents":[{"text":"a"}]}`, `{"contents":[{"uri":"a","text":"b"}]}`,
		`{"contents":[{"uri":"http://","text":"b"}]}`, `{"contents":[{"uri":"x:y"}]}`,
		`{"contents":[{"uri":"x:y","text":{}}]}`, `{"contents":[{"uri":1,"text":"a"}]}`,
		`{"contents":[{"uri":":x","text":"a"}]}`, `{"contents":[{"uri":"","text":"a"}]}`,
		`{"contents":[{"uri":"x:y","blob":"QU-D"}]}`, `{"contents":[{"uri":"x:y","blob":"zz!"}]}`,
	} {
		if NamesOf([]byte(result)).Plain("contents") {
			t.Errorf("%s is plain", result)
		}
	}
}
