package sessionstore

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
)

// magic begins a session's file. Its last byte is the version of the format. Records follow,
// which are only appended: the length of a record's content and its checksum with 4 bytes
// each, and the content, which is the kind, the numbers of the kind and bytes.
const magic = "Junctor session\x01"

// Ends of the names of files: a session, and a file that is not whole yet.
const (
	fileSuffix = ".session"
	partSuffix = ".part"
)

// fileName returns the name of a session's file. It does not tell the id, which
// error messages and logs must not have.
func fileName(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:16]) + fileSuffix
}

// The kinds of records. The first record of a file is that of the owner.
const (
	recordOwner  = 'o' // time of birth in milliseconds, length of the session's id; the id and the owner
	recordHeads  = 'h' // last position, last number of a stream, last position of the forgotten streams
	recordState  = 's' // the state
	recordStream = 'r' // number, 1 if it has ended without an event, dropped, missed; the JSON-RPC id of the request
	recordForget = 'f' // number of a stream that the log has removed
	recordEvent  = 'e' // position, number of the stream, 1 for the last event; the data
)

// numbersOf is how many numbers a record of each kind has.
var numbersOf = map[byte]int{
	recordOwner: 2, recordHeads: 3, recordState: 0, recordStream: 4, recordForget: 1, recordEvent: 3,
}

const (
	frameSize   = 8
	contentSize = 1 + 4*binary.MaxVarintLen64 // the most before the bytes of a record
)

var (
	castagnoli = crc32.MakeTable(crc32.Castagnoli)

	// errTorn means that the write of the last record of a file was interrupted.
	errTorn = errors.New("the last record is not whole")
	// errDamaged means that a file is no session's file of this version, or damaged.
	errDamaged = errors.New("not a session's file that this version can read")
)

// writeRecord writes a record and returns its size. The error is that of w, which keeps it.
func writeRecord(w *bufio.Writer, kind byte, numbers []uint64, parts ...[]byte) int64 {
	var space [frameSize + contentSize]byte
	b := append(space[:frameSize], kind)
	for _, n := range numbers {
		b = binary.AppendUvarint(b, n)
	}
	length, sum := len(b)-frameSize, crc32.Checksum(b[frameSize:], castagnoli)
	for _, part := range parts {
		length += len(part)
		sum = crc32.Update(sum, castagnoli, part)
	}
	binary.BigEndian.PutUint32(b, uint32(length))
	binary.BigEndian.PutUint32(b[4:], sum)
	_, _ = w.Write(b)
	for _, part := range parts {
		_, _ = w.Write(part)
	}
	return int64(frameSize + length)
}

// A record is one record of a file. The functions of this file are pure but for the writer that
// they are given.
type record struct {
	kind    byte
	numbers [4]uint64
	bytes   []byte
}

// firstRecord returns the record of the owner at the start of a file, and where the next
// one begins. The error is errTorn if b is a part of both.
func firstRecord(b []byte) (rec record, end int, err error) {
	if bytes.HasPrefix([]byte(magic), b) {
		return rec, 0, errTorn
	}
	if !bytes.HasPrefix(b, []byte(magic)) {
		return rec, 0, errDamaged
	}
	rec, size, err := nextRecord(b[len(magic):])
	if err == nil && (rec.kind != recordOwner || rec.numbers[1] > uint64(len(rec.bytes))) {
		err = errDamaged
	}
	return rec, len(magic) + size, err
}

// nextRecord returns the first record of b, which is not empty, and its size. The error is
// errTorn if b is a part of a record, or a record with another checksum that only zero bytes
// follow, which a file system may leave. Otherwise it is errDamaged.
func nextRecord(b []byte) (rec record, size int, err error) {
	if len(b) < frameSize {
		return rec, 0, errTorn
	}
	length := int64(binary.BigEndian.Uint32(b))
	if length > int64(len(b)-frameSize) {
		return rec, 0, errTorn
	}
	size = frameSize + int(length)
	content := b[frameSize:size]
	if length == 0 || crc32.Checksum(content, castagnoli) != binary.BigEndian.Uint32(b[4:]) {
		if len(bytes.Trim(b[size:], "\x00")) == 0 {
			return rec, 0, errTorn
		}
		return rec, 0, errDamaged
	}
	rec.kind, rec.bytes = content[0], content[1:]
	for i := range numbersOf[rec.kind] {
		n, width := binary.Uvarint(rec.bytes)
		if width <= 0 {
			return rec, 0, errDamaged
		}
		rec.numbers[i], rec.bytes = n, rec.bytes[width:]
	}
	return rec, size, nil
}
