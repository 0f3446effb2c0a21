// Package limit holds the limits that the whole process shares: the memory that
// messages may take, and the log lines that one source may write.
package limit
