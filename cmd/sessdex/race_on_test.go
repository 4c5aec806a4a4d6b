//go:build race

package main

// raceDetector: this test and all it starts takes many times as long.
const raceDetector = true
