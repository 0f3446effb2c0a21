package mcp

import (
	"bytes"
	"fmt"
	"testing"
)

func BenchmarkParse(b *testing.B) {
	result := func(text string) []byte {
		return []byte(`{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"` + text + `"}]}}`)
	}
	var tools bytes.Buffer
	tools.WriteString(`{"jsonrpc":"2.0","id":1,"result":{"tools":[{}`)
	for range 1000 {
		tools.WriteString(`,{"name":"search","description":"Search issues","inputSchema":{"type":"object","properties":{"owner":{"type":"string"},"page":{"type":"integer","minimum":1}},"required":["owner"]}}`)
	}
	tools.WriteString(`]}}`)
	var wide bytes.Buffer
	wide.WriteString(`{"jsonrpc":"2.0","id":1,"result":{"rows":[{}`)
	for range 1000 {
		wide.WriteString(`,{`)
		for i := range 30 {
			fmt.Fprintf(&wide, `"column%d":%d,`, i, i)
		}
		wide.WriteString(`"last":1}`)
	}
	wide.WriteString(`]}}`)
	for name, text := range map[string][]byte{
		"wide=1000":   wide.Bytes(),
		"result=200B": result(string(bytes.Repeat([]byte("x"), 200))),
		"result=1MiB": result(string(bytes.Repeat([]byte("lorem ipsum dolor sit amet, "), 1<<20/28))),
		"escaped=1MiB": result(string(bytes.Repeat(
			[]byte(`the \"quick\" brown fox jumps over the lazy dog, 0123456789\n`), 1<<20/62,
		))),
		"image=1MiB": []byte(
			`{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"image","mimeType":"image/png","data":"` +
				string(bytes.Repeat([]byte("iVBORw0KGgo+AAAA"), 1<<16)) + `"}]}}`,
		),
		"tools=1000": tools.Bytes(),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Parse(text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
