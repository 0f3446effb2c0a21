// Package limit bounds usage: the memory for messages ([Memory]) and the log lines
// of one source ([Lines]) for the whole process, quotas of which one client may use
// at most half ([Quota]), and requests by principal and tool ([Limiter]).
package limit
