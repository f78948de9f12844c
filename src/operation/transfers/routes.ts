/** The management plane's endpoints of moving a project: its file made here or sent here, looked into, imported. */
import type { Projects } from '../../access/projects/service.ts';
import { MAX_NAME_CHARS, MIN_TRANSFER_PASSPHRASE_CHARS } from '../../limits.ts';
import { ADMINISTER, actorOf, type ManagementCaller } from '../../platform/http/callers.ts';
import { managementRoute, type RequestContext, type Route } from '../../platform/http/routes.ts';
import { t, text } from '../../platform/http/schema.ts';
import { coming, exported, type FileRecord, imported, let_go, project_file, under_way } from './schemas.ts';
import type { Transfers } from './service.ts';

/** More than anybody types. */
const MAX_PASSPHRASE_CHARS = 1_000;

const passphrase = text({
  min: MIN_TRANSFER_PASSPHRASE_CHARS,
  max: MAX_PASSPHRASE_CHARS,
  description: 'What seals the secrets in the file. It is kept nowhere.',
});
const EXAMPLE_PASSPHRASE = 'correct horse battery staple';
const BUSY = { 409: 'Another project is being exported or imported' };

const needs = [ADMINISTER] as const;
const tag = 'Moving projects';
const FILE = '/project-files/:project_file';

interface Services {
  projects: Projects;
  transfers: Transfers;
}

export function transferRoutes(services: Services): Route[] {
  return [...routesOut(services), ...routesOfFiles(services), ...routesOfImport(services)];
}

function routesOut({ projects, transfers }: Services): Route[] {
  const load = ({ ctx, caller }: { ctx: RequestContext; caller: ManagementCaller }) =>
    projects.requireFor(caller, ctx.params.project ?? '');
  return [
    managementRoute({
      method: 'POST',
      path: '/projects/:project/export',
      // Whoever chose the passphrase can open the vault that is in the file.
      needs: [ADMINISTER, 'can_reveal_vault'],
      tag,
      summary: 'Export a project to a file',
      description:
        'Everything but what belongs to the operator: domains, mailboxes, people, accounts at providers. Unless `copy`, the project is set ' +
        'inactive, and nothing of it goes on here. The answer comes when the file is whole, minutes later for a large project; it is kept ' +
        'for a day, and downloaded at `/project-files/{project_file}`. Secrets are sealed under `passphrase`; addresses, mails and files ' +
        'are not: keep it as you keep backups.',
      status: 201,
      also: BUSY,
      body: t.Object({
        passphrase,
        copy: t.Optional(t.Boolean({ description: 'Leave it as it is. Default false.' })),
        with_store: t.Optional(
          t.Boolean({ description: 'Bring the bytes along that are in the object store. Default false.' }),
        ),
      }),
      example: { passphrase: EXAMPLE_PASSPHRASE, copy: true },
      response: exported,
      load,
      async handle({ caller, ctx, resource, body }) {
        ctx.keepOpen();
        return transfers.files.export(resource, {
          passphrase: body.passphrase,
          is_copy: body.copy ?? false,
          with_store: body.with_store ?? false,
          actor: actorOf(caller, ctx.ip),
        });
      },
    }),
    managementRoute({
      method: 'POST',
      path: '/projects/:project/let-go',
      needs,
      tag,
      summary: 'Let a moved project go on',
      description:
        'What was paused to be moved, and mail that waits: where it was imported, or where it was exported after all. What cannot go on ' +
        'stays paused, and says why.',
      response: let_go,
      load,
      async handle({ caller, ctx, resource }) {
        ctx.keepOpen();
        return transfers.letGo(resource, actorOf(caller, ctx.ip));
      },
    }),
  ];
}

const loadFrom =
  (files: Transfers['files']) =>
  ({ ctx }: { ctx: RequestContext }): FileRecord =>
    files.require(ctx.params.project_file ?? '');

function routesOfFiles({ transfers: { files } }: Services): Route[] {
  const load = loadFrom(files);
  return [
    managementRoute({
      method: 'GET',
      path: '/project-files',
      needs,
      tag,
      summary: 'Project files that are kept here, newest first',
      description: 'Each for a day.',
      response: t.Object({ files: t.Array(project_file), under_way }),
      handle: () => ({ files: files.list(), under_way: files.under_way }),
    }),
    managementRoute({
      method: 'POST',
      path: '/project-files',
      needs,
      tag,
      summary: 'Send a project file here',
      description:
        'Its bytes, as they are; of any size that there is room for. What is answered is on disk, and kept for a day.',
      status: 201,
      consumes: 'application/octet-stream',
      form: t.String({ format: 'binary' }),
      response: project_file,
      async handle({ ctx }) {
        const { headers, body } = ctx.request;
        const announced = headers.get('content-length');
        ctx.keepOpen();
        return files.receive(body, announced === null ? null : Number(announced));
      },
    }),
    managementRoute({
      method: 'GET',
      path: FILE,
      needs,
      tag,
      summary: 'Download a project file',
      produces: 'application/octet-stream',
      load,
      handle({ ctx, resource }) {
        // It takes longer than an idle time-out allows when its reader is slow.
        ctx.keepOpen();
        const { project, created_at, size_bytes } = resource;
        return new Response(Bun.file(files.pathOf(resource)), {
          headers: {
            'Content-Type': 'application/octet-stream',
            'Content-Disposition': `attachment; filename="${project.slug.replace(/[^a-z0-9-]/g, '')}-${created_at.slice(0, 10)}.satchel"`,
            'Content-Length': String(size_bytes),
            'Cache-Control': 'private, no-store',
          },
        });
      },
    }),
    managementRoute({
      method: 'DELETE',
      path: FILE,
      needs,
      tag,
      summary: 'Remove a project file',
      also: BUSY,
      response: t.Object({ deleted: t.Literal(true) }),
      load,
      handle({ resource }) {
        files.remove(resource);
        return { deleted: true };
      },
    }),
  ];
}

function routesOfImport({ transfers: { files } }: Services): Route[] {
  const load = loadFrom(files);
  return [
    managementRoute({
      method: 'POST',
      path: `${FILE}/check`,
      needs,
      tag,
      summary: 'What an import of a project file would bring, and miss',
      description: 'Reads all of it, and writes nothing. 409 where the project is here already.',
      also: BUSY,
      body: t.Object({ passphrase }),
      example: { passphrase: EXAMPLE_PASSPHRASE },
      response: coming,
      load,
      async handle({ caller, ctx, resource, body }) {
        ctx.keepOpen();
        return files.check(resource, { ...body, actor: actorOf(caller, ctx.ip) });
      },
    }),
    managementRoute({
      method: 'POST',
      path: `${FILE}/import`,
      needs,
      tag,
      summary: 'Import a project from its file',
      description:
        'Keys, links and public ids stay the same. Schedules, sequences and broadcasts arrive paused, and mail that waits is withheld, until ' +
        '`/projects/{project}/let-go`. An import that fails leaves nothing of it.',
      status: 201,
      also: BUSY,
      body: t.Object({
        passphrase,
        slug: t.Optional(
          text({
            max: MAX_NAME_CHARS,
            description: 'In place of the one in the file; where it is taken, it gets a number.',
          }),
        ),
      }),
      example: { passphrase: EXAMPLE_PASSPHRASE },
      response: imported,
      load,
      async handle({ caller, ctx, resource, body }) {
        ctx.keepOpen();
        return files.import(resource, { ...body, actor: actorOf(caller, ctx.ip) });
      },
    }),
  ];
}
