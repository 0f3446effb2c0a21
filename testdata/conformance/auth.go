package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"
)

// browse is the argument that makes this program a browser for login pages. The
// suite's authorization servers consent at once, so the browser only follows
// redirects.
const browse = "browse"

// openPage fetches a page and follows its redirects.
func openPage(url string) error {
	client := http.Client{Timeout: 20 * time.Second}
	res, err := client.Get(url)
	if err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 1<<20))
	return res.Body.Close()
}

// clientMetadata is the URL of a client ID metadata document that the suite
// recognizes.
const clientMetadata = "https://conformance-test.local/client-metadata.json"

// told holds the values that the suite supplies for OAuth scenarios.
type told struct {
	ClientID     string `json:"client_id"`
	ClientSecret string `json:"client_secret"`
	PrivateKey   string `json:"private_key_pem"`
	Workload     string `json:"valid_jwt"`
}

// credentials returns the auth block for a scenario.
func credentials(scenario string) (string, error) {
	var t told
	if text := os.Getenv(contextVariable); text != "" {
		if err := json.Unmarshal([]byte(text), &t); err != nil {
			return "", fmt.Errorf("%s: %w", contextVariable, err)
		}
	}
	lines := []string{fmt.Sprintf("client_metadata_url = %q", clientMetadata)}
	switch {
	case strings.HasPrefix(scenario, "auth/client-credentials"):
		lines = []string{`grant = "client_credentials"`}
	case t.Workload != "":
		lines = []string{`grant = "jwt_bearer"`}
	}
	for _, a := range []struct{ name, value string }{
		{"client_id", t.ClientID}, {"client_secret", t.ClientSecret}, {"private_key", t.PrivateKey},
		{"subject_token", t.Workload},
	} {
		if a.value != "" {
			lines = append(lines, fmt.Sprintf("%s = %q", a.name, a.value))
		}
	}
	return "  auth \"oauth\" {\n    " + strings.Join(lines, "\n    ") + "\n  }\n", nil
}

// logins is the maximum number of logins for one command.
const logins = 4

// useWithLogin lists the tools and calls the only one. It logs in when junctor
// demands that.
func (u *user) useWithLogin() error {
	for _, args := range [][]string{{"tools"}, {"call", "test-tool"}} {
		for left := logins; ; left-- {
			err := u.run(nil, args...)
			if err == nil {
				break
			}
			if exit, ok := errors.AsType[*exec.ExitError](err); !ok ||
				exit.ExitCode() != credentialsNeeded || left == 0 {
				return err
			}
			if err := u.run(nil, "login", "it", "--callback-port", "0"); err != nil {
				return err
			}
		}
	}
	return nil
}

// credentialsNeeded is the exit status of junctor when a login is needed.
const credentialsNeeded = 4
