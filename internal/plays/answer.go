package plays

import (
	"slices"

	"fairdice/rules"
)

// answer is the answer to a good request.
type answer struct {
	K     int               `json:"k"`
	Pass  bool              `json:"pass"`
	Count int               `json:"count"`
	Ends  []string          `json:"ends"`
	Final map[string]string `json:"final"`
}

// refusal is the answer to a bad one.
type refusal struct {
	Error string `json:"error"`
}

// server keeps the generator's buffers from one request to the next.
type server struct{ gen rules.Generator }

func (s *server) answer(line []byte, o Options) (answer, error) {
	v, p, stage, err := parseRequest(line, o)
	if err != nil {
		return answer{}, err
	}
	list := s.gen.Plays(v.Rules, p, stage)
	a := answer{K: list.K, Pass: list.K == 0, Count: len(list.Ends), Ends: make([]string, len(list.Ends)), Final: map[string]string{}}
	for i, end := range list.Ends {
		text := end.String()
		if o.PID {
			if text, err = v.Rules.PositionID(end, stage.Mover); err != nil {
				return answer{}, err
			}
		}
		a.Ends[i] = text
		if list.Final[i] != rules.NotEnded {
			a.Final[text] = list.Final[i].String()
		}
	}
	slices.Sort(a.Ends)
	return a, nil
}
