package discover

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	answersPrefix = "answers-"
	maxUnfinished = 16       // number of programs whose answers are kept
	maxAnswers    = 8192     // number of answers of one program
	maxAnswer     = 1 << 20  // bytes of one answer file
	maxAllAnswers = 64 << 20 // bytes of all answer files of one program

	// maxLate is how often a question may time out. After that the missing
	// answer is final.
	maxLate = 3
)

// An answer is what a program printed when it was asked. It is not changed once it is stored.
type answer struct {
	stdout, stderr string // as plain text
	status         int    // exit status; -1 if the program was killed
	late, long     bool   // the program was killed at its timeout, or for the size of its output
	failed         error  // the program could not be started, or ctx was done
	took           time.Duration
	settled        bool // it was late so often that it is not asked again
}

// An answerStore keeps the answers of one program on disk, one file each, until
// the discovery has finished. A discovery that was cut off reads them and
// continues. Several processes may use one store at a time: files are written
// atomically, and equal questions have equal answers.
type answerStore struct {
	cache cache
	dir   string // below the cache directory; empty keeps no answers

	mu    sync.Mutex
	files int   // guarded by mu
	bytes int64 // guarded by mu
}

// A keptAnswer is the content of one file. It contains its question, so that a
// file with a wrong name is ignored.
type keptAnswer struct {
	Question string `json:"question"`
	Stdout   string `json:"stdout,omitempty"`
	Stderr   string `json:"stderr,omitempty"`
	Status   int    `json:"status"`
	Long     bool   `json:"long,omitempty"`
	Late     int    `json:"late,omitempty"` // how often the question timed out
	Took     int64  `json:"took_ms"`
}

// openAnswers opens the store of a program. The key changes with anything that
// the answers depend on. Without a cache directory the store keeps nothing.
func openAnswers(c cache, key string) *answerStore {
	s := &answerStore{cache: c}
	if c.dir == "" {
		return s
	}
	s.dir = answersPrefix + key
	entries, _ := os.ReadDir(filepath.Join(c.dir, s.dir))
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			s.files++
			s.bytes += info.Size()
		}
	}
	return s
}

// load returns the answer to a question and how often it timed out. known is
// false if the program has to be asked.
func (s *answerStore) load(question string) (a answer, late int, known bool) {
	kept, ok := s.read(question)
	if !ok {
		return answer{}, 0, false
	}
	a = answer{stdout: kept.Stdout, stderr: kept.Stderr, status: kept.Status, long: kept.Long, late: kept.Late > 0,
		settled: kept.Late >= maxLate, took: time.Duration(kept.Took) * time.Millisecond}
	return a, kept.Late, kept.Late == 0 || kept.Late >= maxLate
}

// read reads an answer file and validates its content.
func (s *answerStore) read(question string) (kept keptAnswer, ok bool) {
	if s.dir == "" {
		return keptAnswer{}, false
	}
	text, ok := s.cache.readAtMost(s.name(question), maxAnswer)
	if !ok {
		return keptAnswer{}, false
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&kept); err != nil || d.More() || kept.Question != question || kept.Late < 0 || kept.Took < 0 {
		return keptAnswer{}, false
	}
	return kept, true
}

// store writes an answer, within the limits of the store. late is how often the
// question timed out before.
func (s *answerStore) store(question string, a answer, late int) {
	if s.dir == "" || a.failed != nil {
		return
	}
	kept := keptAnswer{Question: question, Stdout: a.stdout, Stderr: a.stderr, Status: a.status, Long: a.long,
		Took: a.took.Milliseconds()}
	if a.late {
		kept.Late = late + 1
	}
	text, err := json.Marshal(kept)
	if err != nil || len(text) > maxAnswer || !s.reserve(len(text)) {
		return
	}
	s.cache.write(s.name(question), text)
}

// reserve counts one more file, or returns false if it exceeds a limit.
func (s *answerStore) reserve(size int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.files >= maxAnswers || s.bytes+int64(size) > maxAllAnswers {
		return false
	}
	s.files++
	s.bytes += int64(size)
	return true
}

func (s *answerStore) name(question string) string {
	sum := sha256.Sum256([]byte(question))
	return filepath.Join(s.dir, hex.EncodeToString(sum[:])+".json")
}

// remove deletes the store after the result has been cached.
func (s *answerStore) remove() {
	if s.dir != "" {
		_ = os.RemoveAll(filepath.Join(s.cache.dir, s.dir))
	}
}

// trimAnswers removes the least recently used stores beyond maxUnfinished. A
// discovery that still uses one asks its questions again.
func (c cache) trimAnswers() {
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return
	}
	var stores []fs.FileInfo
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.IsDir() && strings.HasPrefix(e.Name(), answersPrefix) {
			stores = append(stores, info)
		}
	}
	slices.SortFunc(stores, func(a, b fs.FileInfo) int {
		return cmp.Or(b.ModTime().Compare(a.ModTime()), strings.Compare(a.Name(), b.Name()))
	})
	for _, info := range stores[min(len(stores), maxUnfinished):] {
		_ = os.RemoveAll(filepath.Join(c.dir, info.Name()))
	}
}
