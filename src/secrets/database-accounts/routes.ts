/** Database accounts and database projects on the management plane. */

import { actorOf, projectsOfNewRecord } from '../../platform/http/callers.ts';
import { pageQuery } from '../../platform/http/pagination.ts';
import { managementRoute, type Route } from '../../platform/http/routes.ts';
import { t } from '../../platform/http/schema.ts';
import { deletedRecord } from '../../platform/secrets/account-schemas.ts';
import type { DatabaseProjects } from './projects.ts';
import {
  createDatabaseAccountBody,
  createDatabaseProjectBody,
  databaseAccount,
  databaseProject,
  revealedDatabaseAccount,
  revealedDatabaseProject,
  updateDatabaseAccountBody,
  updateDatabaseProjectBody,
} from './schemas.ts';
import type { DatabaseAccounts } from './service.ts';

const tag = 'Database accounts';

export function databaseAccountRoutes(services: {
  database_accounts: DatabaseAccounts;
  database_projects: DatabaseProjects;
}): Route[] {
  return [...accountRoutes(services.database_accounts), ...projectRoutes(services.database_projects)];
}

function accountRoutes(accounts: DatabaseAccounts): Route[] {
  return [
    managementRoute({
      method: 'GET',
      path: '/database-accounts',
      needs: ['can_manage_database'],
      tag,
      summary: 'Accounts at database providers, newest first',
      query: t.Object(pageQuery),
      response: t.Array(databaseAccount),
      handle: ({ caller, query }) => accounts.list(caller, query),
    }),
    managementRoute({
      method: 'POST',
      path: '/database-accounts',
      status: 201,
      needs: ['can_manage_database'],
      tag,
      summary: 'Add an account',
      body: createDatabaseAccountBody,
      example: { name: 'Supabase', provider: 'supabase', access_token: 'sbp_example' },
      response: databaseAccount,
      load: ({ caller }) => accounts.requireCreator(caller),
      handle: ({ ctx, caller, body }) => accounts.create(actorOf(caller, ctx.ip), body),
    }),
    managementRoute({
      method: 'GET',
      path: '/database-accounts/:account',
      needs: ['can_manage_database'],
      tag,
      summary: 'One account, without its access token',
      response: databaseAccount,
      load: ({ ctx, caller }) => accounts.requireFor(caller, ctx.params.account ?? ''),
      handle: ({ resource }) => accounts.present(resource),
    }),
    managementRoute({
      method: 'PATCH',
      path: '/database-accounts/:account',
      needs: ['can_manage_database'],
      tag,
      summary: 'Change an account',
      body: updateDatabaseAccountBody,
      example: { organization_slug: 'bakers' },
      response: databaseAccount,
      load: ({ ctx, caller }) => accounts.requireFor(caller, ctx.params.account ?? ''),
      handle: ({ ctx, caller, body, resource }) => accounts.update(actorOf(caller, ctx.ip), resource, body),
    }),
    managementRoute({
      method: 'DELETE',
      path: '/database-accounts/:account',
      needs: ['can_manage_database'],
      tag,
      summary: 'Delete an account that no database project uses',
      response: deletedRecord,
      load: ({ ctx, caller }) => accounts.requireFor(caller, ctx.params.account ?? ''),
      handle: ({ ctx, caller, resource }) => accounts.remove(actorOf(caller, ctx.ip), resource),
    }),
    managementRoute({
      method: 'POST',
      path: '/database-accounts/:account/reveal',
      needs: ['can_read_database_tokens'],
      tag,
      summary: "An account's access token",
      description: 'Recorded before it answers.',
      response: revealedDatabaseAccount,
      load: ({ ctx, caller }) => accounts.requireFor(caller, ctx.params.account ?? ''),
      handle: ({ ctx, caller, resource }) => accounts.reveal(actorOf(caller, ctx.ip), resource),
    }),
  ];
}

function projectRoutes(projects: DatabaseProjects): Route[] {
  return [
    managementRoute({
      method: 'GET',
      path: '/database-projects',
      needs: ['can_manage_database'],
      tag,
      summary: 'Database projects, newest first',
      query: t.Object(pageQuery),
      response: t.Array(databaseProject),
      handle: ({ caller, query }) => projects.list(caller, query),
    }),
    managementRoute({
      method: 'POST',
      path: '/database-projects',
      status: 201,
      needs: ['can_manage_database'],
      tag,
      summary: 'Add a database project',
      description: 'From a scoped token it belongs to the projects of that token.',
      body: createDatabaseProjectBody,
      example: { ref: 'abcdefghijkl', name: 'Shop', region: 'eu-central-1', secret_key: 'sb_secret_example' },
      response: databaseProject,
      load: ({ caller }) => projectsOfNewRecord(caller),
      check: ({ caller, body }) => projects.errorsIn(caller, body),
      handle: ({ ctx, caller, body, resource }) =>
        projects.create(actorOf(caller, ctx.ip), caller, resource, body),
    }),
    managementRoute({
      method: 'GET',
      path: '/database-projects/:database',
      needs: ['can_manage_database'],
      tag,
      summary: 'One database project, without its secrets',
      response: databaseProject,
      load: ({ ctx, caller }) => projects.requireFor(caller, ctx.params.database ?? ''),
      handle: ({ resource }) => projects.present(resource),
    }),
    managementRoute({
      method: 'PATCH',
      path: '/database-projects/:database',
      needs: ['can_manage_database'],
      tag,
      summary: 'Change a database project',
      body: updateDatabaseProjectBody,
      example: { status: 'active' },
      response: databaseProject,
      load: ({ ctx, caller }) => projects.requireForChange(caller, ctx.params.database ?? ''),
      check: ({ caller, body }) => projects.errorsIn(caller, body),
      handle: ({ ctx, caller, body, resource }) =>
        projects.update(actorOf(caller, ctx.ip), caller, resource, body),
    }),
    managementRoute({
      method: 'DELETE',
      path: '/database-projects/:database',
      needs: ['can_manage_database'],
      tag,
      summary: 'Delete a database project and its links',
      response: deletedRecord,
      load: ({ ctx, caller }) => projects.requireForChange(caller, ctx.params.database ?? ''),
      handle: ({ ctx, caller, resource }) => projects.remove(actorOf(caller, ctx.ip), resource),
    }),
    managementRoute({
      method: 'POST',
      path: '/database-projects/:database/reveal',
      needs: ['can_read_database_tokens'],
      tag,
      summary: "A database project's secrets",
      description: 'Recorded before it answers.',
      response: revealedDatabaseProject,
      load: ({ ctx, caller }) => projects.requireFor(caller, ctx.params.database ?? ''),
      handle: ({ ctx, caller, resource }) => projects.reveal(actorOf(caller, ctx.ip), resource),
    }),
  ];
}
