#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# client.sh PORT: asks the server once and prints its answer.
exec 3<>"/dev/tcp/127.0.0.1/$1" || exit 7
echo GET >&3
read -r answer <&3 || exit 8
echo "$answer"
