// Package e2e runs the product's whole story with real agents: the command
// lines of Claude Code, Codex, Gemini CLI and OpenCode, as their vendors publish
// them, talk to a scripted model on loopback and to the sessdex binary, and to
// nothing else.
//
// A [Model] is that scripted model. It speaks each vendor's own protocol (a
// [Dialect] each), answers the requests of one conversation with the steps of a
// [Script], and keeps every request, so that a test can say what the agent
// showed its model. The story is in story_test.go; the script "run" beside it
// builds sessdex and runs everything. What needs the agents is skipped where they
// are not installed, see scripts/install-agents.
package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
)

// A Script is what the model answers, one step for each request of the
// conversation, in order.
type Script []Step

// A Step answers one request. It may read from the request what the agent's
// tools returned before, and compute the arguments of its calls from that.
type Step func(*Request) (Reply, error)

// A Reply is what the model thinks, says and calls, in this order.
type Reply struct {
	Thinking string
	Text     string
	Calls    []Call
}

// A Call is a call of one of the agent's tools. Tool is its name as the request
// offers it, see [Request.Tools].
type Call struct {
	Tool string
	Args map[string]any
	Raw  string // in place of Args, for tools that take free text: Codex's exec and apply_patch
}

// Say is the step that answers with text only.
func Say(text string) Step {
	return func(*Request) (Reply, error) { return Reply{Text: text}, nil }
}

// A Request is what an agent sent to its model, in terms that all dialects share.
type Request struct {
	Dialect  string
	Path     string
	Body     []byte   // as it was sent
	Tools    []string // the tools offered; those inside a namespace as "namespace/name"
	Messages []Message

	id string // unique in this process; the ids in its answer are made from it

	// Step is the number of the step that answered it, from 1; 0 for what is
	// outside the conversation: titles, quota checks, token counts.
	Step int
}

// A Message is one entry of the conversation that a request repeats.
type Message struct {
	Kind Kind
	Text string // what was said, or what a tool returned; empty for calls
}

// Kind says what a message is.
type Kind string

// The kinds of messages.
const (
	Input  Kind = "input"  // from the person, or injected by the agent
	Output Kind = "output" // said by the model
	Called Kind = "called" // a tool call by the model
	Result Kind = "result" // what the tool returned
)

// Results are the texts that tools returned in this conversation so far, in order.
func (r *Request) Results() []string {
	var out []string
	for _, m := range r.Messages {
		if m.Kind == Result {
			out = append(out, m.Text)
		}
	}
	return out
}

// LastResult is what the newest tool call returned; an error where none did.
func (r *Request) LastResult() (string, error) {
	all := r.Results()
	if len(all) == 0 {
		return "", fmt.Errorf("read tool result: the conversation has none")
	}
	return all[len(all)-1], nil
}

// Tool finds the offered tool of an MCP server by the tool's own name: agents
// put the server's name before it, each in its own way.
func (r *Request) Tool(name string) (string, error) {
	for _, t := range r.Tools {
		if t == name || strings.HasSuffix(t, "_"+name) || strings.HasSuffix(t, "/"+name) {
			return t, nil
		}
	}
	return "", fmt.Errorf("find tool %s: the agent offers only %s", name, strings.Join(r.Tools, ", "))
}

// rounds counts the answers of the model that a request repeats: its runs of
// output and calls.
func (r *Request) rounds() int {
	n, model := 0, false
	for _, m := range r.Messages {
		ours := m.Kind == Output || m.Kind == Called
		if ours && !model {
			n++
		}
		model = ours
	}
	return n
}

// A Dialect is one vendor's protocol.
type Dialect struct {
	Name string

	// Serves reports whether a path belongs to it.
	Serves func(path string) bool

	// Read fills in the request's Tools and Messages from its Body.
	Read func(*Request)

	// Write sends a reply in the form that the request asked for.
	Write func(http.ResponseWriter, *Request, Reply)
}

// Dialects lists every protocol that a Model speaks. Another agent's is another
// entry.
var Dialects = []Dialect{Anthropic, Responses, Gemini, Chat}

// A Model is a scripted model on loopback. It is safe for concurrent use, and
// holds one conversation.
type Model struct {
	URL string // http://127.0.0.1:PORT

	server *httptest.Server
	script Script

	mu       sync.Mutex
	requests []*Request
	base     int  // answers that the first request already repeats: a session that goes on has some
	begun    bool // base is known
	problems []error
}

// Start runs a model that answers by a script. Close it.
func Start(script Script) *Model {
	m := &Model{script: script}
	m.server = httptest.NewServer(m)
	m.URL = m.server.URL
	return m
}

// Close stops the model.
func (m *Model) Close() {
	m.server.CloseClientConnections()
	m.server.Close()
}

// Conversation is the requests that the script answered, in order. A request
// that the agent repeated is in it as often as it came.
func (m *Model) Conversation() []*Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []*Request
	for _, r := range m.requests {
		if r.Step > 0 {
			out = append(out, r)
		}
	}
	return out
}

// Problems are everything that did not go by the script: a step that failed, a
// request after the last step, steps that no request asked for.
func (m *Model) Problems() []error {
	m.mu.Lock()
	defer m.mu.Unlock()
	problems := append([]error(nil), m.problems...)
	reached := 0
	for _, r := range m.requests {
		reached = max(reached, r.Step)
	}
	if reached < len(m.script) {
		problems = append(problems, fmt.Errorf("the agent asked for %d of %d steps", reached, len(m.script)))
	}
	return problems
}

// serial numbers requests. Agents keep the ids of several models' answers in one
// session, so it counts for all models.
var serial atomic.Int64

// ServeHTTP answers one request of an agent.
func (m *Model) ServeHTTP(w http.ResponseWriter, hr *http.Request) {
	body, err := io.ReadAll(hr.Body)
	if err != nil {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.problems = append(m.problems, fmt.Errorf("read request %s: %w", hr.URL.Path, err))
		return
	}
	for _, d := range Dialects {
		if hr.Method == http.MethodPost && d.Serves(hr.URL.Path) {
			r := &Request{Dialect: d.Name, Path: hr.URL.Path, Body: body, id: fmt.Sprintf("%06d", serial.Add(1))}
			d.Read(r)
			d.Write(w, r, m.answer(r))
			return
		}
	}
	// Agents probe for lists of models and the like, and live with a refusal.
	http.Error(w, `{"error":{"type":"not_found_error","message":"no such path"}}`, http.StatusNotFound)
}

// answer chooses the step by how many earlier answers the request repeats, not by
// counting requests: a request that the agent sends again gets the same answer.
func (m *Model) answer(r *Request) Reply {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests = append(m.requests, r)
	if len(r.Tools) == 0 {
		return Reply{Text: "ok"} // outside the conversation
	}
	if !m.begun {
		m.base, m.begun = r.rounds(), true
	}
	n := r.rounds() - m.base
	if n < 0 || n >= len(m.script) {
		m.problems = append(m.problems, fmt.Errorf("the agent asked for step %d of %d", n+1, len(m.script)))
		return Reply{Text: "The script has no such step."}
	}
	r.Step = n + 1
	reply, err := m.script[n](r)
	if err != nil {
		m.problems = append(m.problems, fmt.Errorf("step %d: %w", n+1, err))
		return Reply{Text: "The script failed."}
	}
	return reply
}
