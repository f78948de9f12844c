#!/usr/bin/env bash
# Installs Satchel, or upgrades it: see --help. What it needs to compile stays inside this checkout.
set -euo pipefail
CALLED_FROM=$PWD
cd "$(dirname "${BASH_SOURCE[0]}")"
# shellcheck source=scripts/ensure-bun.sh
source scripts/ensure-bun.sh

# The server is asked directly, whatever proxy the rest of the world is asked through.
export NO_PROXY="${NO_PROXY:+$NO_PROXY,}127.0.0.1"

KEEP_BACKUPS=5
HEALTH_TIMEOUT_S=30
SERVICE_USER=satchel
BACKUP=none
STAGE=${DESTDIR:+$(cd "$CALLED_FROM" && mkdir -p "$DESTDIR" && cd "$DESTDIR" && pwd)}

usage() {
  cat <<END
Satchel: files, email, secrets and API keys for a small team's apps.

  ./install.sh               install as a system service, or upgrade it (as root)
  ./install.sh --prefix DIR  install into DIR, without root and systemd
  ./install.sh --try         try it: a server on 127.0.0.1:8420 that keeps everything in this checkout
  ./install.sh --help

Bun, which compiles Satchel, is put into .tools/ of this checkout where the machine has none.

As a system service:
  /usr/local/bin/satchel                 the program
  /var/lib/satchel                       data, mode 0700, of the system user '$SERVICE_USER'
  /etc/satchel/satchel.env               settings, mode 0600; an existing one is kept
  /etc/systemd/system/satchel.service    the service
  /var/lib/satchel-backups               a backup from before each upgrade, the last $KEEP_BACKUPS

With --prefix DIR: DIR/bin/satchel, DIR/bin/satchel-serve (starts the server), DIR/data, DIR/etc/satchel.env,
DIR/backups.

Environment:
  DESTDIR         put the files of a system service below this directory and stop there: no user is made, nothing is
                  started, root is not needed (for packages and rehearsals)
  SATCHEL_PORT    with --try: the port, if 8420 is taken
END
}

say() {
  printf '%s\n' "$*"
}

die() {
  printf '%s\n' "$*" >&2
  exit 1
}

# Is this the installation itself, rather than a rehearsal below DESTDIR?
for_real() {
  [[ -z $STAGE ]]
}

# --- What both kinds of installation do ---

compile() {
  ensure_bun
  build_satchel
  # Root has compiled in somebody's checkout: what is new there belongs to that somebody.
  if [[ $(id -u) == 0 ]]; then
    local made
    for made in node_modules dist .tools; do
      [[ ! -e $made ]] || chown -R "$(owner_of package.json)" "$made"
    done
  fi
}

owner_of() {
  local fields
  read -r -a fields <<<"$(ls -nd "$1")"
  printf '%s:%s\n' "${fields[2]}" "${fields[3]}"
}

# Prints the value of setting $1 in the environment file $2, or nothing.
setting() {
  local value
  value=$(sed -n "s/^[[:space:]]*$1[[:space:]]*=//p" "$2" | tail -n 1)
  value=${value#[\"\']}
  printf '%s\n' "${value%[\"\']}"
}

# Replaces program $1 in one step, so that a server which runs it is not disturbed.
install_program() {
  local target=$1
  mkdir -p "$(dirname "$target")"
  install -m 0755 dist/satchel "$target.new"
  mv -f "$target.new" "$target"
}

install_settings() {
  [[ ! -e $1 ]] || return 0
  mkdir -p "$(dirname "$1")"
  install -m 0600 scripts/satchel.env "$1"
}

# Backs data $1 up into directory $2 with the installed program $3, the one that wrote them, and keeps the newest
# $KEEP_BACKUPS. The rest of the line is a command to run it with. There is nothing to do before the first start.
back_up() {
  local data=$1 backups=$2 program=$3
  shift 3
  [[ -x $program && -e $data/satchel.db ]] || return 0
  BACKUP=$backups/satchel-$(date -u +%Y%m%dT%H%M%SZ).tar
  say "Backing up $data to $BACKUP"
  (cd / && umask 077 && "$@" "$program" backup "$BACKUP" --data-dir "$data" </dev/null >/dev/null) ||
    die "The backup failed, so nothing was changed."
  chmod 0600 "$BACKUP"
  local files=("$backups"/satchel-*.tar)
  while ((${#files[@]} > KEEP_BACKUPS)); do
    rm -f "${files[0]}"
    files=("${files[@]:1}")
  done
}

# --- ./install.sh ---

install_service() {
  local program=$STAGE/usr/local/bin/satchel
  local data=$STAGE/var/lib/satchel
  local backups=$STAGE/var/lib/satchel-backups
  local settings=$STAGE/etc/satchel/satchel.env
  local unit=$STAGE/etc/systemd/system/satchel.service

  if for_real; then
    [[ $(uname -s) == Linux ]] || die "A system service needs Linux. Elsewhere use --prefix DIR, or --try."
    [[ $(id -u) == 0 ]] || die "A system service needs root: sudo ./install.sh. Without root use --prefix DIR, or --try."
  fi
  compile
  if for_real; then make_user; fi

  mkdir -p "$data" "$backups"
  chmod 0700 "$data" "$backups"
  if for_real; then
    chown "$SERVICE_USER:$SERVICE_USER" "$data" "$backups"
    back_up "$data" "$backups" "$program" as_service_user
  else
    back_up "$data" "$backups" "$program"
  fi

  install_program "$program"
  install_settings "$settings"
  mkdir -p "$(dirname "$unit")"
  install -m 0644 scripts/satchel.service "$unit"

  if ! for_real; then
    say "The files of Satchel are below $STAGE. No user was made and nothing was started."
    return 0
  fi
  start_service "$settings"
  local as_user="sudo -u $SERVICE_USER"
  [[ -n $(type -P sudo) ]] || as_user="runuser -u $SERVICE_USER --"
  how_to_begin "$as_user $program" "$data"
}

make_user() {
  if id -u "$SERVICE_USER" >/dev/null 2>&1; then return 0; fi
  if [[ -n $(type -P useradd) ]]; then
    useradd --system --user-group --no-create-home --home-dir /var/lib/satchel --shell /usr/sbin/nologin "$SERVICE_USER"
  elif [[ -n $(type -P adduser) ]]; then
    addgroup -S "$SERVICE_USER"
    adduser -S -D -H -h /var/lib/satchel -s /sbin/nologin -G "$SERVICE_USER" "$SERVICE_USER"
  else
    die "There is neither useradd nor adduser here: make a system user '$SERVICE_USER' and run this again."
  fi
}

as_service_user() {
  if [[ -n $(type -P runuser) ]]; then
    runuser -u "$SERVICE_USER" -- "$@"
  else
    sudo -u "$SERVICE_USER" -- "$@"
  fi
}

start_service() {
  local settings=$1
  if [[ -z $(type -P systemctl) || ! -d /run/systemd/system ]]; then
    say "systemd does not run this machine, so Satchel was installed but not started. Have your service manager run, as"
    say "user '$SERVICE_USER' and with the settings of $settings in its environment:"
    say "  /usr/local/bin/satchel serve --data-dir /var/lib/satchel"
    return 0
  fi
  systemctl daemon-reload
  systemctl enable --quiet satchel.service
  systemctl restart satchel.service
  local host port
  host=$(setting SATCHEL_HOST "$settings")
  port=$(setting SATCHEL_PORT "$settings")
  case "$host" in
    '' | 0.0.0.0 | ::) host=127.0.0.1 ;;
    *:*) host="[$host]" ;;
  esac
  local address="http://$host:${port:-8420}"
  wait_for_health "$address" || {
    systemctl --no-pager --lines=20 status satchel.service >&2 || true
    die "Satchel does not answer at $address. Its log says why: journalctl -u satchel
Backup from before this installation: $BACKUP"
  }
  say "Satchel is running at $address"
}

wait_for_health() {
  local ask='process.exit((await fetch(process.argv[1])).ok ? 0 : 1)'
  local deadline=$((SECONDS + HEALTH_TIMEOUT_S))
  until "$BUN" -e "$ask" "$1/api/health" 2>/dev/null; do
    if ((SECONDS >= deadline)); then return 1; fi
    sleep 0.5
  done
}

how_to_begin() {
  say ''
  say 'Create the first project, and a key for its app:'
  say "  $1 project create --name 'My project' --slug my-project --data-dir $2"
  say "  $1 key create --project my-project --name 'My app' --can read,write,email --data-dir $2"
}

# --- ./install.sh --prefix DIR ---

install_prefix() {
  local prefix
  prefix=$(cd "$CALLED_FROM" && mkdir -p "$1" && cd "$1" && pwd)
  compile
  mkdir -p "$prefix/data" "$prefix/backups"
  chmod 0700 "$prefix/data" "$prefix/backups"
  back_up "$prefix/data" "$prefix/backups" "$prefix/bin/satchel"
  install_program "$prefix/bin/satchel"
  install_settings "$prefix/etc/satchel.env"
  install -m 0755 /dev/stdin "$prefix/bin/satchel-serve" <<'END'
#!/usr/bin/env bash
# Starts Satchel's server with the settings of ../etc/satchel.env and the data of ../data.
set -euo pipefail
prefix=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
set -a
# shellcheck disable=SC1091
source "$prefix/etc/satchel.env"
set +a
exec "$prefix/bin/satchel" serve --data-dir "$prefix/data" "$@"
END
  local quoted
  printf -v quoted '%q' "$prefix"
  say "Satchel is installed in $prefix. Start its server (and start it again if it was running):"
  say "  $quoted/bin/satchel-serve"
  how_to_begin "$quoted/bin/satchel" "$quoted/data"
}

# --- The command line ---

case "${1:-}" in
  '')
    install_service
    ;;
  --prefix | --prefix=*)
    if [[ $1 == --prefix ]]; then
      directory=${2:-}
      extra=$(($# - 2))
    else
      directory=${1#--prefix=}
      extra=$(($# - 1))
    fi
    if [[ -z $directory || $extra -gt 0 ]]; then
      usage >&2
      exit 2
    fi
    install_prefix "$directory"
    ;;
  --try)
    compile
    exec "$BUN" scripts/try.ts
    ;;
  --help | -h)
    usage
    ;;
  *)
    usage >&2
    exit 2
    ;;
esac
