//go:build !linux

package doctor

// ReadLimits returns nothing: the limits of this system are not known.
func ReadLimits() Limits { return Limits{} }
