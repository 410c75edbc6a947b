// Goroutines that call C, callbacks from C, garbage collection, panics across C, signals, children,
// names of functions from return addresses.
package main

/*
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

extern int go_twice(int);
extern void go_panics(int);
extern int go_descends(int);

static int order(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

static int median(int n) {
    int *numbers = malloc(n * sizeof *numbers);
    for (int i = 0; i < n; i++) numbers[i] = (i * 7919) % n;
    qsort(numbers, n, sizeof *numbers, order);
    int result = numbers[n / 2];
    free(numbers);
    return result;
}

static int calls_back(int n) { return go_twice(n) + 1; }

static void panics(int n) { go_panics(n); }

// So many frames of C between two of Go.
__attribute__((noinline)) static int descends(int depth) {
    volatile char frame[64];
    memset((void *)frame, depth, sizeof frame);
    return depth ? descends(depth - 1) + frame[5] - depth + 1 : go_descends(0);
}

static void *thread(void *argument) {
    int n = *(int *)argument;
    *(int *)argument = go_descends(n) + calls_back(n);
    return NULL;
}

static int in_thread(int n) {
    pthread_t id;
    pthread_create(&id, NULL, thread, &n);
    pthread_join(id, NULL);
    return n;
}

static void spin(long rounds) { for (volatile long i = 0; i < rounds; i++) { } }
*/
import "C"

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"os/user"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

//export go_twice
func go_twice(n C.int) C.int {
	if n%50 == 0 {
		runtime.GC()
	}
	return n * 2
}

//export go_panics
func go_panics(n C.int) { panic(fmt.Sprint("panic ", n)) }

//export go_descends
func go_descends(n C.int) C.int {
	if n > 0 {
		return C.descends(n) + C.int(grows(100))
	}
	return C.int(len(make([]byte, 1000))) + C.int(grows(1000))
}

func grows(n int) int {
	if n == 0 {
		return 0
	}
	var frame [100]int
	frame[n%100] = n
	return grows(n-1) + frame[n%100] - n + 1
}

func recovers(n int) (text string) {
	defer func() { text = fmt.Sprint(recover()) }()
	C.panics(C.int(n))
	return "none"
}

func names() string {
	pcs := make([]uintptr, 10)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs)])
	var names []string
	for {
		frame, more := frames.Next()
		if strings.HasPrefix(frame.Function, "main.") {
			names = append(names, fmt.Sprint(frame.Function, ":", frame.Line))
		}
		if !more {
			return strings.Join(names, " ")
		}
	}
}

func main() {
	var group sync.WaitGroup
	totals := make([]int, 8)
	for g := range totals {
		group.Add(1)
		go func(g int) {
			defer group.Done()
			for i := 0; i < 100; i++ {
				totals[g] += int(C.median(500)) + int(C.calls_back(C.int(i)))
				totals[g] += grows(1000) + len(strings.Repeat("x", i))
				if i%20 == 0 {
					totals[g] += len(recovers(i)) + int(C.in_thread(20))
					C.spin(1000000)
				}
			}
		}(g)
	}
	signals := make(chan os.Signal, 10)
	signal.Notify(signals, syscall.SIGUSR1)
	for i := 0; i < 5; i++ {
		syscall.Kill(os.Getpid(), syscall.SIGUSR1)
		<-signals
		out, err := exec.Command("/bin/echo", "child", fmt.Sprint(i)).Output()
		fmt.Print(string(out), err, "\n")
		time.Sleep(5 * time.Millisecond)
	}
	group.Wait()
	fmt.Println(totals, recovers(7), names())
	me, err := user.Current()
	fmt.Println(me.Uid, err)
	func() {
		defer func() { fmt.Println(recover()) }()
		var pointer *int
		*pointer = 1
	}()
	// As a C program ends: Go's own exit calls nothing at exit, and szc's log would not be written.
	C.exit(0)
}
