/** AI accounts, database accounts and database projects on the management plane, and their projects. */
import type { Projects } from '../../access/projects/service.ts';
import { actorOf, type Capability, type ManagementCaller } from '../../platform/http/callers.ts';
import { pageQuery } from '../../platform/http/pagination.ts';
import { recordRoutes } from '../../platform/http/record-routes.ts';
import { managementRoute, type RequestContext, type Route } from '../../platform/http/routes.ts';
import { type TSchema, type TUnsafe, t } from '../../platform/http/schema.ts';
import type { AiAccountShapes, AiAccounts, AiAssignments } from './ai-accounts.ts';
import type {
  DatabaseAccountShapes,
  DatabaseAccounts,
  DatabaseProjectShapes,
  DatabaseProjects,
} from './databases.ts';
import {
  aiAccount,
  assignedProject,
  createAiAccountBody,
  createDatabaseAccountBody,
  createDatabaseProjectBody,
  databaseAccount,
  databaseProject,
  deletedRecord,
  revealedAiAccount,
  revealedDatabaseAccount,
  revealedDatabaseProject,
  setAccountProjectsBody,
  setProjectAccountsBody,
  updateAiAccountBody,
  updateDatabaseAccountBody,
  updateDatabaseProjectBody,
} from './schemas.ts';
import type { ProviderRecords, Shapes } from './service.ts';

const AI_TAG = 'AI accounts';

export function providerAccountRoutes(services: {
  database_accounts: DatabaseAccounts;
  database_projects: DatabaseProjects;
  ai_accounts: AiAccounts;
  ai_assignments: AiAssignments;
  projects: Projects;
}): Route[] {
  const database = {
    tag: 'Database accounts',
    needs: { read: 'can_manage_database', write: 'can_manage_database', reveal: 'can_read_database_tokens' },
  } as const;
  return [
    ...accountRoutes<DatabaseAccountShapes>({
      ...database,
      records: services.database_accounts,
      path: '/database-accounts/:account',
      list: 'Accounts at database providers, newest first',
      one: 'One account, without its access token',
      create: { summary: 'Add an account' },
      change: { summary: 'Change an account' },
      remove: 'Delete an account that no database project uses',
      reveal: "An account's access token",
      shown: databaseAccount,
      revealed: revealedDatabaseAccount,
      input: createDatabaseAccountBody,
      example: { name: 'Supabase', provider: 'supabase', access_token: 'sbp_example' },
      changes: updateDatabaseAccountBody,
      example_change: { organization_slug: 'bakers' },
    }),
    ...accountRoutes<DatabaseProjectShapes>({
      ...database,
      records: services.database_projects,
      path: '/database-projects/:database',
      list: 'Database projects, newest first',
      one: 'One database project, without its secrets',
      create: {
        summary: 'Add a database project',
        description: 'From a scoped token it belongs to the projects of that token.',
      },
      change: { summary: 'Change a database project' },
      remove: 'Delete a database project and its links',
      reveal: "A database project's secrets",
      shown: databaseProject,
      revealed: revealedDatabaseProject,
      input: createDatabaseProjectBody,
      example: { ref: 'abcdefghijkl', name: 'Shop', region: 'eu-central-1', secret_key: 'sb_secret_example' },
      changes: updateDatabaseProjectBody,
      example_change: { status: 'active' },
    }),
    ...accountRoutes<AiAccountShapes>({
      tag: AI_TAG,
      needs: { read: 'can_read_ai_accounts', write: 'can_write_vault', reveal: 'can_read_ai_accounts' },
      records: services.ai_accounts,
      path: '/ai-accounts/:account',
      list: 'Accounts at AI providers, newest first',
      one: 'One account, without its key',
      create: {
        summary: 'Add an account',
        description: 'From a scoped token it is assigned to the projects of that token.',
      },
      change: {
        summary: 'Change an account',
        description: '`all_projects` is a standing rule: the account then serves later projects too.',
      },
      remove: 'Delete an account and its assignments',
      reveal: "An account's key",
      shown: aiAccount,
      revealed: revealedAiAccount,
      input: createAiAccountBody,
      example: { name: 'OpenAI', provider: 'openai', api_key: 'sk-example' },
      changes: updateAiAccountBody,
      example_change: { is_active: false },
    }),
    ...assignmentRoutes(services.ai_accounts, services.ai_assignments, services.projects),
  ];
}

/** One kind of record: where it is and what its routes say of themselves. */
interface RecordSpec<S extends Shapes> {
  tag: string;
  needs: { read: Capability; write: Capability; reveal: Capability };
  records: ProviderRecords<S>;
  /** Of one of them. */
  path: string;
  list: string;
  one: string;
  create: { summary: string; description?: string };
  change: { summary: string; description?: string };
  remove: string;
  reveal: string;
  shown: TSchema;
  revealed: TSchema;
  input: TUnsafe<S['input']>;
  example: S['input'];
  changes: TUnsafe<S['changes']>;
  example_change: S['changes'];
}

function accountRoutes<S extends Shapes>(spec: RecordSpec<S>): Route[] {
  const { tag, path, records, needs, shown } = spec;
  const name = path.slice(path.indexOf(':') + 1);
  type Named = { ctx: RequestContext; caller: ManagementCaller };
  const load = ({ ctx, caller }: Named) => records.requireFor(caller, ctx.params[name] ?? '');
  return [
    ...recordRoutes(managementRoute, {
      path,
      tag,
      needs: [needs.write],
      shown,
      load,
      loadToChange: ({ ctx, caller }) => records.requireForChange(caller, ctx.params[name] ?? ''),
      list: {
        needs: [needs.read],
        summary: spec.list,
        query: t.Object(pageQuery),
        handle: ({ caller, query }) => records.list(caller, query),
      },
      create: {
        ...spec.create,
        body: spec.input,
        example: spec.example,
        authorizeBody: ({ caller, sent }) => records.authorize(caller, sent),
        load: ({ caller }: Named) => records.projectsOfNew(caller),
        errorsIn: ({ caller, body }) => records.errorsIn({ caller, current: null, sent: body }),
        handle: ({ ctx, caller, body, resource }) =>
          records.create(actorOf(caller, ctx.ip), caller, resource, body),
      },
      read: {
        needs: [needs.read],
        summary: spec.one,
        handle: ({ resource }) => records.present(resource),
      },
      change: {
        ...spec.change,
        body: spec.changes,
        example: spec.example_change,
        authorizeBody: ({ caller, sent }) => records.authorize(caller, sent),
        errorsIn: ({ caller, body, resource }) => records.errorsIn({ caller, current: resource, sent: body }),
        handle: ({ ctx, caller, body, resource }) =>
          records.update(actorOf(caller, ctx.ip), caller, resource, body),
      },
      remove: {
        summary: spec.remove,
        response: deletedRecord,
        handle: ({ ctx, caller, resource }) => records.remove(actorOf(caller, ctx.ip), resource),
      },
    }),
    managementRoute({
      tag,
      path: `${path}/reveal`,
      summary: spec.reveal,
      description: 'Recorded before it answers.',
      method: 'POST',
      needs: [needs.reveal],
      only_reads: true,
      response: spec.revealed,
      load,
      handle: ({ ctx, caller, resource }) => records.reveal(actorOf(caller, ctx.ip), resource),
    }),
  ];
}

function assignmentRoutes(accounts: AiAccounts, assignments: AiAssignments, projects: Projects): Route[] {
  const reading = { tag: AI_TAG, needs: ['can_read_ai_accounts'] } as const;
  const writing = { tag: AI_TAG, needs: ['can_write_vault'] } as const;
  return [
    managementRoute({
      ...reading,
      method: 'GET',
      path: '/ai-accounts/:account/projects',
      summary: 'The projects an account serves',
      query: t.Object(pageQuery),
      response: t.Array(assignedProject),
      load: ({ ctx, caller }) => accounts.requireFor(caller, ctx.params.account ?? ''),
      handle: ({ caller, query, resource }) => assignments.listProjects(caller, resource, query),
    }),
    managementRoute({
      ...writing,
      method: 'PUT',
      path: '/ai-accounts/:account/projects',
      summary: 'Replace the projects an account is assigned to',
      description:
        'Either `all_existing: true`, the projects there are now, or `project_ids`. A scoped token replaces among its own ' +
        'projects alone. Answers the first page of the list.',
      body: setAccountProjectsBody,
      example: { all_existing: true },
      response: t.Array(assignedProject),
      load: ({ ctx, caller }) => accounts.requireFor(caller, ctx.params.account ?? ''),
      async handle({ ctx, caller, body, resource }) {
        await assignments.setProjects(actorOf(caller, ctx.ip), caller, resource, body);
        return assignments.listProjects(caller, resource, {});
      },
    }),
    managementRoute({
      ...reading,
      method: 'GET',
      path: '/projects/:project/ai-accounts',
      summary: 'The accounts that serve a project',
      description: 'Those assigned to it, and those of all projects.',
      query: t.Object(pageQuery),
      response: t.Array(aiAccount),
      load: ({ ctx, caller }) => projects.requireFor(caller, ctx.params.project ?? ''),
      handle: ({ query, resource }) => accounts.listServing([resource.id], query),
    }),
    managementRoute({
      ...writing,
      method: 'PUT',
      path: '/projects/:project/ai-accounts',
      summary: 'Replace the accounts assigned to a project',
      description: 'Accounts of all projects serve it in any case. Answers the first page of the list.',
      body: setProjectAccountsBody,
      example: { account_ids: [1] },
      response: t.Array(aiAccount),
      load: ({ ctx, caller }) => projects.requireFor(caller, ctx.params.project ?? ''),
      async handle({ ctx, caller, body, resource }) {
        await assignments.setAccounts(actorOf(caller, ctx.ip), caller, resource, body.account_ids);
        return accounts.listServing([resource.id], {});
      },
    }),
  ];
}
