package main

import (
	"io"

	"github.com/schollz/progressbar/v3"

	"sessdex/indexer"
)

// progress is a bar on stderr for a job that reports indexer.Progress; without a
// terminal there, or with --json, it is silent. end removes it.
func (a *app) progress(what string) (tell func(indexer.Progress), end func()) {
	if _, tty := terminal(a.errOut); !tty || a.json {
		return nil, func() {}
	}
	return bar(a.errOut, what)
}

func bar(w io.Writer, what string) (func(indexer.Progress), func()) {
	var b *progressbar.ProgressBar
	tell := func(p indexer.Progress) {
		total, done := p.Bytes, p.DoneBytes
		if total == 0 {
			total, done = int64(p.Items), int64(p.Done)
		}
		if b == nil {
			opts := []progressbar.Option{
				progressbar.OptionSetWriter(w), progressbar.OptionSetDescription(what),
				progressbar.OptionSetWidth(30), progressbar.OptionThrottle(65e6), progressbar.OptionClearOnFinish(),
				progressbar.OptionShowCount(), progressbar.OptionSetPredictTime(true),
			}
			if p.Bytes > 0 {
				opts = append(opts, progressbar.OptionShowBytes(true))
			}
			b = progressbar.NewOptions64(max(total, 1), opts...)
		}
		_ = b.Set64(min(done, total)) // a bar that cannot be drawn is no error
	}
	return tell, func() {
		if b != nil {
			_ = b.Finish()
			_ = b.Clear()
		}
	}
}
