// One end of a uTP connection by the package that is imported as utp.
//
//	peer receive              prints its address, reads to the end, prints the number of bytes and their SHA-256
//	peer send HOST:PORT N     writes N bytes of the pattern and ends; stays until its input ends
package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"strconv"

	utp "github.com/anacrolix/go-libutp"
)

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func receive() {
	socket, err := utp.NewSocket("udp", "127.0.0.1:0")
	fail(err)
	fmt.Println(socket.Addr())
	connection, err := socket.Accept()
	fail(err)
	hash := sha256.New()
	count, err := io.Copy(hash, connection)
	fail(err)
	fmt.Printf("%d %x\n", count, hash.Sum(nil))
	connection.Close()
}

func send(to string, length int) {
	socket, err := utp.NewSocket("udp", "127.0.0.1:0")
	fail(err)
	connection, err := socket.DialContext(context.Background(), "", to)
	fail(err)
	bytes := make([]byte, length)
	for at := range bytes {
		bytes[at] = byte(at * 31)
	}
	_, err = connection.Write(bytes)
	fail(err)
	fail(connection.Close())
}

func main() {
	if os.Args[1] == "receive" {
		receive()
	} else {
		length, err := strconv.Atoi(os.Args[3])
		fail(err)
		send(os.Args[2], length)
	}
	io.Copy(io.Discard, os.Stdin)
}
