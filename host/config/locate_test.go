package config

import (
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/host/config/source"
)

func TestLocate(t *testing.T) {
	c, ds := loadText(t, `plugins {
  required = { kitchen = { source = "./kitchen" } }
}
locals {
  list = ["x"]
}
server "a" {
  transport "kitchen" {
    url      = "x"
    headers  = { Host = "x", "X-Other" = ("y") }
    features = concat(["a"], local.list)
    extra    = [1, { deep = [2, 3] }]
    tls {
      ca = "x"
    }
    rule "one" {
      max = 1
    }
    rule "two" {
      max  = 2
      tags = ["a", "b"]
    }
  }
}
`)
	if c == nil {
		t.Fatal(rendered(ds))
	}
	transport := c.Servers[0].Transport
	for path, want := range map[string]string{
		"":                     "8:3",
		"url":                  "9:5",
		`headers["Host"]`:      "10:25",
		"headers.Host":         "10:25",
		`headers["X-Other"]`:   "10:42",
		`headers["None"]`:      "10:16",
		"features":             "11:5",
		"features[1]":          "11:16",
		"extra[1].deep[1]":     "12:33",
		"extra[9]":             "12:16",
		"tls":                  "13:5",
		"tls.ca":               "14:7",
		"tls.pass":             "13:5",
		"rule[0].max":          "17:7",
		"rule[1].max":          "20:7",
		"rule[1].tags[1]":      "21:20",
		"rule[1]":              "19:5",
		"rule[7].max":          "8:3",
		"rule":                 "16:5",
		"token":                "8:3",
		"???":                  "8:3",
		`headers["unclosed`:    "10:5",
		"rule[99999999999999]": "16:5",
	} {
		if got := strings.TrimPrefix(transport.PositionOf(path).String(), "junctor.hcl:"); got != want {
			t.Errorf("%s is at %s, want %s", path, got, want)
		}
	}
	if got := (&Block{At: source.Position{File: "x", Line: 1, Column: 2}}).PositionOf("url"); got.String() != "x:1:2" {
		t.Error(got)
	}
}
