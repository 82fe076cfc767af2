package witness

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"fairdice/commitment"
	"fairdice/translog"
)

// ErrRefused: the witness does not know the log's key, or the signature is wrong for it.
var ErrRefused = errors.New("the witness does not accept the log's signature")

// sizeType is the media type of the size in a 409 (C2SP tlog-witness).
const sizeType = "text/x.tlog.size"

// maxAnswer bounds what is read of a witness's answer, in bytes; a few
// cosignatures have some hundred.
const maxAnswer = 64 << 10

// Client asks a witness over HTTP (C2SP tlog-witness, add-checkpoint). It is
// safe for concurrent use.
type Client struct {
	prefix string
	http   *http.Client
	key    translog.Witness
}

// NewClient makes a client of the witness with that verifier key whose
// submission prefix is an http or https URL. A nil HTTP client is one of its own.
func NewClient(prefix, vkey string, h *http.Client) (*Client, error) {
	u, err := url.Parse(prefix)
	if err != nil {
		return nil, fmt.Errorf("configure witness: %w", err)
	}
	if (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("configure witness: %q is not of the form https://HOST[:PORT][/PATH]", prefix)
	}
	key, err := translog.ParseWitness(vkey)
	if err != nil {
		return nil, fmt.Errorf("configure witness: %w", err)
	}
	if h == nil {
		h = &http.Client{}
	}
	return &Client{prefix: strings.TrimSuffix(u.String(), "/"), http: h, key: key}, nil
}

// Name is the name in the witness's key.
func (c *Client) Name() string { return c.key.Name() }

// AddCheckpoint is [Witness.AddCheckpoint] of the witness at the other end.
// Errors wrap ErrRefused (403), ErrUnknownLog (404), *ConflictError (409) or
// ErrInconsistent (422). The lines are taken only if one of them is the
// witness's own and verifies: whoever answers in its place gains nothing.
func (c *Client) AddCheckpoint(ctx context.Context, old int64, proof []commitment.Hash, signed string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.prefix+"/add-checkpoint", strings.NewReader(requestText(old, proof, signed)))
	if err != nil {
		return "", fmt.Errorf("ask witness: %w", err)
	}
	req.Header.Set("Content-Type", "text/plain; charset=utf-8")
	resp, err := c.http.Do(req)
	if err != nil {
		return "", fmt.Errorf("ask witness: %w", err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return "", fmt.Errorf("ask witness: read answer: %w", err)
	}
	if len(data) > maxAnswer {
		return "", fmt.Errorf("ask witness: the answer is larger than %d bytes", maxAnswer)
	}
	switch resp.StatusCode {
	case http.StatusOK:
		return c.lines(signed, string(data))
	case http.StatusForbidden:
		err = ErrRefused
	case http.StatusNotFound:
		err = ErrUnknownLog
	case http.StatusConflict:
		err = conflict(resp.Header.Get("Content-Type"), string(data))
	case http.StatusUnprocessableEntity:
		err = ErrInconsistent
	default:
		err = fmt.Errorf("it answered %s", resp.Status)
	}
	return "", fmt.Errorf("ask witness: %w", err)
}

// requestText is the body of an add-checkpoint: the old size, the proof, the note.
func requestText(old int64, proof []commitment.Hash, signed string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "old %d\n", old)
	for _, h := range proof {
		b.WriteString(base64.StdEncoding.EncodeToString(h[:]))
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
	b.WriteString(signed)
	return b.String()
}

// lines are those of the answer, if the witness has really cosigned.
func (c *Client) lines(signed, text string) (string, error) {
	cosigned, err := translog.AddLines(signed, text)
	if err != nil {
		return "", fmt.Errorf("ask witness: %w", err)
	}
	switch _, ok, err := c.key.Cosigned(cosigned); {
	case err != nil:
		return "", fmt.Errorf("ask witness: %w", err)
	case !ok:
		return "", fmt.Errorf("ask witness: no line of the answer is signed by %s", c.key)
	}
	return text, nil
}

// conflict reads which size the witness has cosigned last. Without it the
// answer says only that two requests met, and the next one may succeed.
func conflict(mediaType, text string) error {
	kind, _, err := mime.ParseMediaType(mediaType)
	if err != nil || kind != sizeType {
		return errors.New("another checkpoint came between (409)")
	}
	digits, ok := strings.CutSuffix(text, "\n")
	size, err := strconv.ParseInt(digits, 10, 64)
	if !ok || err != nil || size < 0 || strconv.FormatInt(size, 10) != digits {
		return fmt.Errorf("its 409 names no size: %.40q", text)
	}
	return &ConflictError{Size: size}
}
