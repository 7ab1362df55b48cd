// A small ab: goroutines that take requests from a channel, and a report in ab's words.
package main

import (
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"sort"
	"sync"
	"time"
)

// outcome is how long a request took, or that it failed.
type outcome struct {
	took time.Duration
	err  error
}

func main() {
	count := flag.Int("n", 1, "requests")
	workers := flag.Int("c", 1, "requests at a time")
	keep := flag.Bool("k", false, "keep connections")
	flag.Bool("q", true, "no progress, as there is none")
	flag.Parse()
	if flag.NArg() != 1 || *count < 1 || *workers < 1 {
		fmt.Fprintln(os.Stderr, "usage: own-ab [-k] -n REQUESTS -c CONNECTIONS URL")
		os.Exit(2)
	}
	begun := time.Now()
	outcomes := load(flag.Arg(0), *count, *workers, *keep)
	report(outcomes, *workers, time.Since(begun))
}

// load makes the requests. Each goroutine makes one at a time, and takes the next when it is done.
func load(url string, count, workers int, keep bool) []outcome {
	transport := &http.Transport{DisableKeepAlives: !keep, MaxIdleConnsPerHost: workers}
	client := &http.Client{Transport: transport}
	requests, outcomes := make(chan int), make([]outcome, count)
	var group sync.WaitGroup
	for range make([]struct{}, workers) {
		group.Add(1)
		go func() {
			defer group.Done()
			for number := range requests {
				outcomes[number] = exchange(client, url)
			}
		}()
	}
	for number := 0; number < count; number++ {
		requests <- number
	}
	close(requests)
	group.Wait()
	return outcomes
}

// exchange makes one request and reads the whole response.
func exchange(client *http.Client, url string) outcome {
	begun := time.Now()
	response, err := client.Get(url)
	if err != nil {
		return outcome{err: err}
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	if err == nil && response.StatusCode/100 != 2 {
		err = fmt.Errorf("status %d", response.StatusCode)
	}
	return outcome{took: time.Since(begun), err: err}
}

// report prints what ab prints, as far as it is known. Percentiles are in whole milliseconds.
func report(outcomes []outcome, workers int, took time.Duration) {
	var times []time.Duration
	var sum time.Duration
	for _, outcome := range outcomes {
		if outcome.err == nil {
			times = append(times, outcome.took)
			sum += outcome.took
		}
	}
	sort.Slice(times, func(i, j int) bool { return times[i] < times[j] })
	fmt.Printf("Concurrency Level:      %d\n", workers)
	fmt.Printf("Time taken for tests:   %.3f seconds\n", took.Seconds())
	fmt.Printf("Complete requests:      %d\n", len(times))
	fmt.Printf("Failed requests:        %d\n", len(outcomes)-len(times))
	fmt.Printf("Requests per second:    %.2f [#/sec] (mean)\n", float64(len(times))/took.Seconds())
	if len(times) == 0 {
		os.Exit(1)
	}
	mean := sum.Seconds() * 1e3 / float64(len(times))
	fmt.Printf("Time per request:       %.3f [ms] (mean)\n", mean)
	for _, percent := range []int{50, 66, 75, 80, 90, 95, 98, 99, 100} {
		rank := (len(times)*percent + 99) / 100
		fmt.Printf(" %3d%% %6d\n", percent, times[rank-1].Milliseconds())
	}
}
