package clientconfig

import "github.com/pelletier/go-toml/v2/unstable"

// maxTOMLKeys is the maximum number of keys and tables in a TOML file. The library compares
// each key with all others of its table, which takes quadratic time.
const maxTOMLKeys = 10_000

// checkTOMLKeys refuses a file with too many keys and tables. It takes linear time, and leaves
// mistakes in the syntax to the library. Call it before the library parses a text.
func checkTOMLKeys(body []byte) error {
	var p unstable.Parser
	p.Reset(body)
	left, end := maxTOMLKeys, 0
	for p.NextExpression() {
		e := p.Expression()
		for key := e.Key(); key.Next(); {
			end = int(key.Node().Raw.Offset)
		}
		if left -= keysIn(e, left); left < 0 {
			return syntax(body, end, "more than %d keys and tables", maxTOMLKeys)
		}
	}
	return nil
}

// keysIn counts the keys and tables of an expression, and of the inline tables in it. It stops
// beyond most.
func keysIn(n *unstable.Node, most int) (count int) {
	if n.Kind == unstable.KeyValue || n.Kind == unstable.Table || n.Kind == unstable.ArrayTable {
		count = 1
	}
	for inner := n.Children(); count <= most && inner.Next(); {
		count += keysIn(inner.Node(), most-count)
	}
	return count
}
