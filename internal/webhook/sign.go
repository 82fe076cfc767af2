package webhook

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Sign is the header webhook-signature: one signature for each key, in order,
// of the id, the time in seconds and the body with dots between them.
func Sign(keys []string, id string, at time.Time, body []byte) (string, error) {
	signed := append([]byte(id+"."+strconv.FormatInt(at.Unix(), 10)+"."), body...)
	var all []string
	for _, key := range keys {
		s, err := signature(key, signed)
		if err != nil {
			return "", fmt.Errorf("sign message %s: %w", id, err)
		}
		all = append(all, s)
	}
	if len(all) == 0 {
		return "", fmt.Errorf("sign message %s: there is no key", id)
	}
	return strings.Join(all, " "), nil
}

// signature never shows the key in an error.
func signature(key string, signed []byte) (string, error) {
	prefix, text, _ := strings.Cut(key, "_")
	secret, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return "", errors.New("the key is not base64")
	}
	switch {
	case prefix == "whsec" && len(secret) >= 24 && len(secret) <= 64:
		mac := hmac.New(sha256.New, secret)
		mac.Write(signed)
		return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)), nil
	case prefix == "whsk" && len(secret) == ed25519.PrivateKeySize:
		return "v1a," + base64.StdEncoding.EncodeToString(ed25519.Sign(secret, signed)), nil
	}
	return "", errors.New("it is no key of a known kind")
}
