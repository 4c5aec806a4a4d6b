package search

import (
	"io"
	"log"
	"runtime"
	"strings"
	"sync"
)

// Bleve's store writes what it meets in a damaged index to the standard logger,
// file names and all, and takes no logger of its own. What matters of it comes back
// as an error, so its lines are dropped, whoever the standard logger writes to;
// everybody else's pass.
type quiet struct{ to io.Writer }

// storePackage is the package whose lines are dropped.
const storePackage = "github.com/blevesearch/bleve/v2/index/scorch."

func (q quiet) Write(line []byte) (int, error) {
	var callers [16]uintptr
	frames := runtime.CallersFrames(callers[:runtime.Callers(2, callers[:])])
	for {
		f, more := frames.Next()
		if strings.HasPrefix(f.Function, storePackage) {
			return len(line), nil
		}
		// The first caller outside the logger is who logs.
		if !more || !strings.HasPrefix(f.Function, "log.") && !strings.HasPrefix(f.Function, "log/slog.") {
			return q.to.Write(line)
		}
	}
}

var quieting sync.Mutex

// silenceStore comes before every opening of an index, since the program may have
// set the standard logger's output meanwhile.
func silenceStore() {
	quieting.Lock()
	defer quieting.Unlock()
	if to := log.Writer(); to != nil {
		if _, ok := to.(quiet); !ok {
			log.SetOutput(quiet{to})
		}
	}
}
