package console

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"net/http"
)

// maxPixels bounds the images that a page shows: few bytes can be many pixels.
const maxPixels = 40_000_000

// mediaType returns the type of an image or a sound that browsers show, as its first bytes
// say, or "". What a server says about it does not count. The functions of this file are pure,
// and safe for untrusted bytes: they read headers and decode no image.
func mediaType(data []byte) string {
	switch kind := http.DetectContentType(data); kind {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		if c, err := dimensions(kind, data); err != nil || c.Width <= 0 || c.Height <= 0 ||
			c.Width > maxPixels/c.Height {
			return ""
		}
		return kind
	case "audio/wave":
		return "audio/wav"
	case "audio/mpeg":
		return kind
	case "application/ogg":
		return "audio/ogg"
	}
	switch {
	case bytes.HasPrefix(data, []byte("fLaC")):
		return "audio/flac"
	case len(data) > 2 && data[0] == 0xFF && data[1]&0xE6 == 0xE2: // the first frame of MPEG audio, layer III
		return "audio/mpeg"
	}
	return ""
}

// dimensions returns the width and the height of an image.
func dimensions(kind string, data []byte) (image.Config, error) {
	r := bytes.NewReader(data)
	switch kind {
	case "image/png":
		return png.DecodeConfig(r)
	case "image/jpeg":
		return jpeg.DecodeConfig(r)
	case "image/gif":
		return gif.DecodeConfig(r)
	}
	return webpDimensions(data)
}

// webpDimensions reads the first chunk of a WebP file (RFC 9649).
func webpDimensions(data []byte) (c image.Config, err error) {
	if len(data) < 30 {
		return c, image.ErrFormat
	}
	chunk := data[20:]
	switch string(data[12:16]) {
	case "VP8X":
		c.Width = 1 + int(chunk[4]) + int(chunk[5])<<8 + int(chunk[6])<<16
		c.Height = 1 + int(chunk[7]) + int(chunk[8])<<8 + int(chunk[9])<<16
	case "VP8L":
		bits := binary.LittleEndian.Uint32(chunk[1:])
		c.Width, c.Height = 1+int(bits&0x3FFF), 1+int(bits>>14&0x3FFF)
	case "VP8 ":
		c.Width = int(binary.LittleEndian.Uint16(chunk[6:]) & 0x3FFF)
		c.Height = int(binary.LittleEndian.Uint16(chunk[8:]) & 0x3FFF)
	default:
		return c, image.ErrFormat
	}
	return c, nil
}
