# shellcheck shell=sh
# Gets Bun for install.sh and the scripts beside this file, which source it in the checkout's folder, in any POSIX shell, and then
# call `ensure_bun`, or `build_satchel`, which compiles dist/satchel if it is older than its sources.
# Nothing is written outside the checkout: a missing Bun and the caches of downloads go to .tools/, which git ignores.

BUN_VERSION=1.4.5

CHECKOUT=$PWD

# Is $1 a Bun that runs, and recent enough?
usable_bun() {
  version=$("$1" --version 2>/dev/null </dev/null) || return 1
  version=${version%%-*}
  case $version in
    [0-9]*.[0-9]*.[0-9]*) ;;
    *) return 1 ;;
  esac
  oldest=$(printf '%s\n%s\n' "$BUN_VERSION" "$version" | sort -t. -k1,1n -k2,2n -k3,3n | head -n 1)
  [ "$oldest" = "$BUN_VERSION" ]
}

# Prints the path of a usable Bun that is already here.
find_bun() {
  for candidate in "$(command -v bun || true)" "${BUN_INSTALL:-${HOME:-}/.bun}/bin/bun" "$CHECKOUT/.tools/bin/bun"; do
    if [ -x "$candidate" ] && usable_bun "$candidate"; then
      printf '%s\n' "$candidate"
      return 0
    fi
  done
  return 1
}

# npm's package of Bun is a stub until its own script has run. The executable comes in a second package, one for each
# platform, and npm picks the right one: taking it from there needs neither that script nor node.
install_bun_with_npm() {
  command -v npm >/dev/null || return 1
  npm install --prefix "$CHECKOUT/.tools" --cache "$CHECKOUT/.tools/cache/npm" --no-save --no-package-lock \
    --ignore-scripts --no-audit --no-fund --no-update-notifier --loglevel=error "bun@$BUN_VERSION" >&2 </dev/null ||
    return 1
  for executable in "$CHECKOUT"/.tools/node_modules/@oven/bun-*/bin/bun; do
    if [ -x "$executable" ] && usable_bun "$executable"; then
      mkdir -p "$CHECKOUT/.tools/bin"
      ln -sf "../${executable#"$CHECKOUT/.tools/"}" "$CHECKOUT/.tools/bin/bun"
      return 0
    fi
  done
  return 1
}

# Bun's own installer needs bash. It changes the start-up files of the user's shell, unless SHELL names none that it knows.
install_bun_with_curl() {
  command -v curl >/dev/null || return 1
  installer=$(curl -fsSL --connect-timeout 20 https://bun.com/install) || return 1
  BUN_INSTALL="$CHECKOUT/.tools" SHELL=none bash -c "$installer" bun-install "bun-v$BUN_VERSION" >&2 </dev/null
}

# npm and Bun bring root certificates of their own. Behind a proxy that re-signs TLS only the system's will do.
use_system_certificates() {
  [ -z "${NODE_EXTRA_CA_CERTS:-}" ] || return 0
  for bundle in /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt /etc/ssl/cert.pem; do
    if [ -r "$bundle" ]; then
      export NODE_EXTRA_CA_CERTS=$bundle
      return 0
    fi
  done
}

# Sets BUN to the path of Bun and sees to it that PATH finds the same one. Installs it where it is missing or too old.
ensure_bun() {
  use_system_certificates
  if ! BUN=$(find_bun); then
    echo "Bun $BUN_VERSION or newer is not here; getting it into $CHECKOUT/.tools" >&2
    if ! install_bun_with_npm; then
      install_bun_with_curl || true
    fi
    if ! BUN=$(find_bun); then
      echo "Bun $BUN_VERSION cannot be installed: neither npm nor Bun's own installer (curl, unzip and bash) did it." >&2
      echo "Install it by hand (https://bun.com/docs/installation) and run this again." >&2
      return 1
    fi
  fi
  [ "$(command -v bun || true)" = "$BUN" ] || PATH="$(dirname "$BUN"):$PATH"
  export BUN PATH
  export BUN_INSTALL_CACHE_DIR="$CHECKOUT/.tools/cache/bun"
  export BUN_RUNTIME_TRANSPILER_CACHE_PATH="$CHECKOUT/.tools/cache/transpiled"
}

# No package needs its installation scripts, and one that is among ours would report the installation to its makers.
install_packages() {
  (cd "$CHECKOUT" && "$BUN" install --frozen-lockfile --ignore-scripts >&2 </dev/null)
}

# Compiles dist/satchel, unless it is there and newer than everything it is made of.
build_satchel() {
  binary=$CHECKOUT/dist/satchel
  if [ -x "$binary" ]; then
    newer=$(cd "$CHECKOUT" && find src handbook package.json bun.lock scripts/build.ts -newer "$binary" -print)
    [ -n "$newer" ] || return 0
  fi
  install_packages
  (cd "$CHECKOUT" && "$BUN" scripts/build.ts >&2 </dev/null)
}
