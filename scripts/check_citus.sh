#!/bin/sh
# Checks Rowgate on a real Citus: DATABASE_URL names an empty database on its coordinator, as superuser.
# It has the extension and its servers (select citus_add_node(…)) already. They have to let rowgate_app in
# from the coordinator (pg_hba.conf); it gets a new password. Two tenants are created.
set -eu
: "${DATABASE_URL:?the coordinator, as superuser: postgres://postgres@127.0.0.1:5432/shop}"
rowgate() { deno run -A src/main.ts "$@"; }
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || { kill "$server"; wait "$server" || true; }; rm -rf "$work"' EXIT
run() { psql "$DATABASE_URL" -v ON_ERROR_STOP=1 -q "$@"; }

rowgate setup --print > "$work/setup.sql"
run -f "$work/setup.sql"
run <<'SQL'
create table things (id int4 primary key, tenant_id int4 not null, name text, day date, tags text[]);
insert into things select n, 1 + n % 2, 'thing ' || n from generate_series(1, 100) n;
grant select, update on things to rowgate_app;
SQL
rowgate setup --citus | tee "$work/citus.sql"
run -f "$work/citus.sql"
one=$(rowgate token create --tenant 1)

# From here on as an operator serves: as a role with no more rights than it needs.
password=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
echo "alter role rowgate_app password '$password'" | run
DATABASE_URL="postgres://rowgate_app:$password@${DATABASE_URL##*@}"
port=${PORT:-18080}
# Not by the function: the shell would then end a shell of its own, and not the server.
PORT=$port ROWGATE_AUDIT=on deno run -A src/main.ts serve > "$work/log" 2>&1 &
server=$!
for _ in $(seq 60); do
  curl -fs "http://127.0.0.1:$port/readyz" > "$work/ready" && break
  sleep 0.5
done
[ -s "$work/ready" ] || { cat "$work/log"; exit 1; }

# ask STATUS METHOD PATH BODY: fails unless the service answers with that status.
ask() {
  status=$(curl -s -o "$work/answer" -w '%{http_code}' -X "$2" -H "Authorization: Bearer $one" \
    -H 'Content-Type: application/json' -d "$4" "http://127.0.0.1:$port/integration/tables/things/$3")
  echo "$status $2 $3 $4"
  [ "$status" = "$1" ] || { cat "$work/answer"; exit 1; }
}
ask 200 POST query '{"sort":[{"field":"id"}]}'
ask 200 PATCH records/single '{"filters":{"id":2},"fields":{"day":"2026-02-03","tags":null}}'
ask 200 PATCH records/single '{"filters":{"name":"thing 4"},"fields":{"day":"2026-02-03"}}'
ask 404 PATCH records/single '{"filters":{"tenant_id":2,"id":1},"fields":{"name":"x"}}'
ask 200 PATCH records/bulk '{"filters":{"day":"2026-02-03"},"fields":{"name":"dated"}}'
ask 200 PATCH records/batch '{"updates":[{"filters":{"id":6},"fields":{"name":"six"}}]}'
rowgate doctor --fail-on error
