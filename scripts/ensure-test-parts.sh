# shellcheck shell=bash
# Sourced by scripts/test.sh: programs of others that some tests drive, such as a browser. As root on Debian they are
# installed with apt-get; elsewhere those tests are skipped. test/support/parts.ts is how a test finds them.

TEST_PARTS=(caddy chromium dovecot nginx)
TEST_PARTS_TIMEOUT_S=300

# Prints the Debian package that has part $1.
package_of() {
  case $1 in
    dovecot) echo dovecot-imapd ;;
    *) echo "$1" ;;
  esac
}

# Prints the parts that a test asks for and this machine has not, one on each line.
missing_test_parts() {
  local part
  for part in "${TEST_PARTS[@]}"; do
    grep -rqs --include='*.test.ts' "part('$part')" test || continue
    PATH=$PATH:/usr/sbin type -P "$part" >/dev/null || echo "$part"
  done
}

# Installs what is missing where that can be done. Says nothing and never fails: without a network the tests are skipped.
ensure_test_parts() {
  local part packages=()
  for part in $(missing_test_parts); do packages+=("$(package_of "$part")"); done
  if ((${#packages[@]} == 0)) || [[ $(id -u) != 0 || -z $(type -P apt-get) ]]; then return 0; fi
  local options=(-qq -o Acquire::Retries=1 -o Acquire::http::Timeout=20 -o DPkg::Lock::Timeout=60)
  {
    export DEBIAN_FRONTEND=noninteractive
    timeout "$TEST_PARTS_TIMEOUT_S" apt-get "${options[@]}" update &&
      timeout "$TEST_PARTS_TIMEOUT_S" apt-get "${options[@]}" install -y --no-install-recommends "${packages[@]}"
    # Tests start servers of their own; those of the packages are not to run beside them.
    if [[ -d /run/systemd/system ]]; then
      for part in "${packages[@]}"; do
        case $part in
          dovecot-imapd) systemctl disable --quiet --now dovecot.service dovecot.socket ;;
          caddy | nginx) systemctl disable --quiet --now "$part.service" ;;
        esac
      done
    fi
  } </dev/null >/dev/null 2>&1 || true
}

# Says which tests were skipped for want of a part.
tell_missing_parts() {
  local part
  for part in $(missing_test_parts); do
    echo "Skipped: tests that need $part. On Debian: apt-get install $(package_of "$part")"
  done
}
