// Package tokencount estimates how many tokens of a model's context a text uses.
package tokencount

// bytesPerToken is the estimated size of a token in bytes. The tokenizers
// o200k_base and cl100k_base average 4.3 to 4.6 bytes per token on the tool
// definitions of four programs. The estimate is therefore 7 to 15 percent high.
const bytesPerToken = 4

// Estimate returns the approximate number of tokens in a text of the given size.
func Estimate(bytes int) int { return (bytes + bytesPerToken - 1) / bytesPerToken }

// Bytes returns the approximate size of a text with the given number of tokens.
func Bytes(tokens int) int { return tokens * bytesPerToken }

const (
	// MuchTool is the number of tokens above which one tool causes a warning.
	// MuchServer is the same limit for all tools of a server.
	MuchTool   = 2_000
	MuchServer = 10_000
)
