# SPDX-License-Identifier: GPL-3.0-or-later
# The front door; the build itself is meson's. `make help` says what there is.
BUILD  ?= build
PREFIX ?= /usr/local

.PHONY: all demo test fuzz bench install uninstall deb clean help

all:
	@scripts/deps build
	@scripts/build $(BUILD)

demo: all
	@scripts/demo $(BUILD)

test:
	@scripts/deps build test
	@scripts/test

fuzz:
	@scripts/deps build test
	@scripts/fuzz 60

bench:
	@scripts/deps build test bench
	@scripts/build $(BUILD)-release --buildtype=release
	@bench/run $(BUILD)-release

install:
	@scripts/deps build
	@scripts/install install $(BUILD) $(PREFIX)

uninstall:
	@scripts/install uninstall $(BUILD) $(PREFIX)

deb:
	@scripts/deps build deb
	@scripts/deb $(BUILD)-deb $(BUILD)-deb/packages

clean:
	rm -rf build build-clang build-sanitize build-release build-fuzz build-deb

help:
	@echo 'make          build Ordeal in build/'
	@echo 'make demo     test a real program with failing libraries and show what breaks'
	@echo 'make test     run every test; ends with "N passed, N failed"'
	@echo 'make fuzz     fuzz every reader for a minute'
	@echo 'make bench    measure speed, as ratios against native'
	@echo 'make install  install below PREFIX (/usr/local); make uninstall removes it'
	@echo 'make deb      make the Debian packages ordeal and ordeal-dev in build-deb/packages'
	@echo 'make clean    remove the build directories'
	@echo 'Missing Debian packages are installed first (scripts/packages).'
