package harness

import "testing"

func TestOpenCodeGolden(t *testing.T) { golden(t, OpenCode, "opencode") }
