/** AI accounts and their assignment to projects on the management plane. */

import type { Projects } from '../../access/projects/service.ts';
import { actorOf, projectsOfNewRecord } from '../../platform/http/callers.ts';
import { pageQuery } from '../../platform/http/pagination.ts';
import { managementRoute, type Route } from '../../platform/http/routes.ts';
import { t } from '../../platform/http/schema.ts';
import { deletedRecord } from '../../platform/secrets/account-schemas.ts';
import type { AiAssignments } from './assignments.ts';
import {
  aiAccount,
  assignedProject,
  createAiAccountBody,
  revealedAiAccount,
  setAccountProjectsBody,
  setProjectAccountsBody,
  updateAiAccountBody,
} from './schemas.ts';
import { type AiAccounts, refuseStandingRule } from './service.ts';

const tag = 'AI accounts';

export function aiAccountRoutes(services: {
  ai_accounts: AiAccounts;
  ai_assignments: AiAssignments;
  projects: Projects;
}): Route[] {
  const { ai_accounts, ai_assignments, projects } = services;
  return [
    ...accountRoutes(ai_accounts),
    ...projectsOfAccountRoutes(ai_accounts, ai_assignments),
    ...accountsOfProjectRoutes(projects, ai_assignments),
  ];
}

function accountRoutes(accounts: AiAccounts): Route[] {
  return [
    managementRoute({
      method: 'GET',
      path: '/ai-accounts',
      needs: ['can_read_ai_accounts'],
      tag,
      summary: 'Accounts at AI providers, newest first',
      query: t.Object(pageQuery),
      response: t.Array(aiAccount),
      handle: ({ caller, query }) => accounts.list(caller, query),
    }),
    managementRoute({
      method: 'POST',
      path: '/ai-accounts',
      status: 201,
      needs: ['can_write_vault'],
      tag,
      summary: 'Add an account',
      description: 'From a scoped token it is assigned to the projects of that token.',
      body: createAiAccountBody,
      example: { name: 'OpenAI', provider: 'openai', api_key: 'sk-example' },
      response: aiAccount,
      authorizeBody: ({ caller, sent }) => refuseStandingRule(caller, sent.all_projects === true),
      load: ({ caller }) => projectsOfNewRecord(caller),
      check: ({ body, broken }) => accounts.errorsIn(null, body, broken),
      handle: ({ ctx, caller, body, resource }) =>
        accounts.create(actorOf(caller, ctx.ip), caller, resource, body),
    }),
    managementRoute({
      method: 'GET',
      path: '/ai-accounts/:account',
      needs: ['can_read_ai_accounts'],
      tag,
      summary: 'One account, without its key',
      response: aiAccount,
      load: ({ ctx, caller }) => accounts.requireFor(caller, ctx.params.account ?? ''),
      handle: ({ resource }) => accounts.present(resource),
    }),
    managementRoute({
      method: 'PATCH',
      path: '/ai-accounts/:account',
      needs: ['can_write_vault'],
      tag,
      summary: 'Change an account',
      description: '`all_projects` is a standing rule: the account then serves later projects too.',
      body: updateAiAccountBody,
      example: { is_active: false },
      response: aiAccount,
      authorizeBody: ({ caller, sent }) => refuseStandingRule(caller, sent.all_projects === true),
      load: ({ ctx, caller }) => accounts.requireForChange(caller, ctx.params.account ?? ''),
      check: ({ body, broken, resource }) => accounts.errorsIn(resource, body, broken),
      handle: ({ ctx, caller, body, resource }) =>
        accounts.update(actorOf(caller, ctx.ip), caller, resource, body),
    }),
    managementRoute({
      method: 'DELETE',
      path: '/ai-accounts/:account',
      needs: ['can_write_vault'],
      tag,
      summary: 'Delete an account and its assignments',
      response: deletedRecord,
      load: ({ ctx, caller }) => accounts.requireForChange(caller, ctx.params.account ?? ''),
      handle: ({ ctx, caller, resource }) => accounts.remove(actorOf(caller, ctx.ip), resource),
    }),
    managementRoute({
      method: 'POST',
      path: '/ai-accounts/:account/reveal',
      needs: ['can_read_ai_accounts'],
      tag,
      summary: "An account's key",
      description: 'Recorded before it answers.',
      response: revealedAiAccount,
      load: ({ ctx, caller }) => accounts.requireFor(caller, ctx.params.account ?? ''),
      handle: ({ ctx, caller, resource }) => accounts.reveal(actorOf(caller, ctx.ip), resource),
    }),
  ];
}

function projectsOfAccountRoutes(accounts: AiAccounts, assignments: AiAssignments): Route[] {
  return [
    managementRoute({
      method: 'GET',
      path: '/ai-accounts/:account/projects',
      needs: ['can_read_ai_accounts'],
      tag,
      summary: 'The projects an account serves',
      query: t.Object(pageQuery),
      response: t.Array(assignedProject),
      load: ({ ctx, caller }) => accounts.requireFor(caller, ctx.params.account ?? ''),
      handle: ({ caller, query, resource }) => assignments.listProjects(caller, resource, query),
    }),
    managementRoute({
      method: 'PUT',
      path: '/ai-accounts/:account/projects',
      needs: ['can_write_vault'],
      tag,
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
  ];
}

function accountsOfProjectRoutes(projects: Projects, assignments: AiAssignments): Route[] {
  return [
    managementRoute({
      method: 'GET',
      path: '/projects/:project/ai-accounts',
      needs: ['can_read_ai_accounts'],
      tag,
      summary: 'The accounts that serve a project',
      description: 'Those assigned to it, and those of all projects.',
      query: t.Object(pageQuery),
      response: t.Array(aiAccount),
      load: ({ ctx, caller }) => projects.requireFor(caller, ctx.params.project ?? ''),
      handle: ({ query, resource }) => assignments.listAccounts(resource, query),
    }),
    managementRoute({
      method: 'PUT',
      path: '/projects/:project/ai-accounts',
      needs: ['can_write_vault'],
      tag,
      summary: 'Replace the accounts assigned to a project',
      description: 'Accounts of all projects serve it in any case. Answers the first page of the list.',
      body: setProjectAccountsBody,
      example: { account_ids: [1] },
      response: t.Array(aiAccount),
      load: ({ ctx, caller }) => projects.requireFor(caller, ctx.params.project ?? ''),
      async handle({ ctx, caller, body, resource }) {
        await assignments.setAccounts(actorOf(caller, ctx.ip), caller, resource, body.account_ids);
        return assignments.listAccounts(resource, {});
      },
    }),
  ];
}
