// Verify, the module of the page: the verifier of the command line, run by a
// browser that asks nobody else. It sets globalThis.fairdice; the functions
// answer texts, and where the command line would exit with a message an Error
// with the same message, which web/static/worker.js throws.
package main

import (
	"bytes"
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
	show  *reader.Show
}

func main() {
	var p page
	js.Global().Set("fairdice", js.ValueOf(map[string]any{
		"version":  version(),
		"bundle":   function(p.bundle),
		"record":   function(p.record),
		"text":     function(p.text),
		"games":    function(p.games),
		"board":    function(p.board),
		"describe": function(p.describe),
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
	report := files.Report{}
	data, err := content(argument(args, 1), maxRecords)
	switch {
	case errors.Is(err, errTooLarge):
		report = files.Unreadable(name.String(), err)
	case err != nil:
		return nil, err
	default:
		report = files.Check(name.String(), bytes.NewReader(data), o)
	}
	p.words = func(lang string) ([]byte, error) { return reader.RecordWords(report, lang) }
	return report.JSON()
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

// text(lang) tells the last report in a language, as JSON.
func (p *page) text(args []js.Value) ([]byte, error) {
	if p.words == nil {
		return nil, errors.New("nothing has been verified yet")
	}
	return p.words(argument(args, 0).String())
}

// games(bytes, options) follows the games of a file and answers their steps as
// JSON. The boards are asked for one by one.
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
	show, err := reader.Open(data, reader.Options{Variant: t.Variant, Options: t.Options, Words: messages.For(lang)})
	if err != nil {
		return nil, err
	}
	p.show = show
	return show.JSON()
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
