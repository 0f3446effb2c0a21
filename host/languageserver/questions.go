package languageserver

import (
	"context"
	"encoding/json"
	"path/filepath"

	"go.lsp.dev/jsonrpc2"
)

// A question is about a place in a document.
type question struct {
	document *document
	offset   int
	texts    map[string][]byte // of the configuration, by path
	view     *view
}

// ask reads the parameters of a question. The question is nil for a document that is too
// large or is no configuration.
func (s *server) ask(params json.RawMessage) (*question, error) {
	var p positionParams
	if err := decode(params, &p); err != nil {
		return nil, err
	}
	d := s.documents.get(p.TextDocument.URI)
	switch {
	case d == nil:
		return nil, jsonrpc2.NewError(jsonrpc2.InvalidParams, "the document is not open")
	case d.tooLarge, !isConfiguration(d.path):
		return nil, nil
	}
	q := &question{document: d, offset: offsetOf(d.text, p.Position), texts: map[string][]byte{d.path: d.text}}
	if dir := filepath.Dir(d.path); s.options.Directory != "" && dir == s.options.Directory {
		q.texts = textsAt(dir, s.documents.texts(dir))
	}
	q.view = newView(q.texts, s.options.Describe)
	return q, nil
}

func (s *server) completion(params json.RawMessage) (func(ctx context.Context) any, error) {
	q, err := s.ask(params)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	snippets := s.snippets
	s.mu.Unlock()
	return func(ctx context.Context) any {
		list := completionList{Items: []completionItem{}}
		if q == nil {
			return list
		}
		for _, c := range q.view.complete(ctx, q.document.path, q.offset) {
			item := completionItem{Label: c.label, Kind: c.kind, Detail: c.detail, InsertTextFormat: formatPlain,
				TextEdit: edit{Range: spanOf(q.document.text, c.from, c.to), NewText: c.text}}
			if c.doc != "" {
				item.Documentation = markdown(c.doc)
			}
			if snippets && c.snippet != "" {
				item.InsertTextFormat, item.TextEdit.NewText = formatSnippet, c.snippet
			}
			list.Items = append(list.Items, item)
		}
		return list
	}, nil
}

func (s *server) hover(params json.RawMessage) (func(ctx context.Context) any, error) {
	q, err := s.ask(params)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) any {
		if q == nil {
			return nil
		}
		text, at, ok := q.view.hover(ctx, q.document.path, q.offset)
		if !ok {
			return nil
		}
		return hover{Contents: markdown(text), Range: spanOf(q.document.text, at.from, at.to)}
	}, nil
}

func (s *server) definition(params json.RawMessage) (func(ctx context.Context) any, error) {
	q, err := s.ask(params)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) any {
		locations := []location{}
		if q == nil {
			return locations
		}
		for _, at := range q.view.definition(ctx, q.document.path, q.offset) {
			found := spanOf(q.texts[at.path], at.from, at.to)
			locations = append(locations, location{URI: s.uris(at.path, q.document), Range: found})
		}
		return locations
	}, nil
}
