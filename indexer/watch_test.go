package indexer_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"sessdex/indexer"
)

func TestWatch(t *testing.T) {
	for _, early := range []bool{true, false} {
		t.Run(fmt.Sprintf("root there first %v", early), func(t *testing.T) {
			m := newMachine(t)
			if early {
				m.write(t, claudeFile, claude(claudeID, "zeppelin"))
			}
			ctx, cancel := context.WithCancel(context.Background())
			imported := make(chan *indexer.Report, 100)
			ended := make(chan error)
			go func() {
				ended <- m.Watch(ctx, indexer.ImportOptions{}, func(r *indexer.Report, err error) {
					if err != nil {
						t.Error(err)
					}
					imported <- r
				})
			}()
			if early {
				<-imported
			} else {
				time.Sleep(200 * time.Millisecond) // until the watch stands
			}
			m.write(t, codexFile, codex(codexID, "gondola"))
			m.write(t, ".claude/projects/-work-shop/no-transcript.txt", "x")
			for deadline := time.After(40 * time.Second); len(m.find(t, "gondola")) == 0; {
				select {
				case <-imported:
				case <-deadline:
					t.Fatal("a new session was not imported")
				}
			}
			cancel()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("watch ended with %v", err)
			}
		})
	}
}
