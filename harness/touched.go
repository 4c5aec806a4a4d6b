package harness

import (
	"strings"

	"github.com/tidwall/gjson"
)

// What tools do, by their names in lower case without "_" and "-": most harnesses
// call theirs alike.
var (
	toolWrites = words(`edit multiedit write create writefile createfile editfile fileedit filewrite fileeditreplacestring
		fileeditinsert strreplace searchreplace replace insert delete deletefile undoedit notebookedit editnotebook
		morpheditfile overwritefile`)
	toolReads = words(`read view readfile viewfile fileread viewimage lookat readnotebook`)
	toolRuns  = words(`bash shell execute powershell runshellcommand runterminalcmd runterminalcommand
		executecommand runcommand terminal exec`)
)

// pathArguments are the names of the argument that is a tool's file.
var pathArguments = []string{"file_path", "filePath", "path", "absolute_path", "target_file", "target_notebook", "notebook_path", "filename", "file"}

// toolPunctuation is what spellings of one tool's name differ in.
var toolPunctuation = strings.NewReplacer("_", "", "-", "")

// touchedPaths lists the paths that a call writes and those that it only reads, as far
// as its name and its arguments tell.
func touchedPaths(tool string, input gjson.Result) (p paths) {
	name := toolPunctuation.Replace(strings.ToLower(tool))
	switch {
	case name == "applypatch":
		p.edits = patchedFiles(input)
	case name == "strreplaceeditor":
		if input.Get("command").Str == "view" {
			p.reads = callFiles(input)
		} else {
			p.edits = callFiles(input)
		}
	case toolWrites[name]:
		p.edits = callFiles(input)
	case toolReads[name]:
		p.reads = callFiles(input)
	case toolRuns[name]:
		p.edits = runWrites(input)
	}
	return p
}

// callFiles are the files named by a call's arguments. Patterns are none.
func callFiles(input gjson.Result) (files []string) {
	for _, key := range pathArguments {
		v := input.Get(key)
		for _, f := range v.Array() {
			if f.Type == gjson.String && f.Str != "" && !strings.ContainsAny(f.Str, "*\n") {
				files = appendNew(files, keep(localPath(f.Str)))
			}
		}
		if v.Exists() {
			break
		}
	}
	return files
}

// runWrites are the files that a command writes, from the folder it runs in.
func runWrites(input gjson.Result) (files []string) {
	command := first(input, "command", "cmd", "script")
	if !input.IsObject() {
		command = input
	}
	dir := first(input, "workdir", "working_directory", "cwd", "directory", "dir_path").String()
	run := readCommand(command)
	for _, f := range append(run.patch, run.shell...) {
		files = appendNew(files, pathIn(dir, f))
	}
	return files
}
