package secret

import (
	"os"
	"path/filepath"
)

// A notice is what a person was told about the store that is in use. It is kept
// beside the stamps, so that the next command does not say the same again. Only
// one that was of consequence is kept: where the other store does not work
// either, the person has to hear both, each time.
const noticeFile = "notice"

// tell warns of a store that was passed over, unless the person knows.
func (k *Keeper) tell(msg, hint string) {
	if k.opts.Warn == nil {
		return
	}
	if k.opts.Once && k.opts.Stamps != "" {
		mark := digest(msg)
		if k.readStamp(noticeFile) == mark {
			return
		}
		k.untold.Store(&mark)
	}
	k.opts.Warn(msg, hint)
}

// worked takes note that a store answered, for the first time or not.
func (k *Keeper) worked(i int) {
	first := k.settled.Swap(int32(i+1)) == 0
	if mark := k.untold.Swap(nil); mark != nil {
		k.writeStamp(noticeFile, *mark)
	}
	if first && i == 0 && k.opts.Once && k.opts.Stamps != "" {
		_ = os.Remove(filepath.Join(k.opts.Stamps, noticeFile)) // it is news when it does not work any more
	}
}
