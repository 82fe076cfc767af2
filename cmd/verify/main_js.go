// Verify, the module of the page: the verifier of the command line, run by a
// browser that asks nobody else. It sets globalThis.fairdice; the functions
// answer texts, and where the command line would exit with a message an Error
// with the same message, which web/static/worker.js throws.
package main

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"syscall/js"
	"time"

	"fairdice/audit"
	"fairdice/internal/messages"
	"fairdice/internal/reader"
	"fairdice/replay"
	"fairdice/replay/files"
)

// page is what the module remembers between two calls: the last report, to
// tell it in another language, and the games that are being looked at.
type page struct {
	words func(lang string) ([]byte, error)
	last  checked
	show  *reader.Show
}

// checked is the file of the last report with its games. Those of a record or
// match are there already, of a large one only what was refused; those of a
// bundle are followed when somebody asks for them.
type checked struct {
	data  []byte
	terms files.Options
	show  *reader.Show
	whole bool // the show has every line
}

// largeMatch is the size in bytes from which the games of a match file are
// followed only if somebody wants to see them.
const largeMatch = 2 << 20

// open returns the games of a file, those of the last report if it is the same.
func (p *page) open(data []byte, t files.Options, before []string) (*reader.Show, error) {
	l := &p.last
	if l.whole && before == nil && bytes.Equal(l.data, data) && equal(l.terms.Variant, t.Variant) && equal(l.terms.Options, t.Options) {
		return l.show, nil
	}
	return reader.Open(data, reader.Options{Variant: t.Variant, Options: t.Options, Before: before, Progress: progress(len(data))})
}

// forget drops the last report: its memory may be needed, and what comes next
// must not be told in its words.
func (p *page) forget() { p.last, p.words = checked{}, nil }

func equal[T comparable](a, b *T) bool { return a == b || a != nil && b != nil && *a == *b }

func main() {
	var p page
	js.Global().Set("fairdice", js.ValueOf(map[string]any{
		"version":  version(),
		"bundle":   function(p.bundle),
		"record":   function(p.record),
		"text":     function(p.text),
		"details":  function(details),
		"games":    function(p.games),
		"board":    function(p.board),
		"describe": function(p.describe),
		"line":     function(p.line),
		"exercise": function(exercise),
		"cosigned": function(cosigned),
	}))
	select {}
}

// function makes a function of the page. A fault of the program itself is an
// Error as well: the page must not stand still without a word.
func function(f func(args []js.Value) ([]byte, error)) js.Func {
	return js.FuncOf(func(_ js.Value, args []js.Value) (answer any) {
		defer func() {
			if r := recover(); r != nil {
				answer = failure(fmt.Errorf("the verifier itself failed: %v", r))
			}
		}()
		text, err := f(args)
		if err != nil {
			return failure(err)
		}
		return string(text)
	})
}

func failure(err error) js.Value { return js.Global().Get("Error").New(err.Error()) }

// bundle(bytes, options) verifies a bundle and answers its report as JSON.
func (p *page) bundle(args []js.Value) ([]byte, error) {
	o := argument(args, 1)
	pins, err := pinsOf(o)
	if err != nil {
		return nil, err
	}
	if pins.key != "" && pins.policy.given {
		return nil, errors.New("give a key or a policy, not both")
	}
	t, err := pins.trust(time.Now())
	if err != nil {
		return nil, err
	}
	p.forget()
	report := audit.Report{}
	data, err := content(argument(args, 0), audit.MaxBundle)
	switch {
	case errors.Is(err, errTooLarge):
		report = audit.Refuse(err)
	case err != nil:
		return nil, err
	default:
		report = audit.Verify(data, t)
	}
	p.last = checked{data: data}
	p.words = func(lang string) ([]byte, error) { return reader.Words(report, lang) }
	return report.JSON()
}

// cosigned(note, options) says who has signed a checkpoint, as JSON: key is the
// log's; policy and witnesses are whom the user of the page trusts beside it.
func cosigned(args []js.Value) ([]byte, error) {
	o := argument(args, 1)
	note := argument(args, 0)
	if note.Type() != js.TypeString {
		return nil, errors.New("the checkpoint is no text")
	}
	p, err := pinsOf(o)
	if err != nil {
		return nil, err
	}
	t, err := p.trust(time.Now())
	if err != nil {
		return nil, err
	}
	c, err := audit.ReadCosigned(note.String(), t)
	if err != nil {
		return nil, err
	}
	return c.JSON()
}

// pinsOf reads whom the user of the page trusts.
func pinsOf(o js.Value) (pins, error) {
	var p pins
	var err error
	for _, member := range []struct {
		name string
		to   *string
	}{{"key", &p.key}, {"myAnchor", &p.anchor}} {
		if *member.to, err = option(o, member.name); err != nil {
			return p, err
		}
	}
	if p.policy, err = file(o, "policy"); err != nil {
		return p, err
	}
	if p.rules, err = file(o, "rules"); err != nil {
		return p, err
	}
	if list := member(o, "witnesses"); list.Type() == js.TypeObject {
		for i := range list.Length() {
			p.witnesses = append(p.witnesses, list.Index(i).String())
		}
	}
	return p, nil
}

// maxRecords is the largest file of records that the page reads, in bytes: the
// command line reads any, file by file and not at once.
const maxRecords = 64 << 20

// record(name, bytes, options) checks a record or match file and answers its
// report as JSON.
func (p *page) record(args []js.Value) ([]byte, error) {
	o, err := terms(argument(args, 2))
	if err != nil {
		return nil, err
	}
	name := argument(args, 0)
	if name.Type() != js.TypeString {
		return nil, errors.New("the name of the file is no text")
	}
	p.forget()
	report, show := files.Report{}, (*reader.Show)(nil)
	data, err := content(argument(args, 1), maxRecords)
	switch {
	case errors.Is(err, errTooLarge):
		report = files.Unreadable(name.String(), err)
	case err != nil:
		return nil, err
	default:
		report, show = reader.Check(name.String(), data, reader.Options{Variant: o.Variant, Options: o.Options, Progress: progress(len(data)), Refused: len(data) >= largeMatch})
	}
	p.last = checked{data: data, terms: o, show: show, whole: show != nil && len(data) < largeMatch}
	p.words = func(lang string) ([]byte, error) { return reader.RecordWords(report, show, lang) }
	return report.JSON()
}

// progress tells the page how much of a file has been read, in hundredths: each
// word to it costs a message to another thread.
func progress(total int) func(done int) {
	tell := js.Global().Get("fairdice").Get("progress")
	if tell.Type() != js.TypeFunction {
		return nil
	}
	next := 0
	return func(done int) {
		if done >= next && total > 0 {
			next = done + total/100
			tell.Invoke(done, total)
		}
	}
}

func terms(o js.Value) (files.Options, error) {
	variant, err := option(o, "variant")
	if err != nil {
		return files.Options{}, err
	}
	options, err := option(o, "options")
	if err != nil {
		return files.Options{}, err
	}
	known, err := file(o, "rules")
	if err != nil {
		return files.Options{}, err
	}
	return recordTerms(variant, options, known)
}

// Test 1 of RFC 8032 §7.1: a key, and its signature of the empty message.
var (
	knownKey       = mustHex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")
	knownSignature = mustHex("e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b")
)

func mustHex(text string) []byte {
	data, err := hex.DecodeString(text)
	if err != nil {
		panic(err) // of a constant
	}
	return data
}

// exercise() checks a signature that is known to be good: signatures take most
// of the time of a bundle, and a browser compiles well only what has run for a
// while. A module that gets it wrong must not judge anything.
func exercise([]js.Value) ([]byte, error) {
	if !ed25519.Verify(knownKey, nil, knownSignature) {
		panic("a good signature is refused")
	}
	return nil, nil
}

// text(lang) tells the last report in a language, as JSON.
func (p *page) text(args []js.Value) ([]byte, error) {
	if p.words == nil {
		return nil, errors.New("nothing has been verified yet")
	}
	return p.words(argument(args, 0).String())
}

// details(text) takes the texts of what is wrong in other languages than
// English, which the page fetches only where it speaks one. Texts that are not
// this module's are refused.
func details(args []js.Value) ([]byte, error) {
	return nil, messages.LoadDetails(argument(args, 0).String())
}

// games(bytes, options) follows the games of a file and answers their steps as
// JSON. The boards are asked for one by one. With the option before, a list of
// how the games before it ended, the file is a game of a match (reader.Options).
func (p *page) games(args []js.Value) ([]byte, error) {
	o := argument(args, 1)
	lang, err := option(o, "lang")
	if err != nil {
		return nil, err
	}
	t, err := terms(o)
	if err != nil {
		return nil, err
	}
	data, err := content(argument(args, 0), maxRecords)
	if err != nil {
		return nil, err
	}
	var before []string
	if list := member(o, "before"); list.Type() == js.TypeObject {
		before = []string{}
		for i := range list.Length() {
			before = append(before, list.Index(i).String())
		}
	}
	show, err := p.open(data, t, before)
	if err != nil {
		return nil, err
	}
	show.Speak(messages.For(lang))
	p.show = show
	return show.JSON()
}

// line(game, line, lang) draws the board at a line of the last report's file,
// where the line was refused or after it; the game by its number in the match.
func (p *page) line(args []js.Value) ([]byte, error) {
	number, line := argument(args, 0), argument(args, 1)
	if number.Type() != js.TypeNumber || line.Type() != js.TypeNumber {
		return nil, errors.New("game and line are numbers")
	}
	l := &p.last
	if l.show == nil {
		show, err := reader.Open(l.data, reader.Options{})
		if err != nil {
			return nil, err
		}
		l.show, l.whole = show, true
	}
	l.show.Speak(messages.For(argument(args, 2).String()))
	game, step, err := l.show.Line(number.Int(), line.Int())
	if err != nil {
		return nil, err
	}
	text, err := l.show.Board(game, step, replay.A)
	return []byte(text), err
}

// board(game, step, seat) draws one step of the games as SVG; describe tells
// it in words.
func (p *page) board(args []js.Value) ([]byte, error) {
	return p.look(args, (*reader.Show).Board)
}

func (p *page) describe(args []js.Value) ([]byte, error) {
	return p.look(args, (*reader.Show).Describe)
}

func (p *page) look(args []js.Value, ask func(*reader.Show, int, int, replay.Seat) (string, error)) ([]byte, error) {
	if p.show == nil {
		return nil, errors.New("no games are open")
	}
	game, step := argument(args, 0), argument(args, 1)
	if game.Type() != js.TypeNumber || step.Type() != js.TypeNumber {
		return nil, errors.New("game and step are numbers from 0")
	}
	seat := replay.A
	switch s := argument(args, 2); {
	case s.Type() == js.TypeString && s.String() == "B":
		seat = replay.B
	case s.Type() == js.TypeString && s.String() != "A":
		return nil, fmt.Errorf("there is no seat %q, only A and B", s.String())
	}
	text, err := ask(p.show, game.Int(), step.Int(), seat)
	return []byte(text), err
}

func argument(args []js.Value, i int) js.Value {
	if i < len(args) {
		return args[i]
	}
	return js.Undefined()
}

func member(o js.Value, name string) js.Value {
	if o.Type() != js.TypeObject {
		return js.Undefined()
	}
	return o.Get(name)
}

// option reads a text among options; one that is absent or null is not given.
// An empty one is refused as the command line does: whoever pins nothing must
// not believe that he has pinned something.
func option(o js.Value, name string) (string, error) {
	v := member(o, name)
	switch {
	case v.IsUndefined(), v.IsNull():
		return "", nil
	case v.Type() != js.TypeString:
		return "", fmt.Errorf("the value is no text: %s", name)
	case v.String() == "":
		return "", fmt.Errorf("the value is empty: %s", name)
	}
	return v.String(), nil
}

// file reads the content of a policy or rules file among options.
func file(o js.Value, name string) (text, error) {
	v := member(o, name)
	if v.IsUndefined() || v.IsNull() {
		return text{}, nil
	}
	if v.Type() != js.TypeString {
		return text{}, fmt.Errorf("the value is no text: %s", name)
	}
	content := v.String()
	if err := fits(int64(len(content)), maxTrustFile); err != nil {
		return text{}, fmt.Errorf("%w: %s", err, name)
	}
	return text{name: name, content: content, given: true}, nil
}

// content copies the bytes of a file out of the page, unless they are too many.
func content(v js.Value, limit int64) ([]byte, error) {
	if !v.InstanceOf(js.Global().Get("Uint8Array")) {
		return nil, errors.New("the file is no Uint8Array")
	}
	if err := fits(int64(v.Length()), limit); err != nil {
		return nil, err
	}
	data := make([]byte, v.Length())
	js.CopyBytesToGo(data, v)
	return data, nil
}
