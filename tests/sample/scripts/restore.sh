#!/bin/sh
# Brings the register back from the copy of one night.
set -eu

restore_register() {
    day="$1"
    pg_restore --clean --dbname register "/lighthouse/register-$day.dump"
}

restore_register "$1"
