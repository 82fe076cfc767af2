package messages

import (
	_ "embed" // the texts
	"strconv"
	"strings"
)

var (
	//go:embed texts/en.txt
	english string
	//go:embed texts/ka.txt
	georgian string
	//go:embed texts/hy.txt
	armenian string
	//go:embed texts/ru.txt
	russian string
)

// languages lists English, which answers for every unknown language, first. Georgian and Armenian nouns stay in the singular
// after a number, so their texts have one form.
var languages = [...]language{
	newLanguage("en", "English", english, []string{"one", "other"}, func(n int64) string {
		if n == 1 {
			return "one"
		}
		return "other"
	}),
	newLanguage("ka", "ქართული", georgian, []string{"other"}, single),
	newLanguage("hy", "Հայերեն", armenian, []string{"other"}, single),
	newLanguage("ru", "Русский", russian, []string{"one", "few", "many"}, slavic),
}

func single(int64) string { return "other" }

// slavic is the rule of 1, 21, 31 … бросок; 2, 3, 4, 22 … броска; 0, 5, 11 … бросков.
func slavic(n int64) string {
	if n < 0 {
		n = -(n % 100)
	}
	ones, tens := n%10, n/10%10
	switch {
	case tens == 1:
		return "many"
	case ones == 1:
		return "one"
	case ones >= 2 && ones <= 4:
		return "few"
	default:
		return "many"
	}
}

// Languages returns the codes of the languages there are, English first.
func Languages() []string {
	codes := make([]string, len(languages))
	for i := range languages {
		codes[i] = languages[i].code
	}
	return codes
}

// maxWishes bounds how much of an Accept-Language header is read; browsers send a handful.
const maxWishes = 32

// Match returns the language that an Accept-Language header (RFC 9110 §12.5.4) asks for most: the highest quality, the
// first of equals, regions ignored ("ka-GE" is ka). It returns "en" when no wish can be met.
func Match(acceptLanguage string) string {
	best, quality := languages[0].code, 0
	read := 0
	for wish := range strings.SplitSeq(acceptLanguage, ",") {
		if read++; read > maxWishes {
			break
		}
		tag, params, _ := strings.Cut(wish, ";")
		code, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(tag)), "-")
		if q := thousandths(params); q > quality && known(code) {
			best, quality = code, q
		}
	}
	return best
}

func known(code string) bool {
	for i := range languages {
		if languages[i].code == code {
			return true
		}
	}
	return false
}

// thousandths reads a weight "q=0.8" as 800: no weight is 1000, anything malformed 0.
func thousandths(params string) int {
	params = strings.TrimSpace(params)
	if params == "" {
		return 1000
	}
	value, ok := strings.CutPrefix(strings.ToLower(params), "q=")
	whole, fraction, _ := strings.Cut(value, ".")
	if !ok || len(fraction) > 3 || whole != "0" && whole != "1" {
		return 0
	}
	n, err := strconv.ParseUint(whole+fraction+"000"[len(fraction):], 10, 16)
	if err != nil || n > 1000 {
		return 0
	}
	return int(n)
}
