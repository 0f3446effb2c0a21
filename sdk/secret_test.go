package sdk_test

import (
	"context"
	"errors"
	"testing"

	"github.com/junctor-mcp/junctor/sdk"
)

type place struct {
	Path string `hcl:"path" doc:"Where the secrets are."`
}

func (p *place) Validate() error {
	if p.Path[0] != '/' {
		return sdk.AttrErrorf("path", "must begin with a slash")
	}
	return nil
}

// TestSecretStore checks that a vault is not opened with settings that the
// schema or Validate rejects.
func TestSecretStore(t *testing.T) {
	absent := errors.New("absent")
	opened := ""
	store := sdk.NewSecretStore(func(_ context.Context, s *sdk.StoreServer, p *place) (sdk.Vault, error) {
		opened = s.Dir + p.Path
		return nil, absent
	})
	if s := store.Schema(); s.Attribute("path") == nil || !s.Attribute("path").Required {
		t.Errorf("schema %+v", s)
	}
	for _, c := range []struct{ settings, path string }{
		{`{}`, "path"}, {``, "path"}, {`{"path":"x"}`, "path"}, {`{"path":["/x"]}`, "path"},
		{`{"path":"/x","other":1}`, "other"}, {`[]`, ""},
	} {
		for what, err := range map[string]error{
			"validate": store.Validate(t.Context(), []byte(c.settings)),
			"open":     errOf(store.Open(t.Context(), &sdk.StoreServer{}, []byte(c.settings))),
		} {
			if e, ok := errors.AsType[*sdk.Error](err); !ok || e.Code != sdk.Invalid || e.Path != c.path {
				t.Errorf("%s %s: %v", what, c.settings, err)
			}
		}
	}
	if opened != "" {
		t.Errorf("opened %q", opened)
	}
	settings := []byte(`{"path":"/x"}`)
	if err := store.Validate(t.Context(), settings); err != nil {
		t.Error(err)
	}
	if _, err := store.Open(t.Context(), &sdk.StoreServer{Dir: "/d"}, settings); err != absent || opened != "/d/x" {
		t.Errorf("opened %q, %v", opened, err)
	}
}

func errOf[T any](_ T, err error) error { return err }

// TestSecretStorePanics checks that settings that cannot be described cause a
// panic.
func TestSecretStorePanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a channel was described")
		}
	}()
	sdk.NewSecretStore(func(context.Context, *sdk.StoreServer, *struct {
		C chan int `hcl:"c" doc:"No."`
	}) (sdk.Vault, error) {
		return nil, nil
	})
}
