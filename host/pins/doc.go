// Package pins keeps the digests of the tool definitions that were accepted, in lock files
// beside the configuration.
package pins
