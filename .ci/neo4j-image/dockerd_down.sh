#!/usr/bin/env bash
# End the daemon that dockerd_up.sh started and undo what it did to the network.
set -uo pipefail
state=${DOCKER_STATE:?the folder of the daemon}
if pid=$(cat "$state/dockerd.pid" 2>/dev/null); then
  kill "$pid" 2>/dev/null
  for _ in $(seq 120); do
    [ -e "$state/dockerd.pid" ] || break
    sleep 0.25
  done
fi
umount "$state"/exec/netns/* 2>/dev/null
ip link delete docker0 2>/dev/null
for table in filter nat; do
  iptables-save -t "$table" \
    | sed -n -E '/^-A (FORWARD|PREROUTING|OUTPUT|POSTROUTING) .*(DOCKER|docker0|172\.17\.0\.0\/16)/ s/^-A/-D/p' \
    | while read -r rule; do eval "iptables -t $table $rule"; done
  for chain in $(iptables-save -t "$table" | sed -n 's/^:\(DOCKER[^ ]*\) .*/\1/p'); do
    iptables -t "$table" -F "$chain"
  done
  for chain in $(iptables-save -t "$table" | sed -n 's/^:\(DOCKER[^ ]*\) .*/\1/p'); do
    iptables -t "$table" -X "$chain"
  done
done
exit 0
