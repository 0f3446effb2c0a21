package main

import (
	"errors"
	"strings"

	"github.com/godbus/dbus"
	"github.com/gsterjov/go-libsecret"
)

// ready checks that the Secret Service has the collection and that it is
// unlocked. Otherwise the library would ask the user for a password and wait.
func ready(backend, collection string) error {
	if backend != "secret-service" {
		return nil
	}
	const hint = "choose another place: secret_store \"file\" {}"
	service, err := libsecret.NewService()
	if err != nil {
		return absent(hint, "the session bus cannot be used: %v", err)
	}
	all, err := service.Collections()
	if unknown(err) {
		return absent(hint, "no program on the session bus offers the Secret Service")
	}
	if err != nil {
		return err
	}
	for _, c := range all {
		if !called(string(c.Path()), collection) {
			continue
		}
		isLocked, err := c.Locked()
		if err != nil {
			return err
		}
		if isLocked {
			return locked("the collection %q of the key ring is locked", collection)
		}
		return nil
	}
	return absent(
		"log in to the desktop once, so that it is made, or name one that exists: collection = \"…\"; or "+hint,
		"the key ring has no collection %q", collection,
	)
}

// unknown reports whether the name has no owner on the bus and cannot be
// activated.
func unknown(err error) bool {
	var e dbus.Error
	if !errors.As(err, &e) {
		return false
	}
	return e.Name == "org.freedesktop.DBus.Error.ServiceUnknown" ||
		e.Name == "org.freedesktop.DBus.Error.NameHasNoOwner" ||
		strings.HasPrefix(e.Name, "org.freedesktop.DBus.Error.Spawn.")
}

// called reports whether a path is that of a collection. In paths, characters
// other than letters and digits are encoded as _ and two hexadecimal digits.
func called(path, collection string) bool {
	name, ok := strings.CutPrefix(path, libsecret.DBusPath+"/collection/")
	if !ok {
		return false
	}
	var written strings.Builder
	for i := range len(collection) {
		c := collection[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' {
			written.WriteByte(c)
		} else {
			written.WriteString("_" + string("0123456789abcdef"[c>>4]) + string("0123456789abcdef"[c&15]))
		}
	}
	return name == collection || strings.EqualFold(name, written.String())
}
