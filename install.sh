#!/bin/sh
# Installs Satchel, or upgrades it: see --help. What it needs to compile stays inside this checkout.
# Any POSIX shell runs it: no arrays, no `local`, and nothing that counts on the exit status of the first part of a pipe.
set -eu
unset CDPATH
CALLED_FROM=$PWD
cd "$(dirname "$0")"

# The server is asked directly, whatever proxy the rest of the world is asked through.
export NO_PROXY="${NO_PROXY:+$NO_PROXY,}127.0.0.1"

KEEP_BACKUPS=5
HEALTH_TIMEOUT_S=30
SERVICE_USER=satchel
UNITS='satchel.service satchel-backup.service satchel-backup.timer'
BACKUP=none
# The program that is installed, as `provide` has made it.
PROGRAM=dist/satchel
STAGE=${DESTDIR:+$(cd "$CALLED_FROM" && mkdir -p "$DESTDIR" && cd "$DESTDIR" && pwd)}

usage() {
  cat <<END
Satchel: files, email, secrets and API keys for a small team's apps.

  ./install.sh               install as a system service, or upgrade it (as root)
  ./install.sh --prefix DIR  install into DIR, without root and systemd
  ./install.sh --try         try it: a server on 127.0.0.1:8420 that keeps everything in this checkout
  ./install.sh --from FILE [--prefix DIR]
                             as the first two, but with the program of a release's archive, which must be as the SHA256SUMS
                             beside it says: needs no Bun, no npm and no network
  ./install.sh --uninstall [--prefix DIR] [--purge [--yes]]
                             remove what was installed; data, settings and backups stay unless --purge is given, which
                             asks first (--yes answers)
  ./install.sh --help

Without --from, Bun, which compiles Satchel, is put into .tools/ of this checkout where the machine has none.

As a system service:
  /usr/local/bin/satchel                 the program
  /var/lib/satchel                       data, mode 0700, of the system user '$SERVICE_USER'
  /etc/satchel/satchel.env               settings, mode 0600; an existing one is kept
  /etc/systemd/system/satchel.service    the service
  /etc/systemd/system/satchel-backup.*   a timer that backs up each night, and keeps the last seven
  /var/lib/satchel-backups               those backups, and one from before each upgrade, the last $KEEP_BACKUPS

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
  [ -z "$STAGE" ]
}

has_command() {
  command -v "$1" >/dev/null 2>&1
}

has_systemd() {
  has_command systemctl && [ -d /run/systemd/system ]
}

# Prints $1 as a word of a shell.
quoted() {
  case $1 in
    *[!A-Za-z0-9_./:@%+=,-]* | '') printf '%s\n' "$1" | sed "s/'/'\\\\''/g; 1s/^/'/; \$s/\$/'/" ;;
    *) printf '%s\n' "$1" ;;
  esac
}

# --- What both kinds of installation do ---

# Sees to it that $PROGRAM is there, and the files of scripts/ that belong to it.
provide() {
  if [ -n "$FROM" ]; then unpack "$FROM"; else compile; fi
}

compile() {
  [ -e scripts/ensure-bun.sh ] || die "This is not a checkout but what was in an archive: install that with --from FILE."
  # shellcheck source=scripts/ensure-bun.sh
  . scripts/ensure-bun.sh
  ensure_bun
  build_satchel
  # Root has compiled in somebody's checkout: what is new there belongs to that somebody.
  if [ "$(id -u)" = 0 ]; then
    for made in node_modules dist .tools; do
      [ ! -e "$made" ] || chown -Rh "$(owner_of package.json)" "$made"
    done
  fi
}

# Unpacks archive $1 of a release into a folder that goes when this script ends, and works there from now on.
unpack() {
  archive=$(cd "$CALLED_FROM" && cd "$(dirname "$1")" 2>/dev/null && pwd)/$(basename "$1")
  sums=$(dirname "$archive")/SHA256SUMS
  name=$(basename "$archive")
  [ -f "$archive" ] || die "There is no file $1."
  [ -f "$sums" ] || die "There is no SHA256SUMS beside $1: download both into one folder."
  # A line is a hash and a name, with a star between them where the file was read as binary.
  expected=$(sed -n 's/^\([0-9a-fA-F]\{64\}\) [ *]\(.*\)$/\1 \2/p' "$sums" | while read -r hash of; do
    if [ "$of" = "$name" ]; then printf '%s\n' "$hash"; fi
  done | head -n 1)
  [ -n "$expected" ] || die "SHA256SUMS does not name $name. Both must be of one release, and the name as it was."
  actual=$(sha256_of "$archive")
  [ "$actual" = "$expected" ] || die "$1 is damaged: its SHA-256 is not the one in SHA256SUMS. Download it again."
  UNPACKED=$(mktemp -d)
  trap 'rm -rf "$UNPACKED"' EXIT
  # Some shells end by a signal without going through EXIT.
  trap 'exit 1' HUP INT TERM
  # -o: with our own owner, in every tar.
  tar -xzo -f "$archive" -C "$UNPACKED"
  cd "$UNPACKED"/satchel-*/
  PROGRAM=./satchel
  reason=$("$PROGRAM" version 2>&1 >/dev/null) ||
    die "The program of $name does not run on this machine ($(uname -sm)): ${reason:-no reason was given}
There is an archive for each platform; those for musl (Alpine) need libstdc++."
}

sha256_of() {
  if has_command sha256sum; then answer=$(sha256sum <"$1"); else answer=$(shasum -a 256 <"$1"); fi
  printf '%s\n' "${answer%% *}"
}

# Prints the owner and group of $1, as chown takes them.
owner_of() {
  # shellcheck disable=SC2012,SC2046 # Two numbers are wanted, whatever the name; stat differs between systems.
  set -- $(ls -nd "$1")
  printf '%s\n' "$3:$4"
}

# Prints the value of setting $1 in the environment file $2 as the installed program reads it, or nothing.
setting() {
  "$program" __env_file "$2" "$1"
}

# What program $1 calls itself: `0.1.0 (2030.01.31.1)`.
version_of() {
  answer=$("$1" version --json 2>/dev/null) || answer=
  printf '%s\n' "$answer" |
    sed -n 's/.*"version": *"\([^"]*\)".*"backend_version": *"\([^"]*\)".*/\1 (\2)/p' | grep . || echo unknown
}

# Is program $1 the very one that is to be installed?
is_same_build() {
  cmp -s "$PROGRAM" "$1"
}

# Replaces program $1 in one step, so that a server which runs it is not disturbed.
install_program() {
  if is_same_build "$1"; then
    say "Satchel $(version_of "$1") is installed already; no backup was needed."
    return 0
  fi
  mkdir -p "$(dirname "$1")"
  install -m 0755 "$PROGRAM" "$1.new"
  mv -f "$1.new" "$1"
}

install_settings() {
  [ ! -e "$1" ] || return 0
  mkdir -p "$(dirname "$1")"
  install -m 0600 scripts/satchel.env "$1"
}

# Makes these folders, their owner's alone. Where somebody has put a link for one, what it leads to stays as it is.
make_private() {
  mkdir -p "$@"
  for folder; do
    [ ! -L "$folder" ] || continue
    chmod 0700 "$folder"
    if [ -z "$PREFIX" ] && for_real; then chown "$SERVICE_USER:$SERVICE_USER" "$folder"; fi
  done
}

# Before an upgrade to another build: backs data $1 up into directory $2 with the installed program $3, the one that wrote
# them, and keeps the newest $KEEP_BACKUPS. The rest of the line is a command to run it with. There is nothing to do before
# the first start.
back_up() {
  backed_up=$1 backups_dir=$2 writer=$3
  shift 3
  [ -x "$writer" ] || return 0
  ! is_same_build "$writer" || return 0
  say "Upgrading Satchel $(version_of "$writer") to $(version_of "$PROGRAM")"
  [ -e "$backed_up/satchel.db" ] || return 0
  BACKUP=$backups_dir/before-upgrade-$(date -u +%Y%m%dT%H%M%SZ).tar
  say "Backing up $backed_up to $BACKUP"
  (cd / && umask 077 && "$@" "$writer" backup "$BACKUP" --data-dir "$backed_up" </dev/null >/dev/null) ||
    die "The backup failed, so nothing was changed."
  # Their names sort by time.
  set -- "$backups_dir"/before-upgrade-*.tar
  while [ $# -gt "$KEEP_BACKUPS" ]; do
    rm -f "$1"
    shift
  done
}

# --- ./install.sh ---

# Sets where the parts of a system service are.
locate_service() {
  program=$STAGE/usr/local/bin/satchel
  data=$STAGE/var/lib/satchel
  backups=$STAGE/var/lib/satchel-backups
  etc=$STAGE/etc/satchel
  units=$STAGE/etc/systemd/system
}

install_service() {
  if for_real; then
    [ "$(uname -s)" = Linux ] || die "A system service needs Linux. Elsewhere use --prefix DIR, or --try."
    [ "$(id -u)" = 0 ] || die "A system service needs root: sudo ./install.sh. Without root use --prefix DIR, or --try."
  fi
  locate_service
  provide
  if for_real; then make_user; fi

  make_private "$data" "$backups"
  if for_real; then
    back_up "$data" "$backups" "$program" as_service_user
  else
    back_up "$data" "$backups" "$program"
  fi

  install_program "$program"
  install_settings "$etc/satchel.env"
  mkdir -p "$units"
  for unit in $UNITS; do install -m 0644 "scripts/$unit" "$units"; done

  if ! for_real; then
    say "The files of Satchel are below $STAGE. No user was made and nothing was started."
    return 0
  fi
  start_service "$etc/satchel.env"
  # As root: its user may not read the settings, by which links are made.
  as_root=
  if has_command sudo; then as_root='sudo '; fi
  how_to_begin "$as_root$program" "$data"
}

make_user() {
  if id -u "$SERVICE_USER" >/dev/null 2>&1; then return 0; fi
  if has_command useradd; then
    useradd --system --user-group --no-create-home --home-dir /var/lib/satchel --shell /usr/sbin/nologin "$SERVICE_USER"
  elif has_command adduser; then
    addgroup -S "$SERVICE_USER"
    adduser -S -D -H -h /var/lib/satchel -s /sbin/nologin -G "$SERVICE_USER" "$SERVICE_USER"
  else
    die "There is neither useradd nor adduser here: make a system user '$SERVICE_USER' and run this again."
  fi
}

as_service_user() {
  if has_command runuser; then
    runuser -u "$SERVICE_USER" -- "$@"
  else
    sudo -u "$SERVICE_USER" -- "$@"
  fi
}

start_service() {
  if ! has_systemd; then
    say "systemd does not run this machine, so Satchel was installed but not started. Have your service manager run, as"
    say "user '$SERVICE_USER' and with the settings of $1 in its environment:"
    say "  /usr/local/bin/satchel serve --data-dir /var/lib/satchel"
    return 0
  fi
  systemctl daemon-reload
  systemctl enable --quiet satchel.service
  systemctl enable --quiet --now satchel-backup.timer
  systemctl restart satchel.service
  host=$(setting SATCHEL_HOST "$1")
  port=$(setting SATCHEL_PORT "$1")
  case "$host" in
    '' | 0.0.0.0 | ::) host=127.0.0.1 ;;
    *:*) host="[$host]" ;;
  esac
  asked=http://$host:${port:-8420}
  address=$asked
  statuses=200
  names=$(setting SATCHEL_TLS "$1")
  if [ -n "$names" ]; then
    # The http port leads to https, or says why there is no certificate yet.
    address=https://${names%%,*}
    port=$(setting SATCHEL_TLS_HTTP_PORT "$1")
    asked=http://$host:${port:-80}
    statuses='200 308 503'
  fi
  wait_for_health "$program" "$asked" "$statuses" || {
    systemctl --no-pager --lines=20 status satchel.service >&2 || true
    die "Satchel does not answer at $address. Its log says why: journalctl -u satchel
Backup from before this installation: $BACKUP"
  }
  say "Satchel is running at $address"
}

# Does address $2 answer with one of the statuses $3 soon? Asked by program $1, which is a Bun too, as curl need not be here.
wait_for_health() {
  (
    unset http_proxy HTTP_PROXY all_proxy ALL_PROXY
    cd / && BUN_BE_BUN=1 "$1" -e '
      const [address, statuses, seconds] = process.argv.slice(1);
      for (let tries = 2 * Number(seconds); tries > 0; tries -= 1) {
        const options = { redirect: "manual", signal: AbortSignal.timeout(5000) };
        const status = await fetch(address + "/api/health", options).then((answer) => answer.status, () => null);
        if (statuses.split(" ").includes(String(status))) process.exit(0);
        await Bun.sleep(500);
      }
      process.exit(1);' "$2" "$3" "$HEALTH_TIMEOUT_S"
  )
}

how_to_begin() {
  say ''
  say 'Create the first project, and a key for its app:'
  say "  $1 project create --name 'My project' --slug my-project --data-dir $2"
  say "  $1 key create --project my-project --name 'My app' --can read,write,email --data-dir $2"
}

# --- ./install.sh --prefix DIR ---

install_prefix() {
  prefix=$(cd "$CALLED_FROM" && mkdir -p "$1" && cd "$1" && pwd)
  # Its owner could put a link for anything there, and root would change what it leads to.
  case $(id -u):$(owner_of "$prefix") in
    0:0:* | [!0]*) ;;
    *) die "$prefix is another user's, and root installs nothing there: run this as that user." ;;
  esac
  provide
  make_private "$prefix/data" "$prefix/backups"
  back_up "$prefix/data" "$prefix/backups" "$prefix/bin/satchel"
  install_program "$prefix/bin/satchel"
  install_settings "$prefix/etc/satchel.env"
  was_read_by_shell=no
  if grep -qs '^set -a' "$prefix/bin/satchel-serve"; then was_read_by_shell=yes; fi
  install -m 0755 /dev/stdin "$prefix/bin/satchel-serve" <<'END'
#!/bin/sh
# Starts Satchel's server with the settings of ../etc/satchel.env and the data of ../data.
set -eu
unset CDPATH
prefix=$(cd "$(dirname "$0")/.." && pwd)
exec "$prefix/bin/satchel" serve --env-file "$prefix/etc/satchel.env" --data-dir "$prefix/data" "$@"
END
  if [ $was_read_by_shell = yes ]; then name_lines "$prefix/etc/satchel.env"; fi
  say "Satchel is installed in $prefix. Start its server (and start it again if it was running):"
  say "  $(quoted "$prefix/bin/satchel-serve")"
  how_to_begin "$(quoted "$prefix/bin/satchel")" "$(quoted "$prefix/data")"
}

# Names the lines of the settings $1 that the satchel-serve of before, a shell, read otherwise.
name_lines() {
  lines=$("$prefix/bin/satchel" __env_file "$1")
  [ -n "$lines" ] || return 0
  say "No shell reads $1 any more, but Satchel: no \$ or \` is replaced in it, no command runs, and a line with"
  say "export stops the server. A shell read these lines otherwise, so look at them before you start it: $lines"
}

# --- ./install.sh --uninstall ---

uninstall_service() {
  locate_service
  set -- "$data" "$backups" "$etc"
  any_of "$program" "$units/satchel.service" "$@" || die "No Satchel is installed here as a service; nothing was removed."
  if for_real; then
    [ "$(id -u)" = 0 ] || die "A system service is removed by root: sudo ./install.sh --uninstall"
  fi
  confirm_purge "$@"
  if for_real && has_systemd; then
    systemctl disable --quiet --now satchel-backup.timer satchel.service 2>/dev/null || true
  fi
  refuse_if_served "$program" "$data"
  rm -f "$program"
  for unit in $UNITS; do rm -f "$units/$unit"; done
  if for_real && has_systemd; then systemctl daemon-reload; fi
  finish_uninstall "$@"
  if for_real && [ "$PURGE" = yes ] && has_command userdel; then userdel "$SERVICE_USER" 2>/dev/null || true; fi
}

uninstall_prefix() {
  prefix=$(cd "$CALLED_FROM" && cd "$1" 2>/dev/null && pwd) || die "There is no directory $1."
  # The settings outlast all else but --purge, where the server was never started too.
  any_of "$prefix/bin/satchel" "$prefix/data/satchel.db" "$prefix/etc/satchel.env" ||
    die "No Satchel is installed in $prefix; nothing was removed."
  set -- "$prefix/data" "$prefix/backups" "$prefix/etc/satchel.env"
  confirm_purge "$@"
  refuse_if_served "$prefix/bin/satchel" "$prefix/data"
  rm -f "$prefix/bin/satchel" "$prefix/bin/satchel-serve"
  finish_uninstall "$@"
  rmdir "$prefix/bin" "$prefix/etc" 2>/dev/null || true
}

# Is any of these there?
any_of() {
  for each; do
    [ ! -e "$each" ] || return 0
  done
  return 1
}

# Prints those of these that are there, a line each.
list_there() {
  for each; do
    [ ! -e "$each" ] || say "  $each"
  done
}

# A server that runs would go on with files that are gone.
refuse_if_served() {
  [ -x "$1" ] || return 0
  [ -e "$2/satchel.db" ] || return 0
  # Its exit status says whether anything is wrong, which is not asked here.
  server=$({ "$1" doctor --data-dir "$2" 2>/dev/null || true; } | grep -o 'server: It runs.*') || return 0
  die "A server uses $2 (${server#server: }) Stop it first; nothing was removed."
}

# Has the person at the terminal say that everything may go, unless --yes said so.
confirm_purge() {
  [ "$PURGE" = yes ] || return 0
  [ "$YES" = no ] || return 0
  say "This deletes for good, with the master key and every backup that is there:"
  list_there "$@"
  answer=
  if [ -t 0 ]; then
    printf "Type 'delete' to go on: "
    read -r answer || true
  fi
  [ "$answer" = delete ] || die "Nothing was removed. Without a terminal, --yes says that it is meant."
}

finish_uninstall() {
  if [ "$PURGE" = yes ]; then
    say "Satchel is removed, and with it:"
    list_there "$@"
    rm -rf "$@"
    return 0
  fi
  say "Satchel is removed. What it kept is still there:"
  list_there "$@"
  say "Run this again with --purge to delete that too."
}

# --- The command line ---

# The last line says what is wrong, where a terminal shows it.
wrong_usage() {
  usage >&2
  printf '\n%s\n' "$*" >&2
  exit 2
}

ACTION=install
FROM=
PREFIX=
PURGE=no
YES=no
while [ $# -gt 0 ]; do
  case $1 in
    --prefix=?*) PREFIX=${1#--prefix=} ;;
    --prefix)
      [ -n "${2:-}" ] || wrong_usage "--prefix needs a directory."
      PREFIX=$2
      shift
      ;;
    --from=?*) FROM=${1#--from=} ;;
    --from)
      [ -n "${2:-}" ] || wrong_usage "--from needs a file."
      FROM=$2
      shift
      ;;
    --try | --uninstall)
      [ "$ACTION" = install ] || wrong_usage "--$ACTION does not go with $1."
      ACTION=${1#--}
      ;;
    --purge) PURGE=yes ;;
    --yes) YES=yes ;;
    --help | -h)
      usage
      exit 0
      ;;
    *) wrong_usage "There is no option $1." ;;
  esac
  shift
done
case "$ACTION purge=$PURGE yes=$YES prefix=${PREFIX:+given} from=${FROM:+given}" in
  install\ purge=yes* | try\ purge=yes* | *purge=no\ yes=yes* | try*prefix=given* | try*from=given | uninstall*from=given)
    wrong_usage "These options do not go together."
    ;;
esac

case $ACTION in
  try)
    compile
    exec "$BUN" scripts/try.ts
    ;;
  install)
    if [ -n "$PREFIX" ]; then install_prefix "$PREFIX"; else install_service; fi
    ;;
  uninstall)
    if [ -n "$PREFIX" ]; then uninstall_prefix "$PREFIX"; else uninstall_service; fi
    ;;
esac
