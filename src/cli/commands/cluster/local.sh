#!/bin/sh
# The script of `ndcrawl cluster local ACTION FOLDER`.
#
# PostgreSQL refuses to run as root: as root the servers run as the user `postgres` of that package. The address names a
# file with the password, which only its owner can read.
set -eu
# What starts programs as another user is not on each path.
PATH=$PATH:/usr/sbin:/sbin

fail() {
    echo "$1" >&2
    exit 1
}

command=$1
folder=$2
case $folder in /*) ;; *) folder=$PWD/$folder ;; esac

# The programs of the newest version; Debian does not put them on the path.
programs() {
    for bin in $(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -t/ -k5,5nr) $(pg_config --bindir 2>/dev/null); do
        if [ -x "$bin/initdb" ] && [ -x "$bin/pg_basebackup" ]; then
            echo "$bin"
            return
        fi
    done
    fail "PostgreSQL is not installed: install the package postgresql, 15 or newer (apt-get install postgresql)"
}

# Runs a program as the user that the servers run as.
as_server() {
    if [ "$(id -u)" = 0 ]; then
        (cd / && runuser -u postgres -- "$@")
    else
        "$@"
    fi
}

is_running() {
    as_server "$bin/pg_ctl" status -D "$folder/$1" >/dev/null 2>&1
}

random() {
    od -An -N"$1" -tx1 /dev/urandom | tr -d ' \n'
}

# A port that is probably free, below those that systems give to clients.
any_port() {
    echo $((20000 + $(od -An -N2 -tu2 /dev/urandom) % 12000))
}

sql() {
    PGPASSFILE=$folder/pgpass "$bin/psql" -X -q -v ON_ERROR_STOP=1 -h 127.0.0.1 -p "$1" -U postgres -d postgres -c "$2"
}

# Starts a server on the port that it had, or on another one if that is taken.
start_server() {
    if [ "$1" = primary ]; then
        rm -f "$folder/killed"
    fi
    is_running "$1" && return
    tries=0
    while :; do
        port=$(cat "$folder/$1.port" 2>/dev/null || any_port)
        if as_server "$bin/pg_ctl" start -w -t 60 -D "$folder/$1" -l "$folder/$1.log" -o "-p $port" >/dev/null 2>&1; then
            echo "$port" >"$folder/$1.port"
            return
        fi
        grep -q "could not bind" "$folder/$1.log" && [ $tries -lt 10 ] || fail "the $1 does not start: see $folder/$1.log"
        [ ! -e "$folder/made" ] || fail "port $port of the $1 is taken: end the program that listens there"
        tries=$((tries + 1))
        rm -f "$folder/$1.port"
        as_server sh -c ': >"$1"' sh "$folder/$1.log"
    done
}

make_servers() {
    mkdir -p "$folder"
    if [ "$(id -u)" = 0 ]; then
        id postgres >/dev/null 2>&1 || fail "there is no user postgres: install the package postgresql, or run this as another user than root"
        chown postgres: "$folder"
        as_server test -w "$folder" || fail "the user postgres cannot reach $folder: name another folder, such as /var/tmp/ndcrawl-cluster"
    fi
    rm -rf "$folder/primary" "$folder/standby" "$folder/primary.port" "$folder/standby.port"
    umask 077
    password=$(random 16)
    echo "127.0.0.1:*:*:*:$password" >"$folder/pgpass"
    # The standby reads the password as the user of the servers.
    as_server sh -c 'umask 077; cat >"$1"' sh "$folder/server.pgpass" <"$folder/pgpass"
    echo "$password" | as_server sh -c 'cat >"$1/password"' sh "$folder"
    as_server "$bin/initdb" -D "$folder/primary" -U postgres --auth=scram-sha-256 --pwfile="$folder/password" -E UTF8 \
        --no-sync --no-instructions >/dev/null
    rm -f "$folder/password"
    as_server sh -c 'cat >>"$1"' sh "$folder/primary/postgresql.conf" <<-CONF
	listen_addresses = '127.0.0.1'
	unix_socket_directories = ''
	# What pg_rewind needs to bring a killed primary back.
	wal_log_hints = on
	CONF
    start_server primary
    primary=$(cat "$folder/primary.port")
    sql "$primary" "CREATE ROLE ndcrawl LOGIN PASSWORD '$password' IN ROLE pg_read_all_stats"
    sql "$primary" "CREATE DATABASE ndcrawl OWNER ndcrawl"
    as_server "$bin/pg_basebackup" -D "$folder/standby" -c fast -X stream --no-sync -R -C -S standby \
        -d "host=127.0.0.1 port=$primary user=postgres passfile=$folder/server.pgpass application_name=standby"
    start_server standby
    sql "$primary" "ALTER SYSTEM SET synchronous_standby_names = 'standby'"
    sql "$primary" "SELECT pg_reload_conf()" >/dev/null
    touch "$folder/made"
}

wait_for_standby() {
    tries=0
    until [ "$(sql "$(cat "$folder/primary.port")" "COPY (SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync') TO STDOUT")" = 1 ]; do
        tries=$((tries + 1))
        [ $tries -lt 300 ] || fail "the standby does not follow the primary: see $folder/standby.log"
        sleep 0.1
    done
}

url() {
    [ -e "$folder/made" ] || fail "there are no servers in $folder: ndcrawl cluster local start makes them"
    echo "postgres://ndcrawl@127.0.0.1:$(cat "$folder/primary.port"),127.0.0.1:$(cat "$folder/standby.port")/ndcrawl?passfile=$folder/pgpass"
}

bin=$(programs)
case $command in
start)
    [ ! -e "$folder/promoted" ] || fail "the standby in $folder was promoted: remove the folder and start again"
    if [ -e "$folder/made" ]; then
        start_server primary
        start_server standby
    else
        make_servers
    fi
    wait_for_standby
    url
    ;;
url) url ;;
stop)
    for server in standby primary; do
        # Where nothing reaps processes, a killed one looks alive.
        [ $server = standby ] || [ ! -e "$folder/killed" ] || continue
        if is_running $server; then
            as_server "$bin/pg_ctl" stop -w -m fast -D "$folder/$server" >/dev/null
        fi
    done
    ;;
kill-primary)
    is_running primary || fail "no primary runs in $folder"
    kill -9 "$(head -n 1 "$folder/primary/postmaster.pid")"
    touch "$folder/killed"
    ;;
promote)
    is_running standby || fail "no standby runs in $folder"
    as_server "$bin/pg_ctl" promote -w -D "$folder/standby" >/dev/null
    touch "$folder/promoted"
    # It would wait for a standby with every commit.
    sql "$(cat "$folder/standby.port")" "ALTER SYSTEM SET synchronous_standby_names = ''"
    sql "$(cat "$folder/standby.port")" "SELECT pg_reload_conf()" >/dev/null
    ;;
stop-standby) as_server "$bin/pg_ctl" stop -w -m fast -D "$folder/standby" >/dev/null ;;
start-standby) start_server standby ;;
esac
