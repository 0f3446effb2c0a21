// Package limit bounds the memory for messages ([Memory]), the log lines about each
// source ([Lines]) and quotas such as requests in flight ([Quota]).
//
// It also defines limits by principal and tool ([Limiter]). So far their only
// implementation, [Unlimited], has no limits.
package limit
