// Checks with Go's sumdb packages what lacre writes: notes, inclusion and consistency proofs, tiles.
//
//	main note KEY FILE                         opens the note FILE with the verifier key KEY
//	main record SIZE ROOT INDEX LEAF PROOF...  checks an inclusion proof (hexadecimal hashes)
//	main tree SIZE ROOT OLDSIZE OLDROOT PROOF... checks a consistency proof
//	main register KEY DIR                      opens DIR/checkpoint, authenticates every tile and every entry
package main

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func number(text string) int64 {
	value, err := strconv.ParseInt(text, 10, 64)
	must(err)
	return value
}

func hash(text string) tlog.Hash {
	var out tlog.Hash
	data, err := hex.DecodeString(text)
	must(err)
	if copy(out[:], data) != tlog.HashSize {
		must(fmt.Errorf("%q is no hash", text))
	}
	return out
}

func hashes(texts []string) []tlog.Hash {
	out := make([]tlog.Hash, len(texts))
	for i, text := range texts {
		out[i] = hash(text)
	}
	return out
}

func open(key, file string) string {
	verifier, err := note.NewVerifier(key)
	must(err)
	data, err := os.ReadFile(file)
	must(err)
	opened, err := note.Open(data, note.VerifierList(verifier))
	must(err)
	return opened.Text
}

// reader serves C2SP tiles, whose paths lack the height that Go's have, to Go's own checker.
type reader struct{ dir string }

func (r reader) Height() int { return 8 }

func (r reader) ReadTiles(tiles []tlog.Tile) ([][]byte, error) {
	out := make([][]byte, len(tiles))
	for i, tile := range tiles {
		path := strings.Replace(tile.Path(), "tile/8/", "tile/", 1)
		data, err := os.ReadFile(filepath.Join(r.dir, path))
		if err != nil {
			return nil, err
		}
		out[i] = data
	}
	return out, nil
}

func (r reader) SaveTiles(tiles []tlog.Tile, data [][]byte) {}

func register(key, dir string) {
	lines := strings.Split(open(key, filepath.Join(dir, "checkpoint")), "\n")
	size := number(lines[1])
	root, err := base64.StdEncoding.DecodeString(lines[2])
	must(err)
	tree := tlog.Tree{N: size, Hash: hash(hex.EncodeToString(root))}
	checked := tlog.TileHashReader(tree, reader{dir})
	for index := int64(0); index < size; {
		width := size - index
		if width > 256 {
			width = 256
		}
		bundle := tlog.Tile{H: 8, L: 0, N: index / 256, W: int(width)}
		path := strings.Replace(bundle.Path(), "tile/8/0/", "tile/entries/", 1)
		data, err := os.ReadFile(filepath.Join(dir, path))
		must(err)
		for ; width > 0; width-- {
			length := int(binary.BigEndian.Uint16(data))
			entry := data[2 : 2+length]
			data = data[2+length:]
			stored, err := checked.ReadHashes([]int64{tlog.StoredHashIndex(0, index)})
			must(err)
			if tlog.RecordHash(entry) != stored[0] {
				must(fmt.Errorf("entry %d is not the tree's", index))
			}
			proof, err := tlog.ProveRecord(size, index, checked)
			must(err)
			must(tlog.CheckRecord(proof, size, tree.Hash, index, tlog.Hash(leaf(entry))))
			index++
		}
		if len(data) != 0 {
			must(fmt.Errorf("%s holds more than its entries", path))
		}
	}
	fmt.Println(lines[0], size)
}

func leaf(entry []byte) [32]byte { return sha256.Sum256(append([]byte{0}, entry...)) }

func main() {
	args := os.Args[2:]
	switch os.Args[1] {
	case "note":
		fmt.Print(open(args[0], args[1]))
	case "record":
		must(tlog.CheckRecord(hashes(args[4:]), number(args[0]), hash(args[1]), number(args[2]), hash(args[3])))
	case "tree":
		must(tlog.CheckTree(hashes(args[4:]), number(args[0]), hash(args[1]), number(args[2]), hash(args[3])))
	case "register":
		register(args[0], args[1])
	}
}
