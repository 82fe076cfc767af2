package files

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// The members that Report.JSON writes are those of the structs' tags: a field
// that is added and forgotten there fails here.
func TestReportJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rapid.MakeCustom[Report](rapid.MakeConfig{Types: map[reflect.Type]*rapid.Generator[any]{
			reflect.TypeFor[error](): rapid.Just[any](errors.New("is not written")),
		}}).Draw(t, "report")
		want := new(bytes.Buffer)
		e := json.NewEncoder(want)
		e.SetEscapeHTML(false)
		if err := e.Encode(r); err != nil {
			t.Fatal(err)
		}
		got, err := r.JSON()
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want.Bytes()) {
			t.Errorf("got %s want %s", got, want)
		}
	})
}
