// Package limit bounds what is used: the memory that messages take and the log
// lines of one source, for the whole process, and requests by principal and tool.
package limit
