// The same module in Go, by Go's own compiler. What it takes from the host and hands to it lies in this memory.
package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"unsafe"
)

//go:wasmimport golem:tool/host@1.0.0 log
func hostLog(line unsafe.Pointer, size uint32)

// What the host was given a place for must not be collected before the call ends.
var kept [][]byte

//go:wasmexport cabi_realloc
func cabiRealloc(old unsafe.Pointer, oldSize, align, size uint32) unsafe.Pointer {
	room := make([]byte, size+1)
	kept = append(kept, room)
	return unsafe.Pointer(&room[0])
}

// result<string, string> as the interface lays it out: 0 is ok, 1 an error.
var answer struct{ isError, text, size uint32 }

//go:wasmexport run
func run(call unsafe.Pointer, size uint32) unsafe.Pointer {
	told, err := countWords(unsafe.Slice((*byte)(call), size))
	if err != nil {
		answer.isError, told = 1, []byte(err.Error())
	}
	kept = append(kept, told)
	answer.text, answer.size = uint32(uintptr(unsafe.Pointer(&told[0]))), uint32(len(told))
	return unsafe.Pointer(&answer)
}

func countWords(call []byte) ([]byte, error) {
	var asked struct{ Parameters struct{ Text string } }
	if err := json.Unmarshal(call, &asked); err != nil {
		return nil, err
	}
	text := asked.Parameters.Text
	line := []byte(fmt.Sprintf("counting %d characters", len([]rune(text))))
	hostLog(unsafe.Pointer(&line[0]), uint32(len(line)))
	return json.Marshal(map[string]any{"data": map[string]int{"words": len(strings.Fields(text))}})
}

func main() {}
