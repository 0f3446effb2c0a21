package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/fault"
)

// The limits of one control socket.
const (
	maxConnections = 16
	maxHeader      = 8 << 10 // bytes
	maxBody        = 4 << 10
	readTime       = 5 * time.Second
	idleTime       = 30 * time.Second
	stopTime       = 5 * time.Second // for the requests in progress when the socket is closed
)

// Supported reports whether this system has control sockets. Windows does not tell
// which process is at the other end of a socket.
func Supported() bool { return runtime.GOOS != "windows" }

// Serve answers requests on a control socket in dir, which only this user may access,
// until stop is called. stop ends the streams, which have a second to write the rest. It waits for the
// requests in progress, for at most 5 seconds, and then closes their connections. A reload ends when ctx
// does. prefixes are those of [Find]. It returns at once; a goroutine answers requests. The
// caller must call stop. The verb serve calls it.
func Serve(ctx context.Context, dir string, prefixes []string, p Process, log hclog.Logger) (stop func(), err error) {
	if !Supported() {
		return nil, errors.ErrUnsupported
	}
	path := filepath.Join(dir, socketName)
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		_ = l.Close()
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	open, end := context.WithCancel(context.WithoutCancel(ctx)) // followers also see how the process ends
	server := &http.Server{
		Handler: checked(handler(ctx, open, p), log), ReadTimeout: readTime, IdleTimeout: idleTime,
		MaxHeaderBytes: maxHeader,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, refusalKey{}, c.(*peerConn).refusal)
		},
		ErrorLog: log.StandardLogger(&hclog.StandardLoggerOptions{ForceLevel: hclog.Debug}),
	}
	peers := &peerListener{
		Listener: l, slots: make(chan struct{}, maxConnections), refused: make(chan struct{}, maxRefused),
		check: func(c net.Conn) error { return checkPeer(c, append(processes(prefixes), os.Getpid())) },
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(peers)
	}()
	return func() {
		cancel()
		end()
		ended, release := context.WithTimeout(context.Background(), stopTime)
		defer release()
		if server.Shutdown(ended) != nil {
			_ = server.Close()
		}
		<-done
	}, nil
}

// unreadable returns the error for a body that cannot be read.
func unreadable(err error) error {
	return fault.New(fault.Usage, "the body cannot be read: %s", err).WithHint("send at most %d KiB", maxBody>>10)
}

// handler answers the requests for p. Reloads and restarts end when ctx does, and not with
// the program that asked for them. Streams end when open does. net/http calls it concurrently.
func handler(ctx, open context.Context, p Process) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/status", func(w http.ResponseWriter, r *http.Request) {
		respond(w, http.StatusOK, p.Status(r.Context()))
	})
	mux.HandleFunc("POST /v1/reload", func(w http.ResponseWriter, _ *http.Request) {
		if reloaded, failure := p.Reload(ctx); failure != nil {
			respond(w, http.StatusUnprocessableEntity, failure)
		} else {
			respond(w, http.StatusOK, reloaded)
		}
	})
	views := make(chan struct{}, 1) // a view may be large, so one is made at a time
	mux.HandleFunc("GET /v1/view", func(w http.ResponseWriter, r *http.Request) {
		select {
		case views <- struct{}{}:
			defer func() { <-views }()
		case <-r.Context().Done():
			return
		}
		if v := p.View(r.Context()); v != nil {
			// A peer that does not read must not keep others waiting.
			_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(viewTime))
			respond(w, http.StatusOK, v)
		}
	})
	lines := &streams{ctx: open, open: make(chan struct{}, maxStreams), about: p}
	mux.HandleFunc("GET /v1/logs", lines.logs)
	mux.HandleFunc("GET /v1/events", lines.events)
	handleServers(ctx, mux, p)
	handleLogins(ctx, mux, p)
	mux.HandleFunc("PUT /v1/log-level", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil {
			err = unreadable(err)
		}
		var level LogLevel
		if err == nil {
			level, err = parseLevel(body)
		}
		if err != nil {
			refuse(w, http.StatusBadRequest, err)
			return
		}
		if done, failure := p.SetLogLevel(level); failure != nil {
			respond(w, http.StatusUnprocessableEntity, failure)
		} else {
			respond(w, http.StatusOK, done)
		}
	})
	handleApprovals(mux, p)
	mux.HandleFunc("POST /v1/console/link", func(w http.ResponseWriter, _ *http.Request) {
		if link, failure := p.ConsoleLink(); failure != nil {
			respond(w, http.StatusUnprocessableEntity, failure)
		} else {
			respond(w, http.StatusOK, link)
		}
	})
	return mux
}

// handleServers restarts, connects and disconnects servers.
func handleServers(ctx context.Context, mux *http.ServeMux, p Process) {
	for verb, do := range map[string]func(server string) (*Restarted, *Failure){
		"restart":    func(server string) (*Restarted, *Failure) { return p.Restart(ctx, server) },
		"connect":    func(server string) (*Restarted, *Failure) { return p.Connect(ctx, server) },
		"disconnect": p.Disconnect,
	} {
		mux.HandleFunc("POST /v1/servers/{name}/"+verb, func(w http.ResponseWriter, r *http.Request) {
			if done, failure := do(r.PathValue("name")); failure != nil {
				respond(w, http.StatusUnprocessableEntity, failure)
			} else {
				respond(w, http.StatusOK, done)
			}
		})
	}
}

// handleLogins begins logins and waits for their ends. A login ends when ctx does, and not with
// the program that asked for it.
func handleLogins(ctx context.Context, mux *http.ServeMux, p Loginer) {
	mux.HandleFunc("POST /v1/servers/{name}/login", func(w http.ResponseWriter, r *http.Request) {
		if page, failure := p.BeginLogin(ctx, r.PathValue("name")); failure != nil {
			respond(w, http.StatusUnprocessableEntity, failure)
		} else {
			respond(w, http.StatusOK, page)
		}
	})
	mux.HandleFunc("GET /v1/servers/{name}/login", func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // the deadline of the request would end the wait
		if done, failure := p.AwaitLogin(r.Context(), r.PathValue("name")); failure != nil {
			respond(w, http.StatusUnprocessableEntity, failure)
		} else {
			respond(w, http.StatusOK, done)
		}
	})
}

// maxAnswering bounds the body of an answer to an approval, in bytes.
const maxAnswering = 4 << 10

// parseLevel reads the body of PUT /v1/log-level.
func parseLevel(body []byte) (l LogLevel, err error) {
	if json.Unmarshal(body, &l) != nil || l.Level == "" {
		return l, fault.New(fault.Usage, "the body is not a log level").
			WithHint(`send {"level": "debug"}, with "server" for the messages of one server`)
	}
	l.Level, l.Server = strings.ToLower(l.Level), fmt.Sprintf("%.200s", l.Server)
	return l, nil
}

// handleApprovals shows and answers approvals.
func handleApprovals(mux *http.ServeMux, p Process) {
	mux.HandleFunc("GET /v1/approvals", func(w http.ResponseWriter, _ *http.Request) {
		respond(w, http.StatusOK, Approvals{p.Approvals()})
	})
	for _, verb := range AnswerVerbs {
		mux.HandleFunc("POST /v1/approvals/{id}/"+verb, func(w http.ResponseWriter, r *http.Request) {
			answer, err := readAnswering(w, r)
			if err != nil {
				refuse(w, http.StatusBadRequest, err)
				return
			}
			answer.Verb = verb
			if done, failure := p.Answer(r.PathValue("id"), answer); failure != nil {
				respond(w, http.StatusUnprocessableEntity, failure)
			} else {
				respond(w, http.StatusOK, done)
			}
		})
	}
}

// readAnswering reads the body of an answer, which may be empty.
func readAnswering(w http.ResponseWriter, r *http.Request) (a Answering, err error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxAnswering))
	if err == nil && len(body) > 0 {
		err = json.Unmarshal(body, &a)
	}
	if err != nil || !ValidBy(a.By) {
		return a, fault.New(fault.Usage, "the body is not an object with a name in by, of at most %d bytes of printable text with a letter or a digit, and a text in reason",
			MostBy).
			WithHint(`send {"by": "carol", "reason": "CHG-1234"}, either of them, or nothing`)
	}
	return a, nil
}

func respond(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the peer may have left
}

// refuse answers with an error.
func refuse(w http.ResponseWriter, status int, err error) {
	respond(w, status, &Failure{Error: fault.As(err).Document()})
}

// refusalKey is the key of the reason why the peer of a connection is refused. The value
// is an error, or nil for a peer that may use the socket.
type refusalKey struct{}

// checked refuses the requests of peers that may not control this process.
func checked(next http.Handler, log hclog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if refusal, ok := r.Context().Value(refusalKey{}).(error); ok {
			log.Warn("refused a request on the control socket", "error", refusal)
			w.Header().Set("Connection", "close")
			respond(w, http.StatusForbidden, &Failure{Error: fault.New(fault.ProcessRefused, "%s", refusal).
				WithHint("run this command in a terminal or a service of your own").Document()})
			return
		}
		next.ServeHTTP(w, r)
	})
}
