package harness

import "testing"

func TestGeminiGolden(t *testing.T) { golden(t, GeminiCLI, "gemini") }
