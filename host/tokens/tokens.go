// Package tokens estimates how much of a model's context a text takes.
package tokens

// bytesPerToken is how many bytes of text make one token. For tool definitions of four
// programs the tokenizers o200k_base and cl100k_base need one token for 4.3 to 4.6
// bytes, so that an estimate is 7 to 15 percent too high.
const bytesPerToken = 4

// Estimate returns about how many tokens so many bytes of text are.
func Estimate(bytes int) int { return (bytes + bytesPerToken - 1) / bytesPerToken }

// Bytes returns about how many bytes of text so many tokens are.
func Bytes(tokens int) int { return tokens * bytesPerToken }

const (
	// MuchTool and MuchServer are the tokens beyond which people are warned about
	// one tool and about all tools of a server.
	MuchTool   = 2_000
	MuchServer = 10_000
)
