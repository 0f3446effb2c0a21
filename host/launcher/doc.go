// Package launcher knows programs that install an MCP server before they start
// it, such as npx, uvx and docker: which command lines use one, and what the
// errors mean that one prints when its cache is broken.
package launcher
