package mcptool

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"github.com/ferrule-dev/ferrule/tool"
)

func TestContent(t *testing.T) {
	tests := []struct {
		name, raw string
		want      []tool.Content
		failed    string
	}{
		{"text", `{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`, []tool.Content{tool.Text("a"), tool.Text("b")}, ""},
		{"nothing", `{}`, []tool.Content{}, ""},
		{"an image", `{"content":[{"type":"image","data":"AAE=","mimeType":"image/png"}]}`, []tool.Content{{Type: tool.ImageContent, Data: []byte{0, 1}, MediaType: "image/png"}}, ""},
		{"sound", `{"content":[{"type":"audio","data":"AAE=","mimeType":"audio/wav"}]}`, []tool.Content{{Type: tool.AudioContent, Data: []byte{0, 1}, MediaType: "audio/wav"}}, ""},
		{"an image that is none", `{"content":[{"type":"image","data":"!","mimeType":"image/png"}]}`, []tool.Content{tool.Text(`{"type":"image","data":"!","mimeType":"image/png"}`)}, ""},
		{"a link", `{"content":[{"type":"resource_link","uri":"a:b","name":"n","title":"t","mimeType":"text/plain"}]}`, []tool.Content{{Type: tool.LinkContent, URI: "a:b", Name: "n", Text: "t", MediaType: "text/plain"}}, ""},
		{"a text within", `{"content":[{"type":"resource","resource":{"uri":"a:b","text":"t"}}]}`, []tool.Content{tool.Text("t")}, ""},
		{"an image within", `{"content":[{"type":"resource","resource":{"uri":"a:b","blob":"AAE=","mimeType":"image/png"}}]}`, []tool.Content{{Type: tool.ImageContent, Data: []byte{0, 1}, MediaType: "image/png", Name: "a:b"}}, ""},
		{"bytes within", `{"content":[{"type":"resource","resource":{"uri":"a:b","blob":"AAE=","mimeType":"application/pdf"}}]}`, []tool.Content{{Type: tool.LinkContent, URI: "a:b", MediaType: "application/pdf"}}, ""},
		{"what is not known", `{"content":[{"type":"hologram","x":1}]}`, []tool.Content{tool.Text(`{"type":"hologram","x":1}`)}, ""},
		{"structured", `{"content":[{"type":"text","text":"see"}],"structuredContent":{"a":1}}`, []tool.Content{tool.Text("see"), {Type: tool.JSONContent, JSON: json.RawMessage(`{"a":1}`)}}, ""},
		{"structured, and the same as text", `{"content":[{"type":"text","text":"{ \"a\": 1 }"}],"structuredContent":{"a":1}}`, []tool.Content{{Type: tool.JSONContent, JSON: json.RawMessage(`{"a":1}`)}}, ""},
		{"an error", `{"isError":true,"content":[{"type":"text","text":"no such file"}]}`, []tool.Content{tool.Text("no such file")}, "no such file"},
		{"an error that is none", `{"isError":"true","content":[]}`, []tool.Content{}, ""},
	}
	for _, tt := range tests {
		t.Run("M1 "+tt.name, func(t *testing.T) {
			got, err := callResult(json.RawMessage(tt.raw))
			if !reflect.DeepEqual(got.Content, tt.want) {
				t.Errorf("got %+v, want %+v", got.Content, tt.want)
			}
			e := (*tool.Error)(nil)
			if errors.As(err, &e); (e != nil) != (tt.failed != "") || e != nil && (e.Kind != tool.Failed || e.Text != tt.failed) {
				t.Errorf("error: got %v, want %q", err, tt.failed)
			}
		})
	}
}
