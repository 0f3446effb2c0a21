package run

import (
	"os/exec"
	"testing"
	"time"
)

// BenchmarkTrue runs a program that does nothing, with this package and with
// package os/exec alone.
func BenchmarkTrue(b *testing.B) {
	path, err := exec.LookPath("true")
	if err != nil {
		b.Skip(err)
	}
	b.Run("run", func(b *testing.B) {
		for b.Loop() {
			if _, err := Run(b.Context(), Command{Path: path, Args: []string{"true"}, Timeout: time.Minute,
				MaxOutput: 1 << 20, MaxStderr: 8 << 10}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("exec", func(b *testing.B) {
		for b.Loop() {
			if _, err := exec.Command(path).CombinedOutput(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
