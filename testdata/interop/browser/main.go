// Command browser imitates a browser whose user agrees to everything. It opens
// a URL and submits the first form of every page until a page has none.
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

// pagesMost is the maximum number of pages of a login.
const pagesMost = 20

// answers holds the user's input by field. Other fields keep their values.
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
	return fmt.Errorf("%s has more than %d pages", address, pagesMost)
}

// form returns the first form of a page. fields is nil if there is none.
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
		for field := range page.Descendants() { // some pages have the fields outside the form
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
