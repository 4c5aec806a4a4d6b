package blobstore_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"sessdex/blobstore"
)

// The test program is also what other processes do to a store: with one of
// these variables set it does that, prints, and ends.
func TestMain(m *testing.M) {
	switch dir := os.Getenv("STORE_TEST_DIR"); os.Getenv("STORE_TEST_DO") {
	case "":
		blobstore.SetRetryPause(time.Millisecond)
		os.Exit(m.Run())
	case "race":
		exit(childRace(dir))
	case "write":
		exit(childWrite(dir))
	case "fill":
		exit(childFill(dir))
	}
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func child(t *testing.T, do, dir string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), "STORE_TEST_DO="+do, "STORE_TEST_DIR="+dir)
	cmd.Stderr = os.Stderr
	return cmd
}

const raceKeys, raceAdds = 20, 20

// childRace creates keys that others create too, printing those it won, and adds
// to a number that others add to.
func childRace(dir string) error {
	s, err := blobstore.OpenDir(dir)
	if err != nil {
		return err
	}
	ctx, me := context.Background(), strconv.Itoa(os.Getpid())
	for i := range raceKeys {
		key := fmt.Sprintf("race/%d/x", i) // the folder is made in the race too
		_, err := s.Put(ctx, key, strings.NewReader(me), int64(len(me)), blobstore.IfAbsent())
		if err == nil {
			fmt.Println(key)
		} else if !errors.Is(err, blobstore.ErrLostRace) {
			return err
		}
	}
	for done := 0; done < raceAdds; {
		n, version := 0, blobstore.IfAbsent()
		r, info, err := s.Get(ctx, "n")
		if err == nil {
			data, rerr := io.ReadAll(r)
			r.Close()
			n, err = strconv.Atoi(string(data))
			version, err = blobstore.IfVersion(info.Version), errors.Join(rerr, err)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		next := strconv.Itoa(n + 1)
		_, err = s.Put(ctx, "n", strings.NewReader(next), int64(len(next)), version)
		if err == nil {
			done++
		} else if !errors.Is(err, blobstore.ErrLostRace) {
			return err
		}
	}
	return nil
}

func TestDirectoryBetweenProcesses(t *testing.T) {
	dir := t.TempDir()
	const processes = 4
	var cmds []*exec.Cmd
	var outs []*strings.Builder
	for range processes {
		cmd, out := child(t, "race", dir), &strings.Builder{}
		cmd.Stdout = out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		cmds, outs = append(cmds, cmd), append(outs, out)
	}
	won := map[string]int{}
	for i, cmd := range cmds {
		if err := cmd.Wait(); err != nil {
			t.Fatal(err)
		}
		for _, key := range strings.Fields(outs[i].String()) {
			won[key]++
		}
	}
	for i := range raceKeys {
		if key := fmt.Sprintf("race/%d/x", i); won[key] != 1 {
			t.Errorf("%d processes created %s", won[key], key)
		}
	}
	if got, want := getText(t, openDir(t, dir), "n"), strconv.Itoa(processes*raceAdds); got != want {
		t.Errorf("%s additions arrived of %s", got, want)
	}
}

// childWrite replaces a few objects for ever, printing each that Put has said
// is stored.
func childWrite(dir string) error {
	s, err := blobstore.OpenDir(dir)
	if err != nil {
		return err
	}
	for i := 0; ; i++ {
		text := writeText(i)
		if _, err := s.Put(context.Background(), fmt.Sprintf("k/%d", i%3), strings.NewReader(text), int64(len(text)), blobstore.Cond{}); err != nil {
			return err
		}
		fmt.Println(i)
	}
}

func writeText(i int) string { return strings.Repeat(fmt.Sprintf("%08d,", i), 5000) }

// TestDirectoryKilled kills a writer again and again: every object is whole,
// none is older than what was acknowledged, and the lock is free.
func TestDirectoryKilled(t *testing.T) {
	dir := t.TempDir()
	s := openDir(t, dir)
	for round := range 8 {
		cmd := child(t, "write", dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		acked := -1
		lines := bufio.NewScanner(out)
		for range 5 + 3*round {
			lines.Scan()
		}
		cmd.Process.Kill()
		for ok := true; ok; ok = lines.Scan() { // what it said before it died
			if n, err := strconv.Atoi(lines.Text()); err == nil {
				acked = n
			}
		}
		cmd.Wait()
		if acked < 4 {
			t.Fatalf("round %d: the writer stored %d objects", round, acked+1)
		}
		newest := -1
		for _, key := range list(t, s, "k/") {
			text := getText(t, s, key) // fails on damage
			n, err := strconv.Atoi(text[:8])
			if err != nil || text != writeText(n) {
				t.Fatalf("round %d: %s is torn", round, key)
			}
			newest = max(newest, n)
		}
		if newest < acked {
			t.Errorf("round %d: write %d was acknowledged and the newest is %d", round, acked, newest)
		}
		for i := range 3 {
			putText(t, s, fmt.Sprintf("k/%d", i), writeText(0), blobstore.Cond{})
		}
	}
}

// childFill fills a small disk, then checks what a full one leaves.
func childFill(dir string) error {
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", dir).CombinedOutput(); err != nil {
		fmt.Println("SKIP", err, string(out))
		return nil
	}
	s, err := blobstore.OpenDir(dir)
	if err != nil {
		return err
	}
	put := func(key string, size int) error {
		_, err := s.Put(context.Background(), key, strings.NewReader(strings.Repeat("x", size)), int64(size), blobstore.Cond{})
		return err
	}
	if err := put("k", 300<<10); err != nil {
		return err
	}
	err = put("k", 900<<10)
	if !errors.Is(err, blobstore.ErrUnavailable) || !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "free some space") {
		return fmt.Errorf("Put on a full disk: %v", err)
	}
	if err := put("new", 900<<10); err == nil {
		return errors.New("a second Put on a full disk succeeds")
	}
	n := 0
	for info, err := range s.List(context.Background(), "") {
		if n++; err != nil || info.Key != "k" || info.Size != 300<<10 {
			return fmt.Errorf("listed %+v, %v", info, err)
		}
	}
	r, _, err := s.Get(context.Background(), "k")
	if err != nil {
		return err
	}
	defer r.Close()
	if m, err := io.Copy(io.Discard, r); err != nil || m != 300<<10 || n != 1 {
		return fmt.Errorf("read %d bytes of one of %d objects: %v", m, n, err)
	}
	return put("small", 100<<10) // nothing half-written takes the room
}

func TestDirectoryFullDisk(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs Linux to mount a small disk")
	}
	cmd := child(t, "fill", t.TempDir())
	ownMounts(cmd) // the disk is gone with the process
	out, err := cmd.Output()
	switch {
	case errors.Is(err, fs.ErrPermission) || strings.HasPrefix(string(out), "SKIP"):
		t.Skipf("this machine does not let a test mount a small disk: %v %s", err, out)
	case err != nil:
		t.Errorf("%v (its words are above)", err)
	}
}

// TestDirectoryStopped checks that a lock another process holds is waited for
// and given up when the context ends.
func TestDirectoryStopped(t *testing.T) {
	needUnix(t)
	dir := t.TempDir()
	s := openDir(t, dir)
	putText(t, s, "k", "before", blobstore.Cond{})
	free := blobstore.HoldLocks(t, dir)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := s.Put(ctx, "k", strings.NewReader("x"), 1, blobstore.Cond{})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Put while the lock is held: %v, want the context's end", err)
	}
	if err := s.Delete(ctx, "k"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Delete while the lock is held: %v, want the context's end", err)
	}
	if got := getText(t, s, "k"); got != "before" {
		t.Errorf("a reader waits for no lock and reads %q", got)
	}
	free()
	putText(t, s, "k", "after", blobstore.Cond{})
}
