#!/bin/sh
# install.sh: puts the command loadline of a release into a folder of yours. It asks for no rights:
# nothing outside of that folder is written, and what fails leaves nothing behind.
#
#     curl -fsSL https://github.com/loadline/loadline/releases/latest/download/install.sh | sh
#
# LOADLINE_TO       the folder, ~/.local/bin if it is not set
# LOADLINE_VERSION  the version, such as 0.1.0; the latest if it is not set
# LOADLINE_RELEASES where the releases are
set -eu

fail() {
    echo "install.sh: $1" >&2
    exit 1
}

# Removes what was made so far, unless the command is in its place.
clean() {
    code=$?
    rm -rf "${work:-}" "${new:-}"
    [ "$code" = 0 ] || for made in $mades; do rmdir "$made" 2>/dev/null || true; done
}

name_of_release() {
    system=$(uname -s) machine=$(uname -m)
    case $system-$machine in
    Linux-x86_64 | Linux-aarch64) echo "loadline-$machine-unknown-linux-gnu" ;;
    *) fail "there is no release for $system on $machine, only for Linux on x86_64 and aarch64: \
build it from its sources, as docs/guide/install.md says." ;;
    esac
}

# download URL FILE
download() {
    if command -v curl >/dev/null 2>&1; then
        curl -fsL --retry 2 -o "$2" "$1" 2>/dev/null || failed=$?
        no_room=23
    elif command -v wget >/dev/null 2>&1; then
        wget -q -O "$2" "$1" 2>/dev/null || failed=$?
        no_room=3
    else
        fail "neither curl nor wget is there: install one of them and try again."
    fi
    [ "${failed:-0}" = 0 ] && return
    [ "$failed" != "$no_room" ] || fail "$work can't hold the download: make room there, or name \
another folder in TMPDIR."
    fail "$1 can't be downloaded: look at the version and at the connection, and try again."
}

main() {
    name=$(name_of_release) work='' new='' mades=''
    to=${LOADLINE_TO:-${HOME:?}/.local/bin}
    place=${LOADLINE_VERSION:+download/v$LOADLINE_VERSION}
    url=${LOADLINE_RELEASES:-https://github.com/loadline/loadline/releases}
    url=$url/${place:-latest/download}
    trap clean EXIT
    trap 'exit 130' INT TERM HUP
    work=$(mktemp -d 2>/dev/null) || fail "no folder can be made in ${TMPDIR:-/tmp}: make room \
there, or name another folder in TMPDIR."
    download "$url/$name.tar.gz" "$work/$name.tar.gz"
    download "$url/SHA256SUMS" "$work/SHA256SUMS"
    (cd "$work" && grep " [ *]$name.tar.gz\$" SHA256SUMS | sha256sum -c) >/dev/null 2>&1 ||
        fail "the sum of $name.tar.gz is not that of the release: try again, and report it if it \
stays so."
    tar -xzf "$work/$name.tar.gz" -C "$work" "$name/loadline" 2>/dev/null ||
        fail "$work can't hold the unpacked command: make room there, or name another folder in \
TMPDIR."
    folder=$to
    while [ ! -d "$folder" ]; do mades="$mades $folder" folder=$(dirname "$folder"); done
    new=$to/.loadline.$$
    { mkdir -p "$to" && cp "$work/$name/loadline" "$new" && mv "$new" "$to/loadline"; } \
        2>/dev/null || fail "$to can't be written to: make room there, or name a folder of yours \
in LOADLINE_TO."
    echo "$("$to/loadline" --version) is now $to/loadline."
    case :$PATH: in *:"$to":*) ;; *) echo "Add it to your PATH: export PATH=\"$to:\$PATH\"" ;; esac
}

main
