#!/bin/bash
# The start of the stand-in image: the official image's contract with its environment, as far as the tests use it.
set -euo pipefail
command=${1:-neo4j}
conf=$NEO4J_HOME/conf/neo4j.conf
as_root=$([ "$(id -u)" = 0 ] && echo yes || echo no)

fail() { echo "$*" >&2; exit 1; }

as_neo4j() {
  if [ "$as_root" = yes ]; then su -s /bin/bash neo4j -c 'exec "$@"' -- as_neo4j "$@"; else "$@"; fi
}

java_tool() {
  as_neo4j "$JAVA_HOME/bin/java" -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Dbasedir="$NEO4J_HOME" \
    -cp "$NEO4J_HOME/lib/*" "$@"
}

# setting value: what the environment says replaces the file's word; JVM options add up.
put() {
  [ "$1" = server.jvm.additional ] || sed -i "/^${1//./\\.}=/d" "$conf"
  printf '%s=%s\n' "$1" "$2" >>"$conf"
}

# NEO4J_X_FILE: the value of NEO4J_X is in that file.
for name in $(compgen -e | grep '^NEO4J_.*_FILE$' || true); do
  [ -r "${!name}" ] || fail "the file ${!name} of $name can't be read"
  export "${name%_FILE}"="$(cat "${!name}")"
done

cp "$NEO4J_HOME/conf.default/"* "$NEO4J_HOME/conf/"
if [ -d /conf ]; then cp /conf/* "$NEO4J_HOME/conf/" 2>/dev/null || true; fi
grep -q '^server.memory.pagecache.size=' "$conf" || put server.memory.pagecache.size 512M
grep -q '^server.default_listen_address=' "$conf" || put server.default_listen_address 0.0.0.0
for folder in import plugins; do put "server.directories.$folder" "/$folder"; done
put server.directories.logs /logs

# NEO4J_a_b__c=value: the setting a.b_c
for name in $(compgen -e | grep '^NEO4J_' | sort || true); do
  case $name in
    NEO4J_ACCEPT_LICENSE_AGREEMENT | NEO4J_AUTH | NEO4J_DEBUG | NEO4J_EDITION | NEO4J_HOME | NEO4J_CONF | *_FILE) continue ;;
  esac
  setting=${name#NEO4J_}
  setting=${setting//_/.}
  setting=${setting//../_}
  if [ -n "${!name}" ]; then put "$setting" "${!name}"; fi
done

if [ "$as_root" = yes ]; then
  chown -R neo4j:neo4j "$NEO4J_HOME/conf" "$NEO4J_HOME/run"
  for folder in /data /logs; do
    [ -z "$(find "$folder" ! -user neo4j -print | head -1)" ] || chown -R neo4j:neo4j "$folder"
  done
fi

if [ "$command" = neo4j ]; then
  auth=${NEO4J_AUTH:-}
  if [ "$auth" = none ]; then
    put dbms.security.auth_enabled false
  elif [[ $auth =~ ^neo4j/(.+)$ ]]; then
    password=${BASH_REMATCH[1]}
    [ "$password" != neo4j ] || fail "NEO4J_AUTH: the password can't be neo4j, which is the default"
    # A password can be set before the first start alone.
    [ -e /data/databases/system ] || java_tool org.neo4j.cli.AdminTool dbms set-initial-password "$password"
  elif [ -n "$auth" ]; then
    fail "NEO4J_AUTH is neo4j/PASSWORD or none"
  fi
  rm -f "$NEO4J_HOME/run/neo4j.pid"
  # Neo4j's own launcher knows how settings become options of Java.
  run=$(java_tool org.neo4j.server.startup.Neo4jCommand console --dry-run)
  if [ "$as_root" = yes ]; then exec su -s /bin/bash neo4j -c "exec $run"; else eval "exec $run"; fi
fi

if [ "$as_root" = yes ]; then exec su -s /bin/bash neo4j -c 'exec "$@"' -- as_neo4j "$@"; else exec "$@"; fi
