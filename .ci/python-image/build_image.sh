#!/usr/bin/env bash
# Build a stand-in for the image that the Dockerfile begins with, where that can't be pulled: this machine's Python and
# the few programs that the Dockerfile runs, each with its shared libraries. Needs root, docker, and PYTHON.
set -euo pipefail
cd "$(dirname "$0")/../.."
python=${PYTHON:?a Python}
tag=$(sed -n 's/^FROM //p' Dockerfile)
base=$("$python" -c 'import sys; print(sys.base_prefix)')
name=$("$python" -c 'import sys; print("python%d.%d" % sys.version_info[:2])')

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
chmod 755 "$root"
mkdir -p "$root"/usr/{bin,sbin,lib,lib64,local/bin,local/lib} "$root"/{etc,root,proc,sys,dev,home,var}
for folder in bin sbin lib lib64; do ln -s "usr/$folder" "$root/$folder"; done
install -d -m 1777 "$root/tmp"

shopt -s nullglob
# Each file comes to its own place, and what it links to with it.
bring() {
  local needed
  needed=$( (ldd "$@" 2>/dev/null || true) | grep --only-matching '/[^ :]*' | sort --unique)
  for file in "$@" $needed; do install -D "$file" "$root$file"; done
}
bring /bin/{sh,mkdir,chown,rm,cat} /usr/sbin/useradd "$base/bin/$name" "$base/lib/$name"/lib-dynload/*.so \
  /usr/lib/*-linux-gnu/lib{nss_files,nss_dns,gcc_s,stdc++,dl,m,pthread,rt,util}.so.[0-9] \
  /etc/login.defs /etc/ssl/certs/ca-certificates.crt
cp -a "$base/bin/$name" "$root/usr/local/bin/"
cp -a "$base/lib/$name" "$root/usr/local/lib/"
rm -rf "$root/usr/local/lib/$name"/{site-packages,test}/*
ln -s "$name" "$root/usr/local/bin/python"
printf 'root:x:0:0:root:/root:/bin/sh\n' >"$root/etc/passwd"
printf 'root:x:0:\n' >"$root/etc/group"
printf 'passwd: files\ngroup: files\nhosts: files dns\n' >"$root/etc/nsswitch.conf"
# pip asks where this machine's pip asks.
settings=()
for each in PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_TRUSTED_HOST HTTP_PROXY HTTPS_PROXY NO_PROXY; do
  [ -z "${!each:-}" ] || settings+=(-c "ENV $each=${!each}")
done
[ ! -e /etc/pip.conf ] || install -D /etc/pip.conf "$root/etc/pip.conf"
chroot "$root" /usr/local/bin/python -m ensurepip --default-pip >/dev/null

tar -C "$root" --numeric-owner --sort=name -c . | docker import \
  -c 'ENV PATH=/usr/local/bin:/usr/sbin:/usr/bin LANG=C.UTF-8 PIP_CERT=/etc/ssl/certs/ca-certificates.crt PIP_ROOT_USER_ACTION=ignore' \
  "${settings[@]}" -c "LABEL stand-in-for=$tag" - "$tag"
