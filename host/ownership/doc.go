// Package ownership tells whether another user could change a file or a
// directory: who can change a configuration, a plugin or a socket directory runs
// programs as the user.
package ownership
