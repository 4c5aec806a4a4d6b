package harness

import (
	"net/url"
	"path"
	"strings"
)

// Transcripts travel: the paths in them are of the system that the session ran on,
// which package filepath, made for this one, does not know.

// baseName is the last component of a path of any system.
func baseName(p string) string {
	p = strings.TrimRight(strings.ReplaceAll(p, `\`, "/"), "/")
	return p[strings.LastIndexByte(p, '/')+1:]
}

// isAbsPath reports whether a path is absolute on any system, or a person's home's.
func isAbsPath(p string) bool {
	return strings.HasPrefix(p, "/") || strings.HasPrefix(p, "~") || strings.HasPrefix(p, `\\`) ||
		len(p) > 2 && p[1] == ':' && (p[2] == '\\' || p[2] == '/')
}

// joinPath is a relative path below a folder, with the separators that the folder has.
func joinPath(dir, file string) string {
	if strings.Contains(dir, `\`) && !strings.Contains(dir, "/") {
		file = strings.TrimPrefix(strings.ReplaceAll(file, "/", `\`), `.\`)
		return strings.TrimSuffix(dir, `\`) + `\` + file
	}
	return path.Join(dir, file)
}

// pathIn is a path that a tool was given, from the folder it ran in where that is known
// and the path is relative.
func pathIn(dir, file string) string {
	if file != "" && dir != "" && !isAbsPath(file) {
		file = joinPath(dir, file)
	}
	return keep(file)
}

// localPath is the path that a file URI names; a path is its own.
func localPath(s string) string {
	if !strings.HasPrefix(s, "file://") {
		return s
	}
	u, err := url.Parse(s)
	if err != nil {
		return strings.TrimPrefix(s, "file://")
	}
	if len(u.Path) > 2 && u.Path[2] == ':' { // /C:/dir
		return u.Path[1:]
	}
	return u.Path
}
