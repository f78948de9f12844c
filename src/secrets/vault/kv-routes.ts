/**
 * The vault as HashiCorp's KV version 2, to read, for deploy tools that know only that. Its project is the
 * path of a secret (and an environment, below that), whose fields are the variables of the `server` env block.
 */
import type { ProjectRow, Projects } from '../../access/projects/service.ts';
import type { Tokens } from '../../access/tokens/service.ts';
import { type AppError, notFound } from '../../errors.ts';
import { type Clock, toIso } from '../../platform/host/clock.ts';
import { failureMessage } from '../../platform/http/answers.ts';
import { actorOf, type ManagementCaller, mayAccessProject } from '../../platform/http/callers.ts';
import { bearerOf, type Dialect, foreignRoute, tokenOf } from '../../platform/http/foreign.ts';
import type { RequestContext, Route } from '../../platform/http/routes.ts';
import { t } from '../../platform/http/schema.ts';
import { VERSION } from '../../version.ts';
import { UNDECRYPTABLE, type Vault } from './service.ts';
import { PRODUCTION } from './stored-fields.ts';

/** One sentence for whoever may not: a stranger learns nothing of what is there. */
const DENIED =
  'permission denied: send an access token of Satchel that has can_reveal_vault, in X-Vault-Token or as bearer';

/** hvac reads `errors` where the type is exactly this. */
const JSON_TYPE = { 'Content-Type': 'application/json' };

const DIALECT: Dialect = {
  prefix: '/v1',
  fail(error) {
    const status = error.status === 401 ? 403 : error.status;
    return Response.json({ errors: [wordsOf(error)] }, { status, headers: JSON_TYPE });
  },
};

function wordsOf(error: AppError): string {
  if (error.kind === 'unauthenticated' || error.kind === 'forbidden') return DENIED;
  // Whoever deploys must learn which value is damaged.
  return error.code === UNDECRYPTABLE ? error.message : failureMessage(error);
}

const tokenSent = (request: Request): string | null =>
  request.headers.get('x-vault-token')?.trim() || bearerOf(request);
const reader = tokenOf(tokenSent, ['can_reveal_vault']);
const anyToken = tokenOf(tokenSent, []);

const asked = { dialect: DIALECT, method: 'GET', tag: 'Vault' } as const;

interface Deps {
  vault: Vault;
  projects: Projects;
  tokens: Tokens;
  clock: Clock;
}

export function kvRoutes(deps: Deps): Route[] {
  return [...dataRoutes(deps), ...listRoutes(deps), ...selfRoutes(deps)];
}

/** The variables of a project, in production unless the path names an environment. */
function dataRoutes({ vault, projects }: Deps): Route[] {
  return ['', '/:environment'].map((rest) =>
    foreignRoute({
      ...asked,
      path: `/:mount/data/:project${rest}`,
      summary: 'The variables of a project',
      who: reader,
      query: t.Object({ version: t.Optional(t.String()) }),
      load: (input) =>
        vault.environments.at(projectOf(projects, input), input.ctx.params.environment, input.caller),
      async handle({ ctx, caller, query, resource }) {
        const { values, version, changed_at } = await vault.readForKv(actorOf(caller, ctx.ip), resource);
        if (query.version !== undefined && !['0', String(version)].includes(query.version))
          throw notFound('This version');
        const created_time = toIso(changed_at ?? resource.created_at);
        const metadata = {
          version,
          created_time,
          deletion_time: '',
          destroyed: false,
          custom_metadata: null,
        };
        return answer(ctx, { data: values, metadata });
      },
    }),
  );
}

function listRoutes({ vault, projects }: Deps): Route[] {
  const query = t.Object({ list: t.Optional(t.String()) });
  /** Those of a project that a token knows. */
  const namesOf = (project: ProjectRow, caller: ManagementCaller): string[] =>
    vault.environments.list(project, caller).map(({ name }) => name);
  const isOther = (name: string): boolean => name !== PRODUCTION;
  return [
    foreignRoute({
      ...asked,
      path: '/:mount/metadata',
      summary: 'The projects whose variables the token may read',
      who: reader,
      query,
      load: requireMount,
      handle({ ctx, caller, query }) {
        requireList(query);
        const keys = projects.listAll({}).flatMap((project) => {
          const names = mayAccessProject(caller, project.id) ? namesOf(project, caller) : [];
          const { slug } = project;
          return [
            ...(names.includes(PRODUCTION) ? [slug] : []),
            ...(names.some(isOther) ? [`${slug}/`] : []),
          ];
        });
        if (keys.length === 0) throw notFound('Project');
        return answer(ctx, { keys });
      },
    }),
    foreignRoute({
      ...asked,
      path: '/:mount/metadata/:project',
      summary: 'The environments of a project beside production',
      who: reader,
      query,
      load: (input) => projectOf(projects, input),
      handle({ ctx, caller, query, resource }) {
        requireList(query);
        const keys = namesOf(resource, caller).filter(isOther);
        if (keys.length === 0) throw notFound('Environment beside production');
        return answer(ctx, { keys });
      },
    }),
  ];
}

/** What a client asks of the token, the mount and the server before it reads. */
function selfRoutes({ tokens, clock }: Deps): Route[] {
  const mounts = ['', '/*'].map((rest) =>
    foreignRoute({
      ...asked,
      path: `/sys/internal/ui/mounts/:mount${rest}`,
      summary: 'What a mount is: always KV version 2',
      who: anyToken,
      load: requireMount,
      handle: ({ ctx }) =>
        answer(ctx, { path: `${ctx.params.mount}/`, type: 'kv', options: { version: '2' } }, 'system'),
    }),
  );
  return [
    foreignRoute({
      ...asked,
      path: '/auth/token/lookup-self',
      summary: 'What the token is',
      who: anyToken,
      handle: ({ ctx, caller }) => answer(ctx, selfOf(tokens, caller, clock.now()), 'token'),
    }),
    ...mounts,
    foreignRoute({
      ...asked,
      path: '/sys/health',
      summary: 'Whether the server answers',
      who: null,
      handle() {
        const server_time_utc = Math.floor(clock.now() / 1000);
        const health = {
          initialized: true,
          sealed: false,
          standby: false,
          version: VERSION,
          server_time_utc,
        };
        return Response.json(health, { headers: JSON_TYPE });
      },
    }),
  ];
}

/** Vault's own paths are no mounts. Throws AppError `not_found`. */
function requireMount({ ctx }: { ctx: RequestContext }): void {
  if (ctx.params.mount === 'sys' || ctx.params.mount === 'auth') throw notFound('Mount');
}

function projectOf(
  projects: Projects,
  { ctx, caller }: { ctx: RequestContext; caller: ManagementCaller },
): ProjectRow {
  requireMount({ ctx });
  return projects.requireFor(caller, ctx.params.project ?? '');
}

/** The verb LIST can't be had by HTTP here: clients ask by GET. Throws AppError `not_found`. */
function requireList({ list }: { list?: string }): void {
  if (list !== 'true' && list !== '1') throw notFound('Metadata without ?list=true');
}

function selfOf(tokens: Tokens, caller: ManagementCaller, now_ms: number): Record<string, unknown> {
  const { name, token_prefix, expires_at, created_at } = tokens.describe(caller);
  return {
    display_name: name,
    id: token_prefix,
    type: 'service',
    policies: [],
    renewable: false,
    ttl: expires_at === null ? 0 : Math.ceil((Date.parse(expires_at) - now_ms) / 1000),
    expire_time: expires_at,
    creation_time: Math.floor(Date.parse(created_at) / 1000),
  };
}

/** An answer in Vault's envelope. */
function answer(ctx: RequestContext, data: unknown, mount_type = 'kv'): Response {
  const envelope = {
    request_id: ctx.request_id,
    lease_id: '',
    renewable: false,
    lease_duration: 0,
    data,
    wrap_info: null,
    warnings: null,
    auth: null,
    mount_type,
  };
  return Response.json(envelope, { headers: JSON_TYPE });
}
