package plays

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// decode reads one object. Members are told apart by letter case and given once: the standard library's decoder takes the last of two
// equal ones, so that a request would be answered as another than the one that was meant. Unknown members are ignored.
func decode(line []byte, q *request) error {
	if len(bytes.TrimSpace(line)) == 0 {
		return errors.New("the line is empty")
	}
	decoder := jsontext.NewDecoder(bytes.NewBuffer(line))
	if err := json.UnmarshalDecode(decoder, q); err != nil {
		return wrong(err)
	}
	if _, err := decoder.ReadToken(); err != io.EOF {
		return errors.New("text follows the object")
	}
	return nil
}

// wrong words an error of the decoder in the terms of the request.
func wrong(err error) error {
	if s, ok := errors.AsType[*json.SemanticError](err); ok {
		return fmt.Errorf("%s is %s, want %s", member(s.JSONPointer), found(s), wanted(s.GoType))
	}
	s, ok := errors.AsType[*jsontext.SyntacticError](err)
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName) && ok:
		return fmt.Errorf("%s is given twice", member(s.JSONPointer))
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the line ends before the object does")
	case ok:
		return fmt.Errorf("the line is not JSON from byte %d on", s.ByteOffset+1)
	}
	return err
}

// member names a place in the request: "dice/0".
func member(p jsontext.Pointer) string {
	if p == "" {
		return "the request"
	}
	name := []rune(string(p[1:]))
	if len(name) > 60 {
		return string(name[:60]) + "…"
	}
	return string(name)
}

func found(s *json.SemanticError) string {
	switch s.JSONKind {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a text"
	case '0':
		if 0 < len(s.JSONValue) && len(s.JSONValue) <= 20 {
			return string(s.JSONValue)
		}
		return "a number"
	default:
		return s.JSONKind.String()
	}
}

func wanted(t reflect.Type) string {
	if t == nil {
		return "something else"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return wanted(t.Elem())
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Slice:
		return "a list of numbers"
	case reflect.String:
		return "a text"
	case reflect.Bool:
		return "true or false"
	default:
		return "a whole number"
	}
}
