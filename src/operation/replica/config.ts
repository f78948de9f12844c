/** What Litestream and systemd are told, so that the database is replicated to an S3 store while Satchel runs. */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { AppError } from '../../errors.ts';
import { databasePathOf } from '../../platform/host/data-directory.ts';
import { accountName } from '../../platform/host/user-accounts.ts';
import type { S3Place } from '../../s3-settings.ts';
import { socketPathOf } from './litestream.ts';

export interface ReplicaConfig {
  /** Litestream's configuration, in YAML. */
  config: string;
  /** A systemd unit that runs it. */
  unit: string;
}

/** Where the texts are to go; the unit names the first and the last. */
export const REPLICA_PATHS = {
  config: '/etc/satchel/litestream.yml',
  unit: '/etc/systemd/system/satchel-litestream.service',
  /** Holds LITESTREAM_ACCESS_KEY_ID and LITESTREAM_SECRET_ACCESS_KEY, which Litestream reads. */
  keys: '/etc/satchel/litestream.env',
};

/** Where Litestream tells its metrics: of this machine, and none of the ports that Prometheus' exporters are known by. */
const METRICS_ADDRESS = '127.0.0.1:9392';
/** What a path of a Unix socket may have on every system (sun_path of macOS, less its end). */
const MAX_SOCKET_PATH_BYTES = 103;

/**
 * The replica is kept under `PREFIX/litestream` of the place. Throws AppError `invalid` where that would be among the keys of
 * `objects`, the store of the objects' bytes, or where the path of the control socket would be too long.
 */
export function makeReplicaConfig(data_dir: string, to: S3Place, objects: S3Place | null): ReplicaConfig {
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
    dbs: [{ path: databasePathOf(home), replica }],
  };
  return { config: `${Bun.YAML.stringify(settings, null, 2)}\n`, unit: unitFor(home) };
}

function unitFor(data_dir: string): string {
  const user = ownerOf(data_dir);
  return `[Unit]
Description=Litestream, which replicates Satchel's database
Wants=network-online.target
After=network-online.target

[Service]
User=${user}
EnvironmentFile=${REPLICA_PATHS.keys}
ExecStart=/usr/bin/litestream replicate -config ${REPLICA_PATHS.config}
Restart=always
RestartSec=5
UMask=0077
NoNewPrivileges=yes
PrivateTmp=yes
ProtectHome=read-only
ProtectSystem=strict
ReadWritePaths=${systemdPath(data_dir)}

[Install]
WantedBy=multi-user.target
`;
}

/** Litestream writes beside the database, so it is to be who owns that. */
function ownerOf(data_dir: string): string {
  const stat = statSync(data_dir, { throwIfNoEntry: false });
  return stat ? (accountName(stat.uid) ?? String(stat.uid)) : 'satchel';
}

/** In quotes, with what systemd takes for a specifier written twice (systemd.syntax). */
function systemdPath(path: string): string {
  return `"${path.replaceAll('%', '%%').replace(/["\\]/g, '\\$&')}"`;
}
