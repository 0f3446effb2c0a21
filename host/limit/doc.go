// Package limit bounds the memory for messages ([Memory]), the log lines about each
// source ([Lines]), quotas such as requests in flight ([Quota]), and the rate and the
// concurrency of the calls of each tool by each tenant, and of each principal ([Tools]).
//
// Package host makes the limits of a process; the gateway, the HTTP server, upstreams and
// queues share them. Lines, Memory, Quota and Tools may be used concurrently. Only
// Tools.Acquire waits. shares.go has what Quota and Memory have in common; bucket.go and
// member.go are the state of Tools, under its mu; processmemory.go sets the memory of the Go runtime.
//
// Files, from the top: tools.go, bucket.go, member.go, limiter.go, quota.go, memory.go, shares.go,
// processmemory.go, lines.go.
package limit
