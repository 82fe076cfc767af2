//go:build !js

package messages

import (
	_ "embed" // the texts
	"sync"
)

//go:generate sh -c "sha256sum <texts/details.txt | cut -c1-64 >texts/details.sha256"

//go:embed texts/details.txt
var detailsFile string

// Details returns texts/details.txt, which the page hands to [LoadDetails] of its module.
func Details() string { return detailsFile }

var details = sync.OnceValue(func() phrases {
	all, err := parseDetails(detailsFile)
	if err != nil {
		panic("messages: texts/details.txt: " + err.Error()) // embedded at build time and parsed by the tests
	}
	return all
})
