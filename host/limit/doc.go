// Package limit bounds the memory for messages ([Memory]), the log lines about each
// source ([Lines]), quotas such as requests in flight ([Quota]), and the rate and the
// concurrency of the calls of each tool by each tenant, and of each principal ([Tools]).
//
// Files, from the top: tools.go, bucket.go, member.go, limiter.go, quota.go, memory.go, shares.go,
// process.go, lines.go.
package limit
