package main

import (
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"fmt"
	"net"
	"net/rpc"
	"reflect"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/sdk/goplugin"
	"github.com/junctor-mcp/junctor/sdk/wire"
)

// streams holds the mistakes on the stream of a connection.
var streams = map[string]func(net.Conn){
	"framelong":  func(c net.Conn) { write(c, binary.LittleEndian.AppendUint32(nil, 1<<31)); write(c, []byte{0}) },
	"frameline":  func(c net.Conn) { write(c, dataFrame(0, "{}\n{\"method\":\"smuggled\"}")) },
	"framecr":    func(c net.Conn) { write(c, dataFrame(0, "{}\r{}")) },
	"frameempty": func(c net.Conn) { write(c, dataFrame(0, "")) },
	"framehalf":  func(c net.Conn) { write(c, dataFrame(0, strings.Repeat("x", 100))[:50]); _ = c.Close() },
	"eventjunk":  func(c net.Conn) { write(c, dataFrame(1, "not JSON")) },
	"eventlong":  func(c net.Conn) { write(c, dataFrame(1, strings.Repeat(" ", 2<<20))) },
	"noevent":    func(c net.Conn) { write(c, dataFrame(0, "{}")); _ = c.Close() },
	"eventflood": func(c net.Conn) {
		forever(c, dataFrame(1, `{"ev":"weather","reason":"`+strings.Repeat("rain ", 100)+`"}`))
	},
	"dropflood": func(c net.Conn) {
		forever(c, dataFrame(1, `{"ev":"dropped","reason":"message_too_large","prefix":"e30="}`))
	},
	"eventempty": func(c net.Conn) { write(c, dataFrame(1, `{"ev":"closed","status":{}}`)) },
	"noend":      func(net.Conn) { select {} }, // ignores the end of the connection
}

func write(c net.Conn, b []byte) { _, _ = c.Write(b) }

func forever(c net.Conn, b []byte) {
	b = bytes.Repeat(b, 1+(32<<10)/len(b))
	for {
		if _, err := c.Write(b); err != nil {
			return
		}
	}
}

func dataFrame(kind byte, payload string) []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(payload)))
	return append(append(b, kind), payload...)
}

// raw holds the mistakes below the streams. The data is sent endlessly after
// the host's first byte.
var raw = map[string]func(net.Conn){
	"rawjunk":    func(c net.Conn) { forever(c, []byte("HTTP/1.1 400 Bad Request\r\n")) },
	"rawpings":   func(c net.Conn) { forever(c, muxFrame(2, 1, 0, 7)) },
	"rawwindows": func(c net.Conn) { forever(c, muxFrame(1, 0, 1001, 7)) },
	"rawdata":    func(c net.Conn) { forever(c, append(muxFrame(0, 0, 1001, 1), 'x')) },
	"rawgoaway":  func(c net.Conn) { forever(c, muxFrame(3, 0, 0, 0)) },
	"rawopen":    func(c net.Conn) { forever(c, muxFrame(1, 1, 2, 0)) },
	// A gob message of 2 GiB is announced and sent.
	"rawgob": func(c net.Conn) {
		write(c, append(muxFrame(0, 0, 1, 5), 0xfc, 0x80, 0, 0, 0))
		forever(c, append(muxFrame(0, 0, 1, 32<<10), make([]byte, 32<<10)...))
	},
	"rawtypes": func(c net.Conn) {
		for n := 0; ; n++ {
			message := definition(n)
			if _, err := c.Write(append(muxFrame(0, 0, 1, uint32(len(message))), message...)); err != nil {
				return
			}
		}
	},
}

// definition returns the gob message that defines a new type.
func definition(n int) []byte {
	field := reflect.StructField{Name: fmt.Sprint("F", n), Type: reflect.TypeFor[int]()}
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).EncodeValue(reflect.New(reflect.StructOf([]reflect.StructField{field}))); err != nil {
		panic(err)
	}
	return b.Bytes()[:1+b.Bytes()[0]]
}

func init() {
	for mode, send := range raw {
		early[mode] = func() {
			l := listen()
			say("1|1|unix|%s|netrpc|", socket())
			c, err := l.Accept()
			if err != nil {
				panic(err)
			}
			_, _ = c.Read(make([]byte, 4<<10))
			go func() { // so that the host can write
				for b := make([]byte, 4<<10); ; {
					if _, err := c.Read(b); err != nil {
						return
					}
				}
			}()
			send(c)
			time.Sleep(time.Hour)
		}
	}
}

func muxFrame(kind byte, flags uint16, stream, length uint32) []byte {
	b := binary.BigEndian.AppendUint16([]byte{0, kind}, flags)
	b = binary.BigEndian.AppendUint32(b, stream)
	return binary.BigEndian.AppendUint32(b, length)
}

// flood calls a slow service of the host endlessly.
func flood(broker *goplugin.Broker, id uint32) {
	conn, err := broker.Accept(id)
	if err != nil {
		return
	}
	c := rpc.NewClient(conn)
	for n := uint64(1); ; n++ {
		c.Go("Host.Prompt", wire.PromptArgs{Call: wire.Call{ID: n}, Capability: argument(), Title: "?"},
			new(wire.PromptReply), make(chan *rpc.Call, 1))
	}
}
