package secret_test

import (
	"encoding/json"
	"testing"
)

// A value that is a file of JSON, as cloud providers give out: tools decode it,
// and what they say afterwards holds what stands in it.
func TestScrubDecoded(t *testing.T) {
	t.Parallel()
	account := map[string]string{
		"type":          "service_account",
		"client_secret": "GOCSPX-1pQ8vB4nL8pR3tY6wZ1c",
		"private_key":   "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n-----END PRIVATE KEY-----\n",
	}
	compact, _ := json.Marshal(account)
	indented, _ := json.MarshalIndent(account, "", "  ")
	for form, value := range map[string]string{"": string(compact), ", indented": string(indented)} {
		v := vaultOf(t, value)
		for _, key := range []string{"client_secret", "private_key"} {
			t.Run("K3 the "+key+" of a value that is JSON"+form, func(t *testing.T) {
				t.Parallel()
				if got, found := v.Scrub(account[key]); len(found) == 0 {
					t.Errorf("Scrub leaves %q", got)
				}
			})
		}
	}
	t.Run("K3 a line of it that is no secret stays", func(t *testing.T) {
		t.Parallel()
		const line = `  "type": "service_account",`
		if got, _ := vaultOf(t, string(indented)).Scrub(line); got != line {
			t.Errorf("Scrub(%q) = %q", line, got)
		}
	})
}
