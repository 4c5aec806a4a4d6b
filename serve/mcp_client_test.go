package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// clients are the two ways to reach the server, each with a real client.
var clients = map[string]func(*testing.T, *Service) *client.Client{
	"stdio": func(t *testing.T, s *Service) *client.Client {
		fromClient, toServer := io.Pipe()
		fromServer, toClient := io.Pipe()
		done := make(chan error)
		go func() { done <- s.ServeStdio(context.Background(), fromClient, toClient) }()
		c := client.NewClient(transport.NewIO(fromServer, toServer, io.NopCloser(strings.NewReader(""))))
		t.Cleanup(func() {
			c.Close() // closes the server's input, which must end it
			if err := <-done; err != nil {
				t.Error(err)
			}
			toClient.Close()
		})
		return c
	},
	"http": func(t *testing.T, s *Service) *client.Client {
		server := httptest.NewServer(s.Handler(HTTPOptions{}))
		t.Cleanup(server.Close)
		c, err := client.NewStreamableHttpClient(server.URL + "/mcp")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	},
}

func connect(t *testing.T, c *client.Client, version string) {
	t.Helper()
	if err := c.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	var req mcp.InitializeRequest
	req.Params.ProtocolVersion = version
	req.Params.ClientInfo = mcp.Implementation{Name: "test", Version: "1"}
	if _, err := c.Initialize(t.Context(), req); err != nil {
		t.Fatalf("initialize %s: %v", version, err)
	}
}

func call(t *testing.T, c *client.Client, tool string, args any) (text string, isError bool) {
	t.Helper()
	var req mcp.CallToolRequest
	req.Params.Name, req.Params.Arguments = tool, args
	result, err := c.CallTool(t.Context(), req)
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	if result.StructuredContent != nil || len(result.Content) != 1 {
		t.Fatalf("%s: want one text and nothing structured, got %+v", tool, result)
	}
	content, ok := result.Content[0].(mcp.TextContent)
	if !ok {
		t.Fatalf("%s: got %T", tool, result.Content[0])
	}
	return content.Text, result.IsError
}

// The story of the product, by real clients of every protocol version: find a
// session, look at it, take it up, publish one.
func TestMCPClients(t *testing.T) {
	for name, open := range clients {
		s := newShop(t)
		for i, version := range mcp.ValidProtocolVersions {
			t.Run(name+"/"+version, func(t *testing.T) {
				c := open(t, s)
				connect(t, c, version)
				tools, err := c.ListTools(t.Context(), mcp.ListToolsRequest{})
				if err != nil || len(tools.Tools) != len(mcpTools) {
					t.Fatalf("tools: %v, %v", tools, err)
				}

				found, _ := call(t, c, "search_sessions", map[string]any{"query": "payment retry loop", "limit": "5"})
				id, _, _ := strings.Cut(after(found, "\n1. "), " ")
				if len(id) != 12 || !strings.Contains(found, `"Bound the payment retry"`) {
					t.Fatalf("search: %s", found)
				}
				pack, _ := call(t, c, "fetch_session_context", map[string]any{"id": id, "max_tokens": 500, "include_tool_calls": "true"})
				want, err := s.Context(t.Context(), ContextRequest{ID: id, Options: packOptions(500, true)})
				if err != nil || pack != want.Text {
					t.Errorf("context is %q, want the pack's text %+v, %v", pack, want, err)
				}
				sum, _ := call(t, c, "get_session_summary", map[string]any{"id": id})
				if !strings.Contains(sum, "client/client.go") || !strings.Contains(sum, "Make the payment retry loop") {
					t.Errorf("summary: %s", sum)
				}
				published, _ := call(t, c, "publish_session", map[string]any{
					"transcript": newChat(fmt.Sprintf("22222222-aaaa-4aaa-8aaa-%012d", i), "/home/ann/shop").says("Paint the door green.").answers("It is green.").transcript(),
					"tags":       version,
				})
				if !strings.HasPrefix(published, "Published as a new session.\nid ") {
					t.Errorf("publish: %s", published)
				}
				if found, _ = call(t, c, "search_sessions", map[string]any{"query": "paint door", "tags": []string{version}}); !strings.Contains(found, "Paint the door green.") {
					t.Errorf("published session is not found: %s", found)
				}
			})
		}
	}
}

// The newest protocol needs no handshake: a single message is answered, over both
// transports.
func TestMCPWithoutHandshake(t *testing.T) {
	const message = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_sessions","arguments":{"all_repos":true},` +
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"}}}}`
	s := sharedShop(t)
	got := talk(t, s, message+"\n")
	if !strings.Contains(fmt.Sprint(got["1"]), "Sessions 1-3 of 3") {
		t.Errorf("stdio: %v", got)
	}
	req := httptest.NewRequest("POST", "http://127.0.0.1/mcp", strings.NewReader(message))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Mcp-Protocol-Version", "2026-07-28")
	req.Header.Set("Mcp-Method", "tools/call")
	req.Header.Set("Mcp-Name", "list_sessions")
	w := httptest.NewRecorder()
	s.Handler(HTTPOptions{}).ServeHTTP(w, req)
	if w.Code != 200 || !json.Valid(w.Body.Bytes()) || !strings.Contains(w.Body.String(), "Sessions 1-3 of 3") {
		t.Errorf("http: %d %s", w.Code, w.Body)
	}
}

func after(s, sep string) string {
	_, rest, _ := strings.Cut(s, sep)
	return rest
}
