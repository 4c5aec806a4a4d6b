package harness

import "github.com/tidwall/gjson"

// claudeTouched lists the paths that a tool call means to write and those it only
// reads, as they stand in its input. Whether it did is the result's to say.
func claudeTouched(tool string, input gjson.Result) (edits, reads []string) {
	switch tool {
	case "Edit", "MultiEdit", "Write", "NotebookEdit":
		edits = claudePaths(input)
	case "Read", "NotebookRead":
		reads = claudePaths(input)
	case "Bash":
		edits = shellWrites(input.Get("command").String())
	}
	return edits, reads
}

func claudePaths(input gjson.Result) []string {
	for _, key := range []string{"file_path", "notebook_path"} {
		if p := input.Get(key); p.Type == gjson.String && p.Str != "" {
			return []string{keep(p.Str)}
		}
	}
	return nil
}
