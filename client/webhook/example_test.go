package webhook_test

import (
	"fmt"
	"net/http"
	"time"

	"fairdice/client/webhook"
)

// The published example of Standard Webhooks.
func ExampleVerifier_Verify() {
	v, err := webhook.New("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	if err != nil {
		fmt.Println(err)
		return
	}
	h := http.Header{}
	h.Set(webhook.IDHeader, "msg_p5jXN8AQM9LWM0D4loKWxJek")
	h.Set(webhook.TimestampHeader, "1614265330")
	h.Set(webhook.SignatureHeader, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
	body := []byte(`{"test": 2432232314}`)
	at := time.Unix(1614265330, 0)
	fmt.Println(v.Verify(h, body, at))
	fmt.Println(v.Verify(h, append(body, ' '), at))
	fmt.Println(v.Verify(h, body, at.Add(time.Hour)))
	// Output:
	// <nil>
	// verify message msg_p5jXN8AQM9LWM0D4loKWxJek: no good signature
	// verify message msg_p5jXN8AQM9LWM0D4loKWxJek: timestamp outside of the tolerance
}
