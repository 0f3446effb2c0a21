package plugintest

import (
	"context"

	"github.com/junctor-mcp/junctor/sdk"
)

// refusing are services that are not granted. They keep no state.
type refusing struct{}

var errNotGranted = sdk.Errorf(sdk.Unimplemented, "the case has no Host, so it grants no services")

func (refusing) Secret(context.Context, string) ([]byte, bool, error) {
	return nil, false, errNotGranted
}

func (refusing) SetSecret(context.Context, string, []byte, string) error { return errNotGranted }

func (refusing) DeleteSecret(context.Context, string) error { return errNotGranted }

func (refusing) OpenURL(context.Context, string, string) error { return errNotGranted }

func (refusing) Prompt(context.Context, sdk.Prompt) (map[string]string, error) {
	return nil, errNotGranted
}

func (refusing) Callback(context.Context, string) (sdk.Callback, error) { return nil, errNotGranted }

func (refusing) Authorize(context.Context, sdk.AuthRequest) (sdk.Credential, error) {
	return sdk.Credential{}, errNotGranted
}

func (refusing) Challenge(context.Context, sdk.Challenge) (sdk.ChallengeResult, error) {
	return sdk.ChallengeResult{}, errNotGranted
}

func (refusing) Event(context.Context, string, string) error { return errNotGranted }
