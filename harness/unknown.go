package harness

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"iter"
	"path"
	"strings"

	"github.com/tidwall/gjson"

	"sessdex/session"
)

// Unknown stands for whatever wrote a conversation that no harness here claims: lines
// or a document of messages in which a person asks and a model answers, in one of the
// shapes that are common among such programs (see chatMessage). It has no folders, and
// nothing goes on in it.
var Unknown = &Harness{
	Name:   unknownName,
	Roots:  func(Env) []string { return nil },
	Claims: func(string) bool { return false },
	Detect: unknownDetect,
	New:    func(src Source) Parser { return newUnknownParser(src) },
}

const unknownName = "unknown"

// unknownDetect wants words of a person and of a model in one and the same list of
// messages. What is known to be something else (see refuse) is no conversation.
func unknownDetect(h Head) bool {
	return refusalOf(h) == "" && sidesOf(h) == sides{true, true, 1}
}

// sides are what a file's head has of a conversation.
type sides struct {
	asked, answered bool
	lists           int // of messages: the lines count as one, each list in a record as one
}

func sidesOf(h Head) sides {
	var of sides // of the records, and of the lists that stand in them
	bare := false
	for _, r := range h.Records {
		if list := messageList(r); list.IsArray() {
			of.list(list)
		} else {
			bare = of.message(r) || bare
		}
	}
	if bare {
		of.lists++
	}
	if of.lists > 1 {
		return of
	}
	// A document printed over several lines may have whole messages on some of them.
	var doc sides
	if doc.list(messageList(h.Doc)); doc.lists > 0 {
		return doc
	}
	if h.Doc.IsArray() { // of conversations
		eachMember(h.Doc, func(r gjson.Result) { doc.list(messageList(r)) })
	}
	if doc.lists > 0 {
		return doc
	}
	return of
}

// list counts a list, if there are messages in it.
func (s *sides) list(list gjson.Result) {
	found := false
	if list.IsArray() {
		eachMember(list, func(m gjson.Result) { found = s.message(m) || found })
	}
	if found {
		s.lists++
	}
}

// message notes who speaks in a record, if it is a message.
func (s *sides) message(r gjson.Result) bool {
	m, ok := chatMessage(r)
	if ok && m.words() != "" {
		s.asked = s.asked || m.role == session.User
		s.answered = s.answered || m.role == session.Assistant
	}
	return ok
}

// unknownParser reads a conversation of an unknown program.
type unknownParser struct {
	dialog
	src   Source
	doc   document
	inDoc bool
	begun bool
	first [sha256.Size]byte // of the first message, which names a conversation without an id
}

func newUnknownParser(src Source) *unknownParser {
	p := &unknownParser{src: src}
	p.dialog = newDialog(unknownName, false)
	return p
}

// Line implements [Parser].
func (p *unknownParser) Line(line []byte) {
	if p.inDoc {
		p.doc.add(line)
		return
	}
	line = bytes.TrimSpace(bytes.TrimPrefix(line, bom))
	if len(line) == 0 {
		return
	}
	if !p.begun && (line[0] != '{' || !startsWithObject(line)) {
		p.inDoc = true
		p.doc.add(line)
		return
	}
	p.begun = true
	p.objects(line, p.value)
}

// value takes a record: a message, or what stands around some.
func (p *unknownParser) value(r gjson.Result) {
	list := messageList(r)
	if !list.IsArray() {
		if m, ok := chatMessage(r); ok {
			p.facts(r, false)
			p.take(m, r)
		} else {
			p.facts(r, true)
			p.unknown(first(r, "type", "role").String())
		}
		return
	}
	if r.IsObject() {
		p.facts(r, true)
	}
	eachMember(list, func(v gjson.Result) {
		if m, ok := chatMessage(v); ok {
			p.facts(v, false)
			p.take(m, v)
		}
	})
}

func (p *unknownParser) take(m chat, r gjson.Result) {
	at := anyTime(first(r, "timestamp", "createdAt", "created_at", "time", "ts", "date", "metadata.timestamp", "message.timestamp", "meta.sentAt"))
	p.at(at)
	if len(p.turns) == 0 {
		p.first = sha256.Sum256([]byte(r.Raw))
	}
	p.model(first(r, "model", "modelId", "model_id", "metadata.model", "message.model").String())
	ref := first(r, "id", "uuid", "messageId", "message_id", "message.id").String()
	p.row(m.raw, at, ref, func(text string) { p.person(unwrapped(text), at, ref) })
}

// facts takes what a record says about the conversation as a whole. The id of a record
// that is a message is the message's.
func (p *unknownParser) facts(r gjson.Result, whole bool) {
	m := &p.meta
	keys := []string{"sessionId", "session_id", "sessionID", "conversationId", "conversation_id", "threadId", "thread_id", "chatId", "workspaceId"}
	if whole {
		keys = append(keys, "id", "uuid")
		if title := first(r, "title", "name", "summary"); title.Type == gjson.String && p.given == "" {
			p.given = keep(title.Str)
		}
		p.at(anyTime(first(r, "created", "createdAt", "created_at", "startTime", "start_time", "timestamp")))
		p.model(first(r, "model", "modelId", "model_id").String())
	}
	if id := first(r, keys...); m.NativeID == "" && (id.Type == gjson.String || id.Type == gjson.Number) {
		m.NativeID = keep(id.String())
	}
	if dir := first(r, "cwd", "workingDirectory", "working_directory", "workdir", "projectPath", "workspacePath"); dir.Type == gjson.String {
		p.dir(localPath(dir.Str))
	}
	if branch := first(r, "gitBranch", "git_branch", "git.branch"); branch.Type == gjson.String {
		p.branch(branch.Str)
	}
}

// Finish implements [Parser].
func (p *unknownParser) Finish() (session.Meta, iter.Seq[session.Turn]) {
	if p.inDoc {
		doc, whole := p.doc.value()
		if !whole {
			p.meta.BadLines++
		}
		p.value(doc)
		p.doc = document{}
	}
	if p.meta.NativeID == "" && len(p.turns) > 0 {
		p.meta.NativeID = p.name()
	}
	p.inherit(p.src)
	return p.finish()
}

// name makes an id for a conversation that has none. A file's name will do where it is
// no other file's: names of programs' own choice, chat.jsonl in every folder, hold no
// number.
func (p *unknownParser) name() string {
	base := baseName(p.src.Path)
	stem := strings.TrimSuffix(base, path.Ext(base))
	digits := 0
	for _, r := range stem {
		if r >= '0' && r <= '9' {
			digits++
		}
	}
	switch {
	case p.src.Path == "":
		return ""
	case digits >= 4:
		return stem
	}
	return stem + "-" + hex.EncodeToString(p.first[:6])
}

// unwrapped is what a person wrote, where programs put it into an element of its own
// and context around it.
func unwrapped(text string) string {
	for _, name := range []string{"user_query", "user_message", "user_input", "task", "feedback", "user_request"} {
		if s := element(text, name); s != "" {
			return strings.TrimSpace(s)
		}
	}
	for _, name := range []string{"environment_details", "environment_context"} {
		text = withoutElement(text, name)
	}
	return text
}
