package schema

import (
	"fmt"
	"strings"
	"testing"
)

// toolSchema returns a typical schema with n properties.
func toolSchema(n int) string {
	kinds := []string{
		`{"type":"string","description":"The name of the owner.","minLength":1}`,
		`{"type":"integer","description":"How many.","minimum":1,"maximum":100,"default":30}`,
		`{"type":"boolean","description":"Whether drafts count."}`,
		`{"type":"array","items":{"type":"string"},"description":"The labels."}`,
		`{"anyOf":[{"type":"string","enum":["open","closed","all"]},{"type":"null"}],"default":null}`,
	}
	var properties []string
	for i := range n {
		properties = append(properties, fmt.Sprintf(`"p%d":%s`, i, kinds[i%len(kinds)]))
	}
	return `{"type":"object","properties":{` + strings.Join(properties, ",") +
		`},"required":["p0"],"additionalProperties":false}`
}

func BenchmarkCompile(b *testing.B) {
	for _, n := range []int{5, 50} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			raw := []byte(toolSchema(n))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Compile(raw); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkVet(b *testing.B) {
	raw := []byte(toolSchema(50))
	b.ReportAllocs()
	for b.Loop() {
		if err := vetError(raw); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCacheGet(b *testing.B) {
	c, raw := NewCache(0), []byte(toolSchema(50))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Get(raw); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	s := compile(b, toolSchema(5))
	for name, instance := range map[string]string{
		"small":   `{"p0":"octocat","p1":20,"p2":true,"p3":["bug","ui"],"p4":"open"}`,
		"library": `{"p0":"octo\u0063at","p1":20,"p2":true,"p3":["bug","ui"],"p4":"open"}`,
		"refused": `{"p0":"octocat","p1":200,"p2":true,"p3":["bug","ui"],"p5":"open"}`,
		"large":   `{"p0":"octocat","p3":[` + strings.Repeat(`"label",`, 100_000) + `"x"]}`,
	} {
		b.Run(name, func(b *testing.B) {
			raw := []byte(instance)
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				if problems := s.Check(raw); (problems != nil) != (name == "refused") {
					b.Fatal(problems)
				}
			}
		})
	}
}
