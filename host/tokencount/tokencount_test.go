package tokencount

import "testing"

func TestEstimate(t *testing.T) {
	for bytes, want := range map[int]int{0: 0, 1: 1, 4: 1, 5: 2, 8000: 2000} {
		if got := Estimate(bytes); got != want {
			t.Errorf("Estimate(%d) = %d, want %d", bytes, got, want)
		}
	}
	if got := Estimate(Bytes(MuchTool)); got != MuchTool {
		t.Errorf("Estimate(Bytes(%d)) = %d", MuchTool, got)
	}
}
