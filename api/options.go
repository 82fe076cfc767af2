package api

import (
	"context"
	"slices"
	"strings"

	"fairdice/house"
	"fairdice/internal/messages"
	"fairdice/replay"
	"fairdice/rules"
)

// agreedUnasked are the options of a match that names none; openapi.yaml says
// the same of an OpenRequest.
var agreedUnasked = replay.Options{Raise: replay.RaiseMars}

// ListOptions answers what two players may agree on.
func (s *server) ListOptions(_ context.Context, r ListOptionsRequestObject) (ListOptionsResponseObject, error) {
	words := messages.For(messages.Match(r.Params.AcceptLanguage))
	out := ListOptions200JSONResponse{Body: Options{
		Language: OptionsLanguage(words.Lang()), Default: agreedUnasked.String(), Options: options(words),
	}}
	out.Headers.ContentLanguage, out.Headers.Vary = words.Lang(), "Accept-Language"
	line := r.Params.Options
	if r.Params.Variant == "" {
		if line != "" {
			return nil, refuse(house.Malformed, "parameter options needs the parameter variant: what goes together depends on it")
		}
		return out, nil
	}
	if len(line) > maxOptions {
		return nil, refuse(house.Malformed, "parameter options is longer than %d bytes", maxOptions)
	}
	v, err := rules.Lookup(r.Params.Variant)
	if err != nil {
		return nil, refuse(house.Malformed, "variant %.64q is none of /v1/variants", r.Params.Variant)
	}
	out.Body.Variant = v.ID
	for _, i := range replay.ImpossibleFor(v) {
		out.Body.Refused = append(out.Body.Refused, OptionRefusal{
			Values: i.Values, Code: OptionCode(i.Reason.Code), Reason: words.Say("options."+i.Reason.Code, i.Reason.Arg),
		})
	}
	if line != "" {
		out.Body.Check.Reasons = []OptionReason{}
		agreed, reasons := agreedUnasked.ReadOptions(v, line)
		if len(reasons) == 0 {
			out.Body.Check.Canonical = agreed.String()
		}
		for _, reason := range reasons {
			out.Body.Check.Reasons = append(out.Body.Check.Reasons, OptionReason{
				Code: OptionCode(reason.Code), Reason: words.Say("options."+reason.Code, reason.Arg), Detail: reason.Text,
			})
		}
	}
	return out, nil
}

// maxOptions is the longest options line, as openapi.yaml says.
const maxOptions = 256

// options are those of RULES.md §7 in the words of a language.
func options(words messages.Catalogue) []MatchOption {
	var list []MatchOption
	for _, c := range replay.Choices() {
		o := MatchOption{Option: c.Option, Name: words.Text(messages.Key("option", c.Option)), Default: agreedUnasked.Value(c.Option)}
		for _, value := range c.Values {
			plain, _, _ := strings.Cut(value, ":")
			key := messages.Key("option", c.Option, plain)
			o.Values = append(o.Values, OptionValue{Value: value, Name: words.Text(key), About: words.Text(messages.Key(key, "about"))})
		}
		list = append(list, o)
	}
	return slices.Clip(list)
}
