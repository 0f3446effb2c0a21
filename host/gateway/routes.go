package gateway

import (
	"context"

	"github.com/junctor-mcp/junctor/host/mcp"
)

// A route is how requests of one method are served. It is immutable. Its functions run on the
// goroutine of the request.
type route struct {
	// resolve finds the item that a request is about, and sets item.
	// nil: requests of the method are about none.
	resolve func(ctx context.Context, u *use) error
	// validate compares a permitted request with the item's definition; nil: there is nothing to compare.
	validate func(ctx context.Context, u *use) error
	// serve does what the request asks for.
	serve handler

	// login sends the user to log in where a login is all that a request lacks.
	login bool
	// immediate requests do not wait, and are in effect before the client's next message is read.
	immediate      bool
	legacy, modern bool // part of one era only
}

// routes holds every method that the gateway serves. Only init writes it.
var routes map[string]route

func init() { // routes refer to each other
	routes = map[string]route{
		mcp.MethodInitialize:   {serve: answered(initialize), immediate: true, legacy: true},
		mcp.MethodDiscover:     {serve: answered(discover), immediate: true, modern: true},
		mcp.MethodPing:         {serve: answered(ping), immediate: true, legacy: true},
		mcp.MethodSetLevel:     {serve: answered(setLevel), immediate: true, legacy: true},
		mcp.MethodListTools:    {serve: listTools},
		mcp.MethodListRes:      {serve: listResources},
		mcp.MethodListTempl:    {serve: listTemplates},
		mcp.MethodListPrompts:  {serve: listPrompts},
		mcp.MethodCallTool:     {resolve: resolveTool, validate: validateCall, serve: relay, login: true},
		mcp.MethodGetPrompt:    {resolve: resolvePrompt, validate: validatePrompt, serve: relay, login: true},
		mcp.MethodReadResource: {resolve: resolveResource, serve: relay, login: true},
		mcp.MethodComplete:     {resolve: resolveReference, serve: complete},
		mcp.MethodSubscribe:    {resolve: resolveResource, serve: subscribe, legacy: true},
		mcp.MethodUnsubscribe:  {serve: answered(unsubscribe), legacy: true},
		mcp.MethodListen:       {serve: listenRequest, modern: true},
		mcp.MethodGetTask:      {resolve: resolveTask, serve: relay, modern: true},
		mcp.MethodUpdateTask:   {resolve: resolveTask, serve: relay, modern: true},
		mcp.MethodCancelTask:   {resolve: resolveTask, serve: relay, modern: true},
	}
}

// answered makes a handler of what the gateway answers by itself, without waiting.
func answered(answer func(*use) ([]byte, error)) handler {
	return func(_ context.Context, u *use) (response, error) {
		result, err := answer(u)
		return response{result: result}, err
	}
}
