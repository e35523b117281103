#!/usr/bin/env bash
# Start a Docker daemon by hand, as root; its state, socket and log are below $DOCKER_STATE.
set -euo pipefail
state=${DOCKER_STATE:?a folder for the daemon}
mkdir -p "$state"
setsid dockerd --host "unix://$state/docker.sock" --data-root "$state/data" --exec-root "$state/exec" \
  --pidfile "$state/dockerd.pid" --ip 127.0.0.1 >"$state/dockerd.log" 2>&1 </dev/null &
for _ in $(seq 120); do
  if docker --host "unix://$state/docker.sock" info >/dev/null 2>&1; then exit 0; fi
  sleep 0.25
done
echo "the Docker daemon did not start; the end of its log:" >&2
tail -20 "$state/dockerd.log" >&2
exit 1
