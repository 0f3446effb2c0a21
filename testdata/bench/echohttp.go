package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"
)

// echoHTTP runs the echo server over streamable HTTP. It prints its address and
// ends with its standard input.
func echoHTTP([]string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(l.Addr())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	log.Fatal(http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var q question
		switch {
		case r.Method != "POST":
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		case err != nil || json.Unmarshal(body, &q) != nil || q.ID == nil:
			w.WriteHeader(http.StatusAccepted)
			return
		}
		if q.Params.Name == "sleep" {
			time.Sleep(q.pause())
		}
		message := answerTo(&q)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(message)))
		_, _ = w.Write(message)
	})))
}
