package schema

import "github.com/junctor-mcp/junctor/host/suggest"

// didYouMean is "; did you mean …?" when one of the candidates is near.
func didYouMean(name string, candidates []string) string {
	if best := suggest.Nearest(name, candidates); best != "" {
		return "; did you mean " + quoteName(best) + "?"
	}
	return ""
}
