package fault

import "strings"

// authPlugin begins the reasons of AuthPluginReason.
const authPlugin = "auth_plugin"

// AuthPluginReason returns the reason of an SDK error for a fault of an auth provider's plugin.
// The error passes through the transport's plugin, so the reason holds the code and the name.
func AuthPluginReason(f *Error) string {
	if f.Plugin == "" || !strings.HasPrefix(string(f.Code), "plugin.") {
		return authPlugin
	}
	return strings.Join([]string{authPlugin, string(f.Code), f.Plugin}, ":")
}

// AuthPlugin returns the code and the plugin that a reason of AuthPluginReason holds. ok is
// false for other reasons.
func AuthPlugin(reason string) (code Code, plugin string, ok bool) {
	parts := strings.Split(reason, ":")
	if len(parts) != 3 || parts[0] != authPlugin || !strings.HasPrefix(parts[1], "plugin.") || !named(parts[2]) {
		return "", "", false
	}
	_, known := Codes[Code(parts[1])]
	return Code(parts[1]), parts[2], known
}

// named reports whether a text is the name of a plugin: a plugin of a transport may say anything.
func named(text string) bool {
	return text != "" && len(text) <= 64 &&
		strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == ""
}
