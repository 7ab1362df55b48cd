// A server that says hello, on the address that it is given.
package main

import (
	"io"
	"log"
	"net/http"
	"os"
)

func main() {
	http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		io.WriteString(w, "Hello, World!\n")
	})
	log.Fatal(http.ListenAndServe(os.Args[1], nil))
}
