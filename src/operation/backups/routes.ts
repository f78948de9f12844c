/** The management plane's endpoints of backups. */
import { evaluateRequest } from '../../platform/files/ranges.ts';
import { ADMINISTER, actorOf } from '../../platform/http/callers.ts';
import { pageQuery, paginateAll } from '../../platform/http/pagination.ts';
import { managementRoute, type RequestContext, type Route } from '../../platform/http/routes.ts';
import { t } from '../../platform/http/schema.ts';
import { type BackupSchedule, errorsOf } from './schedule.ts';
import { at, type BackupRecord, backup, KEEP, keep, schedule, timezone } from './schemas.ts';
import type { Backups } from './service.ts';

const needs = [ADMINISTER] as const;
const tag = 'Backups';
const BACKUP = '/backups/:backup';

export function backupRoutes({
  backups,
  backup_schedule,
}: {
  backups: Backups;
  backup_schedule: BackupSchedule;
}): Route[] {
  return [...routesOfFiles(backups), ...routesOfSchedule(backup_schedule)];
}

function routesOfFiles(backups: Backups): Route[] {
  const load = ({ ctx }: { ctx: RequestContext }): BackupRecord => backups.require(ctx.params.backup ?? '');
  return [
    managementRoute({
      method: 'GET',
      path: '/backups',
      needs,
      tag,
      summary: 'List backups',
      description:
        'Those in the folder `backups` of the data directory, or SATCHEL_BACKUP_DIR, newest first; `?name=` is one of them. Such as `satchel backup` makes ' +
        'elsewhere are not among them.',
      query: t.Object({ ...pageQuery, name: t.Optional(t.String()) }),
      response: t.Array(backup),
      handle: ({ query }) =>
        paginateAll(
          query,
          backups.list().filter(({ name }) => query.name === undefined || name === query.name),
        ),
    }),
    managementRoute({
      method: 'POST',
      path: '/backups',
      needs,
      tag,
      summary: 'Make a backup',
      description:
        'Of everything but the master key and other backups, while the server runs. `/jobs/{job_id}` tells when it is done, or why it ' +
        'failed. One at a time: 409 while another one is being made or verified.',
      status: 202,
      response: backup,
      handle: ({ caller, ctx }) => backups.make(actorOf(caller, ctx.ip)),
    }),
    managementRoute({
      method: 'GET',
      path: BACKUP,
      needs,
      tag,
      summary: 'Download a backup',
      description:
        'The file, with ranges. It holds everything but the master key; who downloads it is put on the audit trail. 409 until it is whole.',
      produces: 'application/x-tar',
      also: { 206: 'The range that was asked for.', 416: 'There are no such bytes.' },
      load,
      handle: async ({ caller, ctx, resource }) =>
        serveFile(ctx, await backups.take(actorOf(caller, ctx.ip), resource), resource),
    }),
    managementRoute({
      method: 'DELETE',
      path: BACKUP,
      needs,
      tag,
      summary: 'Delete a backup',
      response: t.Object({ deleted: t.Literal(true) }),
      load,
      async handle({ caller, ctx, resource }) {
        await backups.remove(actorOf(caller, ctx.ip), resource);
        return { deleted: true };
      },
    }),
    managementRoute({
      method: 'POST',
      path: `${BACKUP}/verify`,
      needs,
      tag,
      summary: 'Verify a backup',
      description:
        'Reads all of it, restores it to a scratch place and checks that; the answer comes when that is done, minutes later for a large one.',
      response: t.Object({ ok: t.Boolean(), findings: t.Array(t.String()) }),
      load,
      async handle({ ctx, resource }) {
        ctx.keepOpen();
        const { ok, findings } = await backups.verify(resource);
        return { ok, findings };
      },
    }),
  ];
}

function routesOfSchedule(schedules: BackupSchedule): Route[] {
  const path = '/backups/schedule';
  return [
    managementRoute({
      method: 'GET',
      path,
      needs,
      tag,
      summary: 'When the server backs up by itself',
      description:
        '`last_backup_at` is the last one that was made here, by whatever verb, timer or page; `last_failure` why one failed since. ' +
        '`master_key.from` is `file`, or the name of the setting that says where the key comes from: it is in no backup.',
      response: schedule,
      unversioned: ['next_at', 'last_backup_at', 'last_failure'],
      handle: () => schedules.show(),
    }),
    managementRoute({
      method: 'PUT',
      path,
      needs,
      tag,
      summary: 'Have the server back up each day',
      description:
        'It makes `nightly-TIME.tar` as `POST /backups` does, once none is under way, and makes up at its start for a time that it missed. ' +
        'Once that is whole, of those named so all but the newest `keep` go; what people made stays.',
      body: t.Object({ at, timezone: t.Optional(timezone), keep: t.Optional(keep) }),
      example: { at: '03:30', timezone: 'Europe/Berlin', keep: 14 },
      response: schedule,
      errorsIn: ({ body }) => errorsOf(body),
      handle: ({ caller, ctx, body }) =>
        schedules.set(actorOf(caller, ctx.ip), { timezone: 'UTC', keep: KEEP.fallback, ...body }),
    }),
  ];
}

function serveFile(ctx: RequestContext, path: string, record: BackupRecord): Response {
  const size_bytes = record.size_bytes ?? 0;
  const { method, headers: asked } = ctx.request;
  const last_modified_ms = Date.parse(record.created_at);
  const etag = `"${record.name}-${size_bytes}"`;
  const { status, start, end } = evaluateRequest({
    method,
    headers: asked,
    etag,
    last_modified_ms,
    size_bytes,
  });
  const headers: Record<string, string> = {
    'Content-Type': 'application/x-tar',
    'Content-Disposition': `attachment; filename="${record.name}"`,
    'Cache-Control': 'private, no-store',
    ETag: etag,
    'Accept-Ranges': 'bytes',
  };
  if (status === 304 || status === 412) return new Response(null, { status, headers });
  if (status === 416) {
    return new Response(null, { status, headers: { ...headers, 'Content-Range': `bytes */${size_bytes}` } });
  }
  if (status === 206) headers['Content-Range'] = `bytes ${start}-${end - 1}/${size_bytes}`;
  // It takes longer than an idle time-out allows when its reader is slow.
  ctx.keepOpen();
  const file = Bun.file(path);
  return new Response(status === 206 ? file.slice(start, end) : file, { status, headers });
}
