/** An address for each page, with the sample data: what pages.test.ts opens and scripts/screenshots takes pictures of. */
import type { Sample } from './sample-data.ts';

export interface SamplePage {
  /** Of the picture, and of the test. */
  name: string;
  /** As pages.ts has it. */
  pattern: string;
  path(sample: Sample): string;
}

export const SAMPLE_PAGES: readonly SamplePage[] = [
  { name: 'sign-in', pattern: '/sign-in', path: () => '/sign-in' },
  { name: 'welcome', pattern: '/welcome/:token', path: ({ welcome }) => welcome },
  { name: 'account', pattern: '/account', path: () => '/account' },
  { name: 'overview', pattern: '/', path: () => '/' },
  { name: 'people', pattern: '/people', path: () => '/people' },
  { name: 'people-new', pattern: '/people/new', path: () => '/people/new' },
  { name: 'people-one', pattern: '/people/:person', path: ({ person }) => `/people/${person}` },
  {
    ...{ name: 'people-access', pattern: '/people/:person' },
    path: ({ person }) => `/people/${person}?tab=access`,
  },
  { name: 'tokens', pattern: '/tokens', path: () => '/tokens' },
  { name: 'tokens-new', pattern: '/tokens/new', path: () => '/tokens/new' },
  { name: 'projects', pattern: '/projects', path: () => '/projects' },
  { name: 'projects-nothing-found', pattern: '/projects', path: () => '/projects?q=nowhere' },
  { name: 'project-import', pattern: '/projects/import', path: () => '/projects/import' },
  {
    ...{ name: 'project-export', pattern: '/projects/:project/export' },
    path: ({ project }) => `/projects/${project}/export`,
  },
  { name: 'project-new', pattern: '/projects/new', path: () => '/projects/new' },
  { name: 'set-up-sending', pattern: '/set-up-sending', path: () => '/set-up-sending' },
  {
    ...{ name: 'set-up-sending-domain', pattern: '/set-up-sending' },
    path: () => '/set-up-sending?domain=mail.example.com&next=/projects/bakery/emails/new',
  },
  { name: 'sending-domains', pattern: '/sending-domains', path: () => '/sending-domains' },
  { name: 'sending-domain-new', pattern: '/sending-domains/new', path: () => '/sending-domains/new' },
  {
    ...{ name: 'sending-domain', pattern: '/sending-domains/:name' },
    path: () => '/sending-domains/news.example.com',
  },
  {
    ...{ name: 'sending-domain-settings', pattern: '/sending-domains/:name' },
    path: () => '/sending-domains/news.example.com?tab=settings',
  },
  { name: 'mailboxes', pattern: '/mailboxes', path: () => '/mailboxes' },
  { name: 'mailbox-new', pattern: '/mailboxes/new', path: () => '/mailboxes/new' },
  {
    ...{ name: 'mailbox', pattern: '/mailboxes/:address' },
    path: () => '/mailboxes/refused@news.example.com',
  },
  {
    ...{ name: 'mailbox-resting', pattern: '/mailboxes/:address' },
    path: () => '/mailboxes/resting@news.example.com',
  },
  {
    ...{ name: 'mailbox-test', pattern: '/mailboxes/:address' },
    path: () => '/mailboxes/shop@mail.example.com?tab=test',
  },
  {
    ...{ name: 'mailbox-settings', pattern: '/mailboxes/:address' },
    path: () => '/mailboxes/refused@news.example.com?tab=settings',
  },
  { name: 'findings', pattern: '/findings', path: () => '/findings' },
  { name: 'alerts', pattern: '/alerts', path: () => '/alerts' },
  { name: 'backups', pattern: '/backups', path: () => '/backups' },
  {
    ...{ name: 'backup', pattern: '/backups/:backup' },
    path: ({ backup }) => `/backups/${backup}`,
  },
  { name: 'jobs', pattern: '/jobs', path: ({ project }) => `/jobs?project=${project}` },
  { name: 'jobs-empty', pattern: '/jobs', path: () => '/jobs?project=hostile' },
  { name: 'job', pattern: '/jobs/:job', path: ({ backup_job }) => `/jobs/${backup_job}` },
  { name: 'audit', pattern: '/audit', path: () => '/audit' },
  { name: 'settings', pattern: '/settings', path: () => '/settings' },
  { name: 'project', pattern: '/projects/:project', path: ({ project }) => `/projects/${project}` },
  { name: 'project-empty', pattern: '/projects/:project', path: () => '/projects/bakery' },
  { name: 'project-hostile', pattern: '/projects/:project', path: () => '/projects/hostile' },
  {
    ...{ name: 'project-settings', pattern: '/projects/:project/settings' },
    path: ({ project }) => `/projects/${project}/settings`,
  },
  {
    ...{ name: 'keys', pattern: '/projects/:project/keys' },
    path: ({ project }) => `/projects/${project}/keys`,
  },
  { name: 'keys-empty', pattern: '/projects/:project/keys', path: () => '/projects/bakery/keys' },
  {
    ...{ name: 'key-new', pattern: '/projects/:project/keys/new' },
    path: ({ project }) => `/projects/${project}/keys/new`,
  },
  {
    ...{ name: 'key', pattern: '/projects/:project/keys/:key' },
    path: ({ project, key }) => `/projects/${project}/keys/${key}`,
  },
  {
    ...{ name: 'files', pattern: '/projects/:project/files' },
    path: ({ project }) => `/projects/${project}/files`,
  },
  { name: 'files-empty', pattern: '/projects/:project/files', path: () => '/projects/bakery/files' },
  {
    ...{ name: 'file', pattern: '/projects/:project/files/:file' },
    path: ({ project, picture }) => `/projects/${project}/files/${picture}`,
  },
  {
    ...{ name: 'file-hostile', pattern: '/projects/:project/files/:file' },
    path: ({ project, file }) => `/projects/${project}/files/${file}`,
  },
  {
    ...{ name: 'emails', pattern: '/projects/:project/emails' },
    path: ({ project }) => `/projects/${project}/emails`,
  },
  {
    ...{ name: 'emails-filtered', pattern: '/projects/:project/emails' },
    path: ({ project }) => `/projects/${project}/emails?status=bounced&date_from=2026-01-01T00:00:00.000Z`,
  },
  { name: 'emails-empty', pattern: '/projects/:project/emails', path: () => '/projects/bakery/emails' },
  {
    ...{ name: 'email-new', pattern: '/projects/:project/emails/new' },
    path: ({ project }) => `/projects/${project}/emails/new`,
  },
  {
    ...{ name: 'email', pattern: '/projects/:project/emails/:email' },
    path: ({ project, letter }) => `/projects/${project}/emails/${letter}`,
  },
  {
    ...{ name: 'email-bounced', pattern: '/projects/:project/emails/:email' },
    path: ({ project, email }) => `/projects/${project}/emails/${email}`,
  },
  {
    ...{ name: 'templates', pattern: '/projects/:project/templates' },
    path: ({ project }) => `/projects/${project}/templates`,
  },
  {
    name: 'templates-empty',
    pattern: '/projects/:project/templates',
    path: () => '/projects/bakery/templates',
  },
  {
    ...{ name: 'template-new', pattern: '/projects/:project/templates/new' },
    path: ({ project }) => `/projects/${project}/templates/new`,
  },
  {
    ...{ name: 'template', pattern: '/projects/:project/templates/:template' },
    path: ({ project, template }) => `/projects/${project}/templates/${template}`,
  },
  {
    ...{ name: 'template-hostile', pattern: '/projects/:project/templates/:template' },
    path: ({ project, hostile_template }) => `/projects/${project}/templates/${hostile_template}`,
  },
  {
    ...{ name: 'webhooks', pattern: '/projects/:project/webhooks' },
    path: ({ project }) => `/projects/${project}/webhooks`,
  },
  {
    ...{ name: 'webhooks-empty', pattern: '/projects/:project/webhooks' },
    path: () => '/projects/bakery/webhooks',
  },
  {
    ...{ name: 'webhook-new', pattern: '/projects/:project/webhooks/new' },
    path: ({ project }) => `/projects/${project}/webhooks/new`,
  },
  {
    ...{ name: 'webhook', pattern: '/projects/:project/webhooks/:webhook' },
    path: ({ project, webhook }) => `/projects/${project}/webhooks/${webhook}`,
  },
  {
    ...{ name: 'webhook-delivery', pattern: '/projects/:project/webhooks/:webhook/deliveries/:delivery' },
    path: ({ project, webhook, delivery }) =>
      `/projects/${project}/webhooks/${webhook}/deliveries/${delivery}`,
  },
  {
    ...{ name: 'webhook-settings', pattern: '/projects/:project/webhooks/:webhook' },
    path: ({ project, webhook }) => `/projects/${project}/webhooks/${webhook}?tab=settings`,
  },
  {
    ...{ name: 'schedules', pattern: '/projects/:project/schedules' },
    path: ({ project }) => `/projects/${project}/schedules`,
  },
  {
    name: 'schedules-empty',
    pattern: '/projects/:project/schedules',
    path: () => '/projects/bakery/schedules',
  },
  {
    ...{ name: 'schedule-new', pattern: '/projects/:project/schedules/new' },
    path: ({ project }) => `/projects/${project}/schedules/new`,
  },
  {
    ...{ name: 'schedule', pattern: '/projects/:project/schedules/:schedule' },
    path: ({ project, schedule }) => `/projects/${project}/schedules/${schedule}`,
  },
  {
    ...{ name: 'schedule-change', pattern: '/projects/:project/schedules/:schedule' },
    path: ({ project, schedule }) => `/projects/${project}/schedules/${schedule}?tab=change`,
  },
  {
    ...{ name: 'project-jobs', pattern: '/projects/:project/jobs' },
    path: ({ project }) => `/projects/${project}/jobs`,
  },
  {
    ...{ name: 'project-job', pattern: '/projects/:project/jobs/:job' },
    path: ({ project, job }) => `/projects/${project}/jobs/${job}`,
  },
  {
    ...{ name: 'project-audit', pattern: '/projects/:project/audit' },
    path: ({ project }) => `/projects/${project}/audit`,
  },
  { name: 'lists', pattern: '/projects/:project/lists', path: ({ project }) => `/projects/${project}/lists` },
  {
    name: 'segments',
    pattern: '/projects/:project/segments',
    path: ({ project }) => `/projects/${project}/segments`,
  },
  { name: 'segments-empty', pattern: '/projects/:project/segments', path: () => '/projects/bakery/segments' },
  {
    name: 'segment-new',
    pattern: '/projects/:project/segments/new',
    path: ({ project, list }) => `/projects/${project}/segments/new?list=${list}`,
  },
  {
    name: 'segment',
    pattern: '/projects/:project/segments/:segment',
    path: ({ project, segment }) => `/projects/${project}/segments/${segment}`,
  },
  { name: 'lists-empty', pattern: '/projects/:project/lists', path: () => '/projects/bakery/lists' },
  {
    name: 'list-new',
    pattern: '/projects/:project/lists/new',
    path: ({ project }) => `/projects/${project}/lists/new`,
  },
  {
    name: 'list',
    pattern: '/projects/:project/lists/:list',
    path: ({ project, list }) => `/projects/${project}/lists/${list}`,
  },
  {
    name: 'list-filtered',
    pattern: '/projects/:project/lists/:list',
    path: ({ project, list }) =>
      `/projects/${project}/lists/${list}?filter=${encodeURIComponent('{"tags_any":["fair","vip"],"joined_after":"2026-01-01T00:00:00.000Z"}')}`,
  },
  {
    name: 'list-sign-up',
    pattern: '/projects/:project/lists/:list',
    path: ({ project, list }) => `/projects/${project}/lists/${list}?tab=sign-up`,
  },
  {
    name: 'list-imports',
    pattern: '/projects/:project/lists/:list',
    path: ({ project, list }) => `/projects/${project}/lists/${list}?tab=imports`,
  },
  {
    name: 'list-settings',
    pattern: '/projects/:project/lists/:list',
    path: ({ project, list }) => `/projects/${project}/lists/${list}?tab=settings`,
  },
  {
    name: 'import-new',
    pattern: '/projects/:project/lists/:list/import',
    path: ({ project, list }) => `/projects/${project}/lists/${list}/import`,
  },
  {
    name: 'import-paste',
    pattern: '/projects/:project/lists/:list/import',
    path: ({ project, list }) => `/projects/${project}/lists/${list}/import?tab=paste`,
  },
  {
    name: 'import',
    pattern: '/projects/:project/imports/:import',
    path: (sample) => `/projects/${sample.project}/imports/${sample.import}`,
  },
  {
    name: 'import-running',
    pattern: '/projects/:project/imports/:import',
    path: ({ project, running_import }) => `/projects/${project}/imports/${running_import}`,
  },
  {
    name: 'import-failed',
    pattern: '/projects/:project/imports/:import',
    path: ({ project, failed_import }) => `/projects/${project}/imports/${failed_import}`,
  },
  {
    name: 'contacts',
    pattern: '/projects/:project/contacts',
    path: ({ project }) => `/projects/${project}/contacts`,
  },
  {
    name: 'contacts-address',
    pattern: '/projects/:project/contacts',
    path: ({ project }) => `/projects/${project}/contacts?email=ann@example.org`,
  },
  { name: 'contacts-empty', pattern: '/projects/:project/contacts', path: () => '/projects/bakery/contacts' },
  {
    name: 'contact-new',
    pattern: '/projects/:project/contacts/new',
    path: ({ project, list }) => `/projects/${project}/contacts/new?list=${list}`,
  },
  {
    name: 'contact',
    pattern: '/projects/:project/contacts/:contact',
    path: ({ project, contact }) => `/projects/${project}/contacts/${contact}`,
  },
  {
    name: 'contact-mailed',
    pattern: '/projects/:project/contacts/:contact',
    path: ({ magazine, reader }) => `/projects/${magazine}/contacts/${reader}`,
  },
  {
    name: 'contact-hostile',
    pattern: '/projects/:project/contacts/:contact',
    path: ({ project, hostile_contact }) => `/projects/${project}/contacts/${hostile_contact}`,
  },
  {
    name: 'suppressions',
    pattern: '/projects/:project/suppressions',
    path: ({ project }) => `/projects/${project}/suppressions`,
  },
  {
    name: 'suppressions-looked-up',
    pattern: '/projects/:project/suppressions',
    path: ({ project }) => `/projects/${project}/suppressions?email=left@example.org`,
  },
  {
    name: 'suppressions-empty',
    pattern: '/projects/:project/suppressions',
    path: () => '/projects/bakery/suppressions',
  },
  {
    name: 'marketing-settings',
    pattern: '/projects/:project/marketing',
    path: ({ project }) => `/projects/${project}/marketing`,
  },
  {
    ...{ name: 'vault', pattern: '/projects/:project/vault' },
    path: ({ project }) => `/projects/${project}/vault`,
  },
  { name: 'vault-empty', pattern: '/projects/:project/vault', path: () => '/projects/bakery/vault' },
  {
    ...{ name: 'vault-files', pattern: '/projects/:project/vault' },
    path: ({ project }) => `/projects/${project}/vault?tab=files`,
  },
  {
    ...{ name: 'vault-environments', pattern: '/projects/:project/vault' },
    path: ({ project }) => `/projects/${project}/vault?tab=environments`,
  },
  {
    ...{ name: 'vault-service', pattern: '/projects/:project/vault/:service' },
    path: ({ project }) => `/projects/${project}/vault/captcha`,
  },
  {
    ...{ name: 'vault-service-set', pattern: '/projects/:project/vault/:service' },
    path: ({ project }) => `/projects/${project}/vault/firebase?tab=set`,
  },
  {
    ...{ name: 'vault-variables', pattern: '/projects/:project/vault/:service' },
    path: ({ project }) => `/projects/${project}/vault/env`,
  },
  {
    ...{ name: 'vault-variables-empty', pattern: '/projects/:project/vault/:service' },
    path: () => '/projects/bakery/vault/env',
  },
  {
    ...{ name: 'sequences', pattern: '/projects/:project/sequences' },
    path: ({ magazine }) => `/projects/${magazine}/sequences`,
  },
  {
    ...{ name: 'sequences-empty', pattern: '/projects/:project/sequences' },
    path: () => '/projects/bakery/sequences',
  },
  {
    ...{ name: 'sequence-new', pattern: '/projects/:project/sequences/new' },
    path: ({ magazine }) => `/projects/${magazine}/sequences/new`,
  },
  {
    ...{ name: 'sequence', pattern: '/projects/:project/sequences/:sequence' },
    path: ({ magazine, running }) => `/projects/${magazine}/sequences/${running}`,
  },
  {
    ...{ name: 'sequence-draft', pattern: '/projects/:project/sequences/:sequence' },
    path: ({ magazine, draft }) => `/projects/${magazine}/sequences/${draft}`,
  },
  {
    ...{ name: 'sequence-paused', pattern: '/projects/:project/sequences/:sequence' },
    path: ({ magazine, paused }) => `/projects/${magazine}/sequences/${paused}`,
  },
  {
    ...{ name: 'sequence-hostile', pattern: '/projects/:project/sequences/:sequence' },
    path: ({ magazine, hostile_sequence }) => `/projects/${magazine}/sequences/${hostile_sequence}`,
  },
  {
    ...{ name: 'sequence-enrollments', pattern: '/projects/:project/sequences/:sequence' },
    path: ({ magazine, running }) => `/projects/${magazine}/sequences/${running}?tab=enrollments`,
  },
  {
    ...{ name: 'sequence-preview', pattern: '/projects/:project/sequences/:sequence' },
    path: ({ magazine, running }) => `/projects/${magazine}/sequences/${running}?tab=preview`,
  },
  {
    ...{ name: 'sequence-draft-step', pattern: '/projects/:project/sequences/:sequence' },
    path: ({ magazine, draft }) => `/projects/${magazine}/sequences/${draft}?step=reminder`,
  },
  {
    ...{ name: 'sequence-running-step', pattern: '/projects/:project/sequences/:sequence' },
    path: ({ magazine, running }) => `/projects/${magazine}/sequences/${running}?step=tips`,
  },
  {
    ...{ name: 'sequence-hostile-step', pattern: '/projects/:project/sequences/:sequence' },
    path: ({ magazine, hostile_sequence }) => `/projects/${magazine}/sequences/${hostile_sequence}?step=a`,
  },
  {
    ...{ name: 'sequence-settings', pattern: '/projects/:project/sequences/:sequence' },
    path: ({ magazine, draft }) => `/projects/${magazine}/sequences/${draft}?tab=settings`,
  },
  {
    ...{ name: 'sequence-settings-running', pattern: '/projects/:project/sequences/:sequence' },
    path: ({ magazine, running }) => `/projects/${magazine}/sequences/${running}?tab=settings`,
  },
  {
    ...{ name: 'broadcasts', pattern: '/projects/:project/broadcasts' },
    path: ({ magazine }) => `/projects/${magazine}/broadcasts`,
  },
  {
    ...{ name: 'broadcasts-empty', pattern: '/projects/:project/broadcasts' },
    path: () => '/projects/bakery/broadcasts',
  },
  {
    ...{ name: 'broadcast-new', pattern: '/projects/:project/broadcasts/new' },
    path: ({ magazine }) => `/projects/${magazine}/broadcasts/new`,
  },
  {
    ...{ name: 'broadcast-sent', pattern: '/projects/:project/broadcasts/:broadcast' },
    path: ({ magazine, sent_broadcast }) => `/projects/${magazine}/broadcasts/${sent_broadcast}`,
  },
  {
    ...{ name: 'broadcast-paused', pattern: '/projects/:project/broadcasts/:broadcast' },
    path: ({ magazine, paused_broadcast }) => `/projects/${magazine}/broadcasts/${paused_broadcast}`,
  },
  {
    ...{ name: 'broadcast-scheduled', pattern: '/projects/:project/broadcasts/:broadcast' },
    path: ({ magazine, scheduled_broadcast }) => `/projects/${magazine}/broadcasts/${scheduled_broadcast}`,
  },
  {
    ...{ name: 'broadcast-draft', pattern: '/projects/:project/broadcasts/:broadcast' },
    path: ({ magazine, draft_broadcast }) => `/projects/${magazine}/broadcasts/${draft_broadcast}`,
  },
  {
    ...{ name: 'broadcast-hostile', pattern: '/projects/:project/broadcasts/:broadcast' },
    path: ({ magazine, hostile_broadcast }) => `/projects/${magazine}/broadcasts/${hostile_broadcast}`,
  },
  {
    ...{ name: 'broadcast-recipients', pattern: '/projects/:project/broadcasts/:broadcast' },
    path: ({ magazine, sent_broadcast }) =>
      `/projects/${magazine}/broadcasts/${sent_broadcast}?tab=recipients`,
  },
  {
    ...{ name: 'broadcast-mail', pattern: '/projects/:project/broadcasts/:broadcast' },
    path: ({ magazine, sent_broadcast }) => `/projects/${magazine}/broadcasts/${sent_broadcast}?tab=mail`,
  },
  {
    ...{ name: 'broadcast-about', pattern: '/projects/:project/broadcasts/:broadcast' },
    path: ({ magazine, sent_broadcast }) => `/projects/${magazine}/broadcasts/${sent_broadcast}?tab=about`,
  },
  {
    ...{ name: 'broadcast-edit', pattern: '/projects/:project/broadcasts/:broadcast/edit' },
    path: ({ magazine, scheduled_broadcast }) =>
      `/projects/${magazine}/broadcasts/${scheduled_broadcast}/edit`,
  },
  {
    ...{ name: 'broadcast-edit-hostile', pattern: '/projects/:project/broadcasts/:broadcast/edit' },
    path: ({ magazine, hostile_broadcast }) => `/projects/${magazine}/broadcasts/${hostile_broadcast}/edit`,
  },
  {
    ...{ name: 'broadcast-edit-sent', pattern: '/projects/:project/broadcasts/:broadcast/edit' },
    path: ({ magazine, sent_broadcast }) => `/projects/${magazine}/broadcasts/${sent_broadcast}/edit`,
  },
  {
    ...{ name: 'broadcast-write', pattern: '/projects/:project/broadcasts/:broadcast/write' },
    path: ({ magazine, scheduled_broadcast }) =>
      `/projects/${magazine}/broadcasts/${scheduled_broadcast}/write`,
  },
  {
    ...{ name: 'broadcast-write-sent', pattern: '/projects/:project/broadcasts/:broadcast/write' },
    path: ({ magazine, sent_broadcast }) => `/projects/${magazine}/broadcasts/${sent_broadcast}/write`,
  },
  {
    ...{ name: 'step-write', pattern: '/projects/:project/sequences/:sequence/steps/:step/write' },
    path: ({ magazine, draft }) => `/projects/${magazine}/sequences/${draft}/steps/reminder/write`,
  },
  {
    ...{ name: 'step-write-gone', pattern: '/projects/:project/sequences/:sequence/steps/:step/write' },
    path: ({ magazine, running }) => `/projects/${magazine}/sequences/${running}/steps/nowhere/write`,
  },
  {
    ...{ name: 'accounts', pattern: '/projects/:project/accounts' },
    path: ({ project }) => `/projects/${project}/accounts`,
  },
  {
    ...{ name: 'accounts-databases', pattern: '/projects/:project/accounts' },
    path: ({ project }) => `/projects/${project}/accounts?tab=databases`,
  },
  {
    ...{ name: 'accounts-of-databases', pattern: '/projects/:project/accounts' },
    path: ({ project }) => `/projects/${project}/accounts?tab=accounts`,
  },
  {
    ...{ name: 'account-ai', pattern: '/projects/:project/accounts/ai/:account' },
    path: ({ project, ai_account }) => `/projects/${project}/accounts/ai/${ai_account}`,
  },
  {
    ...{ name: 'account-database', pattern: '/projects/:project/accounts/databases/:database' },
    path: ({ project, database }) => `/projects/${project}/accounts/databases/${database}`,
  },
  {
    ...{ name: 'account-of-databases', pattern: '/projects/:project/accounts/database-accounts/:account' },
    path: ({ project, database_account }) =>
      `/projects/${project}/accounts/database-accounts/${database_account}`,
  },
];
