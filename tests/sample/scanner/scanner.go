// Package scanner reads the labels of parcels at the quay.
package scanner

import (
	"errors"
	"strings"
)

// ErrSmudged says that a label cannot be read and must be printed again.
var ErrSmudged = errors.New("label is smudged")

// Label is what stands on a parcel.
type Label struct {
	Number string
	Island string
}

// ParseLabel splits a scanned line of the form "number|island".
func ParseLabel(line string) (Label, error) {
	number, island, found := strings.Cut(strings.TrimSpace(line), "|")
	if !found || number == "" {
		return Label{}, ErrSmudged
	}
	return Label{Number: number, Island: island}, nil
}
