package languageserver

import "encoding/json"

// This file has the parts of the Language Server Protocol 3.17 that the server uses.

type initializeParams struct {
	Capabilities struct {
		TextDocument struct {
			Completion struct {
				CompletionItem struct {
					SnippetSupport bool `json:"snippetSupport"`
				} `json:"completionItem"`
			} `json:"completion"`
		} `json:"textDocument"`
	} `json:"capabilities"`
}

type initializeResult struct {
	Capabilities capabilities `json:"capabilities"`
	ServerInfo   serverInfo   `json:"serverInfo"`
}

type serverInfo struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

type capabilities struct {
	PositionEncoding   string            `json:"positionEncoding"`
	TextDocumentSync   syncOptions       `json:"textDocumentSync"`
	CompletionProvider completionOptions `json:"completionProvider"`
	HoverProvider      bool              `json:"hoverProvider"`
	DefinitionProvider bool              `json:"definitionProvider"`
}

type completionOptions struct {
	TriggerCharacters []string `json:"triggerCharacters"`
}

const incremental = 2 // a kind of synchronization

type syncOptions struct {
	OpenClose bool `json:"openClose"`
	Change    int  `json:"change"`
	Save      bool `json:"save"`
}

type documentID struct {
	URI     string `json:"uri"`
	Version int    `json:"version"`
}

type documentItem struct {
	URI     string `json:"uri"`
	Version int    `json:"version"`
	Text    string `json:"text"`
}

type openParams struct {
	TextDocument documentItem `json:"textDocument"`
}

type changeParams struct {
	TextDocument   documentID `json:"textDocument"`
	ContentChanges []change   `json:"contentChanges"`
}

// A change replaces a part of a text, or all of it if Range is nil.
type change struct {
	Range *span  `json:"range"`
	Text  string `json:"text"`
}

type positionParams struct {
	TextDocument documentID `json:"textDocument"`
	Position     position   `json:"position"`
}

type completionList struct {
	IsIncomplete bool             `json:"isIncomplete"`
	Items        []completionItem `json:"items"`
}

type completionItem struct {
	Label            string         `json:"label"`
	Kind             completionKind `json:"kind"`
	Detail           string         `json:"detail,omitempty"`
	Documentation    *markup        `json:"documentation,omitempty"`
	InsertTextFormat int            `json:"insertTextFormat"`
	TextEdit         edit           `json:"textEdit"`
}

// A completionKind says what a completion is, for its symbol in the editor.
type completionKind int

// The kinds of completions.
const (
	completesFunction  completionKind = 3
	completesBlock     completionKind = 9
	completesAttribute completionKind = 10
	completesValue     completionKind = 12
	completesName      completionKind = 18
)

// The formats of the text of a completion.
const (
	formatPlain   = 1
	formatSnippet = 2
)

type markup struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

// markdown is a text in Markdown.
func markdown(text string) *markup { return &markup{Kind: "markdown", Value: text} }

type edit struct {
	Range   span   `json:"range"`
	NewText string `json:"newText"`
}

type hover struct {
	Contents *markup `json:"contents"`
	Range    span    `json:"range"`
}

type location struct {
	URI   string `json:"uri"`
	Range span   `json:"range"`
}

type documentParams struct {
	TextDocument documentID `json:"textDocument"`
}

type cancelParams struct {
	ID json.RawMessage `json:"id"`
}

type publishParams struct {
	URI         string       `json:"uri"`
	Version     *int         `json:"version,omitempty"`
	Diagnostics []diagnostic `json:"diagnostics"`
}

// The severities of diagnostics.
const (
	severityError   = 1
	severityWarning = 2
)

type diagnostic struct {
	Range    span   `json:"range"`
	Severity int    `json:"severity"`
	Code     string `json:"code,omitempty"`
	Source   string `json:"source"`
	Message  string `json:"message"`
}
