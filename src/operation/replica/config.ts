/** The configuration for Litestream and systemd, which replicate the database to S3 while Satchel runs. */
import { chmodSync, existsSync, lstatSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Config } from '../../config.ts';
import { AppError, conflict, messageOf } from '../../errors.ts';
import { databasePathOf } from '../../platform/host/database-file.ts';
import { accountName } from '../../platform/host/ownership.ts';
import type { S3Place } from '../../store-place.ts';
import { socketPathOf } from './litestream.ts';

export interface ReplicaConfig {
  /** Litestream's configuration, in YAML. */
  config: string;
  /** A systemd unit that runs it. */
  unit: string;
}

/** Where the texts are to go; the unit names the first and the last. */
export interface ReplicaPaths {
  config: string;
  unit: string;
  /** Holds LITESTREAM_ACCESS_KEY_ID and LITESTREAM_SECRET_ACCESS_KEY, which Litestream reads. */
  keys: string;
}

const UNIT = 'satchel-litestream.service';

/** Those of the machine's service. */
export const REPLICA_PATHS: ReplicaPaths = {
  config: '/etc/satchel/litestream.yml',
  unit: `/etc/systemd/system/${UNIT}`,
  keys: '/etc/satchel/litestream.env',
};

/** Those of a folder in which all of it stands. */
export function replicaPathsIn(folder: string): ReplicaPaths {
  const home = resolve(folder);
  return {
    config: join(home, 'litestream.yml'),
    unit: join(home, UNIT),
    keys: join(home, 'litestream.env'),
  };
}

/**
 * Writes both texts where there are none, and makes the folder. A file that is right already stays. Throws
 * AppError `conflict` where another file has one of the names, `invalid` where they can't be written; then
 * nothing is written.
 */
export function writeReplicaConfig({ config, unit }: ReplicaConfig, paths: ReplicaPaths): void {
  const texts = new Map([
    [paths.config, config],
    [paths.unit, unit],
  ]);
  const missing = [...texts].filter(([path, text]) => readIfThere(path) !== text);
  const other = missing.find(([path]) => lstatSync(path, { throwIfNoEntry: false }));
  if (other) {
    throw conflict(
      `${other[0]} is there already, and is not what this installation's would be. Nothing was written: move it away, or name another folder.`,
    );
  }
  const folder = dirname(paths.config);
  try {
    // Others may read all of it: it holds no secret, and Litestream runs as another user than who writes it.
    if (!existsSync(folder)) {
      mkdirSync(folder);
      chmodSync(folder, 0o755);
    }
    for (const [path, text] of missing) {
      writeFileSync(path, text, { flag: 'wx' });
      chmodSync(path, 0o644);
    }
  } catch (error) {
    throw new AppError('invalid', `The files can't be written: ${messageOf(error)}.`, { cause: error });
  }
}

/** Null for what is no plain file too: that is left to who writes. */
function readIfThere(path: string): string | null {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() ? readFileSync(path, 'utf8') : null;
}

/** Where Litestream tells its metrics: on this machine, at no usual port of Prometheus' exporters. */
const METRICS_ADDRESS = '127.0.0.1:9392';
/** Every system takes a path of a Unix socket of so many bytes (sun_path of macOS, less its end). */
const MAX_SOCKET_PATH_BYTES = 103;

/**
 * The replica is kept under `PREFIX/litestream`. Throws AppError `invalid` where that would be among the keys
 * of `objects`, the store of the objects' bytes, or where the path of the control socket is too long.
 */
export function makeReplicaConfig(
  { data_dir, object_store: objects }: Pick<Config, 'data_dir' | 'object_store'>,
  to: S3Place,
  paths: ReplicaPaths,
): ReplicaConfig {
  const home = resolve(data_dir);
  const path = `${to.prefix}litestream`;
  const is_same_bucket = objects?.endpoint === to.endpoint && objects.bucket === to.bucket;
  if (is_same_bucket && path.startsWith(`${objects.prefix}objects/`)) {
    throw new AppError(
      'invalid',
      `${to.bucket}/${path} is among the keys of SATCHEL_OBJECT_STORE, which are objects alone. Name another prefix.`,
    );
  }
  const socket = socketPathOf(home);
  if (Buffer.byteLength(socket) > MAX_SOCKET_PATH_BYTES) {
    throw new AppError(
      'invalid',
      `The path of Litestream's control socket, ${socket}, has more than ${MAX_SOCKET_PATH_BYTES} bytes. Move the data directory to a shorter path.`,
    );
  }
  const replica = {
    type: 's3',
    endpoint: to.endpoint,
    region: to.region,
    bucket: to.bucket,
    path,
    'force-path-style': to.is_path_style,
  };
  const settings = {
    addr: METRICS_ADDRESS,
    // Says how far the replica is behind, to satchel replica status and doctor.
    socket: { enabled: true, path: socket, permissions: 0o600 },
    // Deleted rows are to be out of the log within a minute, and it is Litestream that has the log begin anew.
    dbs: [{ path: databasePathOf(home), 'checkpoint-interval': '30s', replica }],
  };
  return { config: `${Bun.YAML.stringify(settings, null, 2)}\n`, unit: unitFor(home, paths) };
}

function unitFor(data_dir: string, paths: ReplicaPaths): string {
  const program = Bun.which('litestream') ?? '/usr/bin/litestream';
  const user = ownerOf(data_dir);
  // systemd.exec: what ProtectHome hides.
  const is_at_home = [data_dir, program, paths.config].some((path) =>
    /^\/(home|root|run\/user)\//.test(path),
  );
  return `[Unit]
Description=Litestream, which replicates Satchel's database
Wants=network-online.target
After=network-online.target

[Service]
User=${user}
EnvironmentFile=${paths.keys.replaceAll('%', '%%')}
ExecStart=${inCommand(program)} replicate -config ${inCommand(paths.config)}
Restart=always
RestartSec=5
UMask=0077
# What it may write: the database's folder.
ProtectSystem=strict
ReadWritePaths=${systemdPath(data_dir)}
ProtectHome=${is_at_home ? 'read-only' : 'yes'}
PrivateTmp=yes
PrivateDevices=yes
# What it may do: speak TCP, UDP and local sockets. Netlink is how a resolver lists the machine's addresses.
NoNewPrivileges=yes
CapabilityBoundingSet=
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
MemoryDenyWriteExecute=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectProc=invisible
RemoveIPC=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallErrorNumber=EPERM

[Install]
WantedBy=multi-user.target
`;
}

/** Litestream writes beside the database, so it is to be who owns that. */
function ownerOf(data_dir: string): string {
  const stat = statSync(data_dir, { throwIfNoEntry: false });
  return stat ? (accountName(stat.uid) ?? String(stat.uid)) : 'satchel';
}

/** Plain where it can be, as it is read; in a command systemd takes `$` for a variable. */
function inCommand(path: string): string {
  return /^[\w/.+-]+$/.test(path) ? path : systemdPath(path).replaceAll('$', '$$$$');
}

/** In quotes, with what systemd takes for a specifier written twice (systemd.syntax). */
function systemdPath(path: string): string {
  return `"${path.replaceAll('%', '%%').replace(/["\\]/g, '\\$&')}"`;
}
