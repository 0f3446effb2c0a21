// Command browser is a browser with a person in it who agrees to everything:
// it opens the page that it is given, fills in the first form of every page,
// and stops where there is none.
package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"strings"
	"time"

	"golang.org/x/net/html"
)

// pagesMost is how many pages a login may have.
const pagesMost = 20

// answers are what the person types; everything else stays as it is.
var answers = map[string]string{"login": "alice", "password": "in wonderland"}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: browser URL")
		os.Exit(2)
	}
	if err := browse(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "browser:", err)
		os.Exit(1)
	}
}

func browse(address string) error {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return err
	}
	client := &http.Client{Jar: jar, Timeout: 20 * time.Second}
	res, err := client.Get(address)
	for range pagesMost {
		if err != nil {
			return err
		}
		action, fields, err := form(res)
		if err != nil || fields == nil {
			return err
		}
		res, err = client.PostForm(action, fields)
		if err != nil {
			return err
		}
	}
	return fmt.Errorf("%s has no end", address)
}

// form reads the first form of a page; its fields are nil where there is none.
func form(res *http.Response) (action string, fields url.Values, err error) {
	defer res.Body.Close()
	page, err := html.Parse(io.LimitReader(res.Body, 1<<20))
	if err != nil {
		return "", nil, err
	}
	for n := range page.Descendants() {
		if n.Type != html.ElementNode || n.Data != "form" || !strings.EqualFold(attribute(n, "method"), "post") {
			continue
		}
		to, err := res.Request.URL.Parse(attribute(n, "action"))
		if err != nil {
			return "", nil, err
		}
		fields = url.Values{}
		for field := range page.Descendants() { // some forms have their fields elsewhere
			name := attribute(field, "name")
			if field.Data != "input" && field.Data != "button" || name == "" || name == "abort" {
				continue
			}
			fields.Set(name, attribute(field, "value"))
			if typed, ok := answers[name]; ok {
				fields.Set(name, typed)
			}
		}
		return to.String(), fields, nil
	}
	return "", nil, nil
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}
