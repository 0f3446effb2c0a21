package login

import (
	"fmt"
	"net/url"
	"strings"
)

// A Hint says how to authenticate to a well-known service.
type Hint struct {
	Service string // its name
	Advice  string // what is needed, in one or two sentences
	Page    string // where to get a token or to register; may be empty
	Auth    string // the block for the configuration
}

// String returns the advice and the page on one line.
func (h Hint) String() string {
	if h.Page == "" {
		return fmt.Sprintf("%s: %s", h.Service, h.Advice)
	}
	return fmt.Sprintf("%s: %s See %s", h.Service, h.Advice, h.Page)
}

const oauthBlock = `auth "oauth" { }`

// bearer returns a block that reads a token from a variable.
func bearer(variable, more string) string {
	return fmt.Sprintf("auth \"bearer\" {\n  token = env(%q)%s\n}", variable, more)
}

var (
	honeycomb = Hint{"Honeycomb", "Log in with OAuth. If that is not possible, a team owner creates a management key with the permission Model Context Protocol; " +
		"the token is KEY_ID:SECRET.", "https://docs.honeycomb.io/integrations/mcp/configuration-guide", oauthBlock}
	github = Hint{"GitHub", "Its server does not register clients: create a fine-grained personal access token with the permissions that are needed, " +
		"or register your own OAuth app and set its client_id.",
		"https://github.com/settings/personal-access-tokens/new", bearer("GITHUB_TOKEN", "")}
	sentry = Hint{"Sentry", "Log in with OAuth.", "https://docs.sentry.io/product/sentry-mcp/", oauthBlock}
	linear = Hint{"Linear", "Log in with OAuth, or create an API key under Settings, Security & access.",
		"https://linear.app/settings/account/security", oauthBlock}
	notion = Hint{"Notion", "Log in with OAuth: the hosted server takes no integration tokens.",
		"https://developers.notion.com/docs/mcp", oauthBlock}
	slack = Hint{"Slack", "Its server does not register clients: create a Slack app, have it approved for the workspace, and set its client_id and client_secret.",
		"https://api.slack.com/apps",
		"auth \"oauth\" {\n  client_id     = \"…\"\n  client_secret = env(\"SLACK_CLIENT_SECRET\")\n}"}
	grafana = Hint{"Grafana",
		"Log in with OAuth to the server of Grafana Cloud. A self-hosted server takes the token of a service account.",
		"https://grafana.com/docs/grafana-cloud/machine-learning/assistant/configure/cloud-mcp/", oauthBlock}
	gitlab = Hint{"GitLab", "Log in with OAuth. The group or instance must allow its beta features.",
		"https://docs.gitlab.com/user/gitlab_duo/model_context_protocol/mcp_server/", oauthBlock}
	jira = Hint{"Jira and Confluence", "Log in with OAuth. An API token works if an administrator allows it.",
		"https://id.atlassian.com/manage-profile/security/api-tokens", oauthBlock}
	cloudflare = Hint{"Cloudflare",
		"Log in with OAuth, or create an API token with the permissions that the server needs.",
		"https://dash.cloudflare.com/profile/api-tokens", oauthBlock}
	datadog = Hint{"Datadog", "Log in with OAuth. If that is not possible, put an API key and an application key into the transport's headers.",
		"https://docs.datadoghq.com/bits_ai/mcp_server/setup/", oauthBlock}
	pagerduty = Hint{"PagerDuty", "Create a user API token under My Profile, User Settings, API Access.",
		"https://support.pagerduty.com/main/docs/api-access-keys", bearer("PAGERDUTY_TOKEN", "\n  scheme = \"Token\"")}
)

// services maps hosts to hints. Only exact matches count, since anybody can own a name
// with the same suffix.
var services = map[string]*Hint{
	"mcp.honeycomb.io":     &honeycomb,
	"mcp.eu1.honeycomb.io": &honeycomb,

	"api.githubcopilot.com": &github,

	"mcp.sentry.dev": &sentry,

	"mcp.linear.app": &linear,

	"mcp.notion.com": &notion,

	"mcp.slack.com": &slack,

	"mcp.grafana.com": &grafana,

	"gitlab.com": &gitlab,

	"mcp.atlassian.com": &jira,

	"mcp.cloudflare.com":               &cloudflare,
	"docs.mcp.cloudflare.com":          &cloudflare,
	"bindings.mcp.cloudflare.com":      &cloudflare,
	"builds.mcp.cloudflare.com":        &cloudflare,
	"observability.mcp.cloudflare.com": &cloudflare,
	"radar.mcp.cloudflare.com":         &cloudflare,
	"containers.mcp.cloudflare.com":    &cloudflare,
	"browser.mcp.cloudflare.com":       &cloudflare,
	"logs.mcp.cloudflare.com":          &cloudflare,
	"ai-gateway.mcp.cloudflare.com":    &cloudflare,
	"autorag.mcp.cloudflare.com":       &cloudflare,
	"auditlogs.mcp.cloudflare.com":     &cloudflare,
	"dns-analytics.mcp.cloudflare.com": &cloudflare,
	"dex.mcp.cloudflare.com":           &cloudflare,
	"casb.mcp.cloudflare.com":          &cloudflare,
	"graphql.mcp.cloudflare.com":       &cloudflare,

	"mcp.datadoghq.com":     &datadog,
	"mcp.us3.datadoghq.com": &datadog,
	"mcp.us5.datadoghq.com": &datadog,
	"mcp.datadoghq.eu":      &datadog,
	"mcp.ap1.datadoghq.com": &datadog,
	"mcp.ap2.datadoghq.com": &datadog,

	"mcp.pagerduty.com":    &pagerduty,
	"mcp.eu.pagerduty.com": &pagerduty,
}

// HintFor returns the hint for the service at an address.
func HintFor(server string) (Hint, bool) {
	u, err := url.Parse(server)
	if err != nil || u.Scheme != "https" {
		return Hint{}, false
	}
	h, ok := services[strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")]
	if !ok || u.Port() != "" && u.Port() != "443" {
		return Hint{}, false
	}
	return *h, true
}
