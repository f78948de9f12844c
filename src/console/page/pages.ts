/** Every page: its path below /console, its title, where it stands in the navigation, and the file that is loaded for it. */
import type { ComponentType } from 'preact';
import type { Capability } from './capabilities.ts';
import type { IconName } from './components/icon.tsx';
import SignInPage from './pages/gate/sign-in.tsx';
import type { NamesIn } from './router.ts';

export type PageProps<Name extends string = never> = { params: Record<Name, string> };

/** Of the navigation; sidebar.tsx has their titles, in their order. */
export type Group =
  | 'satchel'
  | 'sending'
  | 'access'
  | 'running'
  | 'project'
  | 'app'
  | 'marketing'
  | 'secrets'
  | 'record';

export interface PageEntry {
  path: string;
  title: string;
  /** What people call it elsewhere, for the search. */
  words?: string;
  /** In the navigation: of Satchel, or of the project that is looked at. Absent: reached by links only. */
  nav?: { group: Group; icon: IconName };
  /** Shown to those only who may administer. */
  needs_administer?: boolean;
  /** Shown to those only who have one of these. */
  needs_any?: readonly Capability[];
  load(): Promise<{ default: ComponentType<PageProps<string>> }>;
}

/** A page whose component takes the names of its path. */
function page<P extends string>(
  path: P,
  entry: Omit<PageEntry, 'path' | 'load'> & {
    load(): Promise<{ default: ComponentType<PageProps<NamesIn<P>>> }>;
  },
): PageEntry {
  // The router gives a page the names of its own path, which is all that its component asks for.
  return { path, ...entry } as PageEntry;
}

export const PAGES: readonly PageEntry[] = [
  // Without the frame: for those who are not signed in
  page('/sign-in', { title: 'Sign in', load: async () => ({ default: SignInPage }) }),
  page('/welcome/:token', { title: 'Welcome', load: () => import('./pages/gate/welcome.tsx') }),

  // Satchel
  page('/', {
    title: 'Home',
    words: 'dashboard overview start todo waiting statistics',
    nav: { group: 'satchel', icon: 'overview' },
    load: () => import('./pages/home/home.tsx'),
  }),
  page('/projects', {
    title: 'Projects',
    words: 'apps tenants sites',
    nav: { group: 'satchel', icon: 'projects' },
    load: () => import('./pages/projects/list.tsx'),
  }),
  page('/projects/new', {
    title: 'New project',
    words: 'create app tenant add',
    load: () => import('./pages/projects/new.tsx'),
  }),
  page('/projects/import', {
    title: 'Import a project',
    words: 'move migrate transfer archive',
    needs_administer: true,
    load: () => import('./pages/projects/import.tsx'),
  }),
  page('/account', {
    title: 'Account',
    words: 'profile password two-factor 2fa totp authenticator sessions devices me',
    load: () => import('./pages/account/home.tsx'),
  }),

  // Sending
  page('/set-up-sending', {
    title: 'Set up sending',
    words: 'smtp relay dns real mail domain connect provider ses postmark mailgun',
    needs_administer: true,
    load: () => import('./pages/set-up-sending/home.tsx'),
  }),
  page('/sending-domains', {
    title: 'Sending domains',
    words: 'dns dkim spf dmarc records verify sender',
    nav: { group: 'sending', icon: 'globe' },
    needs_administer: true,
    load: () => import('./pages/sending-domains/list.tsx'),
  }),
  page('/sending-domains/new', {
    title: 'Add a domain',
    words: 'dns dkim spf sender create',
    needs_administer: true,
    load: () => import('./pages/sending-domains/new.tsx'),
  }),
  page('/sending-domains/:name', {
    title: 'Sending domain',
    needs_administer: true,
    load: () => import('./pages/sending-domains/detail.tsx'),
  }),
  page('/mailboxes', {
    title: 'Mailboxes',
    words: 'smtp relay imap inbox outgoing server provider quota limit sender',
    nav: { group: 'sending', icon: 'inbox' },
    needs_administer: true,
    load: () => import('./pages/mailboxes/list.tsx'),
  }),
  page('/mailboxes/new', {
    title: 'Add a mailbox',
    words: 'smtp relay imap create connect provider',
    needs_administer: true,
    load: () => import('./pages/mailboxes/new.tsx'),
  }),
  page('/mailboxes/:address', {
    title: 'Mailbox',
    needs_administer: true,
    load: () => import('./pages/mailboxes/detail.tsx'),
  }),

  // Administration
  page('/people', {
    title: 'People',
    words: 'users team members accounts admins invite roles permissions access',
    nav: { group: 'access', icon: 'people' },
    needs_administer: true,
    load: () => import('./pages/people/list.tsx'),
  }),
  page('/people/new', {
    title: 'Add a person',
    words: 'invite user team member admin colleague create',
    needs_administer: true,
    load: () => import('./pages/people/new.tsx'),
  }),
  page('/people/:person', {
    title: 'Person',
    needs_administer: true,
    load: () => import('./pages/people/detail.tsx'),
  }),
  page('/tokens', {
    title: 'Tokens',
    words: 'api access bearer automation management',
    nav: { group: 'access', icon: 'key' },
    needs_administer: true,
    load: () => import('./pages/tokens/list.tsx'),
  }),
  page('/tokens/new', {
    title: 'New token',
    words: 'api access bearer create automation management',
    needs_administer: true,
    load: () => import('./pages/tokens/new.tsx'),
  }),
  page('/findings', {
    title: 'Findings',
    words: 'doctor health problems warnings errors status check alerts',
    nav: { group: 'running', icon: 'warning' },
    needs_administer: true,
    load: () => import('./pages/findings/list.tsx'),
  }),
  page('/backups', {
    title: 'Backups',
    words: 'restore snapshot archive recovery copy download',
    nav: { group: 'running', icon: 'backup' },
    needs_administer: true,
    load: () => import('./pages/backups/list.tsx'),
  }),
  page('/backups/:backup', {
    title: 'Backup',
    needs_administer: true,
    load: () => import('./pages/backups/detail.tsx'),
  }),
  page('/jobs', {
    title: 'Jobs',
    words: 'queue background tasks workers',
    nav: { group: 'running', icon: 'jobs' },
    needs_administer: true,
    load: () => import('./pages/jobs/list.tsx'),
  }),
  page('/jobs/:job', {
    title: 'Job',
    needs_administer: true,
    load: () => import('./pages/jobs/detail.tsx'),
  }),
  page('/audit', {
    title: 'Audit',
    words: 'history log trail who did changes events',
    nav: { group: 'running', icon: 'audit' },
    needs_administer: true,
    load: () => import('./pages/audit/list.tsx'),
  }),
  page('/settings', {
    title: 'Settings',
    words: 'configuration environment version options limits',
    nav: { group: 'running', icon: 'settings' },
    needs_administer: true,
    load: () => import('./pages/settings/home.tsx'),
  }),

  // A project
  page('/projects/:project', {
    title: 'Project',
    words: 'dashboard overview project start',
    nav: { group: 'project', icon: 'home' },
    load: () => import('./pages/projects/home.tsx'),
  }),
  page('/projects/:project/export', {
    title: 'Export the project',
    words: 'move migrate transfer download archive',
    needs_administer: true,
    needs_any: ['can_reveal_vault'],
    load: () => import('./pages/projects/export.tsx'),
  }),
  page('/projects/:project/settings', {
    title: 'Project settings',
    words: 'rename slug delete remove sending domain links inactive',
    load: () => import('./pages/projects/settings.tsx'),
  }),
  page('/projects/:project/keys', {
    title: 'Keys',
    words: 'api credentials smtp login secret tokens',
    nav: { group: 'secrets', icon: 'key' },
    load: () => import('./pages/keys/list.tsx'),
  }),
  page('/projects/:project/keys/new', {
    title: 'New key',
    words: 'api credentials smtp create secret token',
    load: () => import('./pages/keys/new.tsx'),
  }),
  page('/projects/:project/keys/:key', { title: 'Key', load: () => import('./pages/keys/detail.tsx') }),
  page('/projects/:project/vault', {
    title: 'Vault',
    words: 'secrets env environment variables passwords credentials dotenv',
    nav: { group: 'secrets', icon: 'vault' },
    needs_any: ['can_read_vault', 'can_reveal_vault', 'can_write_vault'],
    load: () => import('./pages/vault/home.tsx'),
  }),
  page('/projects/:project/vault/:service', {
    title: 'Vault',
    load: () => import('./pages/vault/service.tsx'),
  }),
  page('/projects/:project/accounts', {
    title: 'Provider accounts',
    words: 'openai anthropic ai llm databases postgres credentials',
    nav: { group: 'secrets', icon: 'cloud' },
    needs_any: ['can_read_ai_accounts', 'can_manage_database'],
    load: () => import('./pages/accounts/home.tsx'),
  }),
  page('/projects/:project/accounts/ai/:account', {
    title: 'AI account',
    load: () => import('./pages/accounts/ai-account.tsx'),
  }),
  page('/projects/:project/accounts/databases/:database', {
    title: 'Database',
    load: () => import('./pages/accounts/database.tsx'),
  }),
  page('/projects/:project/accounts/database-accounts/:account', {
    title: 'Database account',
    load: () => import('./pages/accounts/database-account.tsx'),
  }),
  page('/projects/:project/files', {
    title: 'Files',
    words: 'objects uploads storage images documents pictures s3 bucket downloads',
    nav: { group: 'app', icon: 'files' },
    load: () => import('./pages/files/list.tsx'),
  }),
  page('/projects/:project/files/:file', { title: 'File', load: () => import('./pages/files/detail.tsx') }),
  page('/projects/:project/emails', {
    title: 'Mail log',
    words: 'sent messages outbox delivery bounces failed log',
    nav: { group: 'app', icon: 'mail' },
    load: () => import('./pages/emails/list.tsx'),
  }),
  page('/projects/:project/emails/new', {
    title: 'Send a mail',
    words: 'compose write message',
    load: () => import('./pages/emails/new.tsx'),
  }),
  page('/projects/:project/emails/:email', {
    title: 'Mail',
    load: () => import('./pages/emails/detail.tsx'),
  }),
  page('/projects/:project/templates', {
    title: 'Templates',
    words: 'layouts designs content words transactional',
    nav: { group: 'app', icon: 'template' },
    load: () => import('./pages/templates/list.tsx'),
  }),
  page('/projects/:project/templates/new', {
    title: 'New template',
    words: 'create layout design',
    load: () => import('./pages/templates/new.tsx'),
  }),
  page('/projects/:project/templates/:template', {
    title: 'Template',
    load: () => import('./pages/templates/detail.tsx'),
  }),
  page('/projects/:project/schedules', {
    title: 'Schedules',
    words: 'cron recurring reminders repeat timer',
    nav: { group: 'app', icon: 'clock' },
    load: () => import('./pages/schedules/list.tsx'),
  }),
  page('/projects/:project/schedules/new', {
    title: 'New schedule',
    words: 'cron recurring reminder repeat create timer',
    load: () => import('./pages/schedules/new.tsx'),
  }),
  page('/projects/:project/schedules/:schedule', {
    title: 'Schedule',
    load: () => import('./pages/schedules/detail.tsx'),
  }),
  page('/projects/:project/webhooks', {
    title: 'Webhooks',
    words: 'callbacks hooks events notifications integrations zapier',
    nav: { group: 'app', icon: 'hook' },
    load: () => import('./pages/webhooks/list.tsx'),
  }),
  page('/projects/:project/webhooks/new', {
    title: 'Add a webhook',
    words: 'callback hook event create integration',
    load: () => import('./pages/webhooks/new.tsx'),
  }),
  page('/projects/:project/webhooks/:webhook', {
    title: 'Webhook',
    load: () => import('./pages/webhooks/detail.tsx'),
  }),
  page('/projects/:project/webhooks/:webhook/deliveries/:delivery', {
    title: 'Delivery',
    load: () => import('./pages/webhooks/delivery.tsx'),
  }),
  page('/projects/:project/jobs', {
    title: 'Jobs',
    words: 'queue background tasks',
    nav: { group: 'record', icon: 'jobs' },
    load: () => import('./pages/projects/jobs.tsx'),
  }),
  page('/projects/:project/jobs/:job', {
    title: 'Job',
    load: () => import('./pages/projects/job.tsx'),
  }),
  page('/projects/:project/audit', {
    title: 'Audit',
    words: 'history log trail who did changes events',
    nav: { group: 'record', icon: 'audit' },
    load: () => import('./pages/projects/audit.tsx'),
  }),

  // Email marketing
  page('/projects/:project/lists', {
    title: 'Lists',
    words: 'audiences subscribers mailing newsletter forms sign-up',
    nav: { group: 'marketing', icon: 'list' },
    load: () => import('./pages/lists/list.tsx'),
  }),
  page('/projects/:project/lists/new', {
    title: 'New list',
    words: 'audience subscribers mailing create form sign-up',
    load: () => import('./pages/lists/new.tsx'),
  }),
  page('/projects/:project/lists/:list', { title: 'List', load: () => import('./pages/lists/detail.tsx') }),
  page('/projects/:project/lists/:list/import', {
    title: 'Import contacts',
    load: () => import('./pages/imports/new.tsx'),
  }),
  page('/projects/:project/imports/:import', {
    title: 'Import',
    load: () => import('./pages/imports/detail.tsx'),
  }),
  page('/projects/:project/contacts', {
    title: 'Contacts',
    words: 'subscribers people recipients audience unsubscribe csv export',
    nav: { group: 'marketing', icon: 'contacts' },
    load: () => import('./pages/contacts/list.tsx'),
  }),
  page('/projects/:project/segments', {
    title: 'Segments',
    words: 'filters groups conditions audience',
    nav: { group: 'marketing', icon: 'template' },
    load: () => import('./pages/segments/list.tsx'),
  }),
  page('/projects/:project/segments/new', {
    title: 'New segment',
    words: 'filter group conditions create',
    load: () => import('./pages/segments/new.tsx'),
  }),
  page('/projects/:project/segments/:segment', {
    title: 'Segment',
    load: () => import('./pages/segments/detail.tsx'),
  }),
  page('/projects/:project/contacts/new', {
    title: 'Add a contact',
    words: 'subscriber recipient create person',
    load: () => import('./pages/contacts/new.tsx'),
  }),
  page('/projects/:project/contacts/:contact', {
    title: 'Contact',
    load: () => import('./pages/contacts/detail.tsx'),
  }),
  page('/projects/:project/broadcasts', {
    title: 'Broadcasts',
    words: 'newsletters campaigns mailings bulk a/b ab test',
    nav: { group: 'marketing', icon: 'broadcast' },
    load: () => import('./pages/broadcasts/list.tsx'),
  }),
  page('/projects/:project/broadcasts/new', {
    title: 'New broadcast',
    words: 'newsletter campaign mailing create bulk write',
    load: () => import('./pages/broadcasts/new.tsx'),
  }),
  page('/projects/:project/broadcasts/:broadcast', {
    title: 'Broadcast',
    load: () => import('./pages/broadcasts/detail.tsx'),
  }),
  page('/projects/:project/broadcasts/:broadcast/edit', {
    title: 'Edit the broadcast',
    load: () => import('./pages/broadcasts/edit.tsx'),
  }),
  page('/projects/:project/broadcasts/:broadcast/write', {
    title: 'Write the mail',
    load: () => import('./pages/broadcasts/write.tsx'),
  }),
  page('/projects/:project/sequences', {
    title: 'Sequences',
    words: 'automation drip series onboarding funnel autoresponder flows',
    nav: { group: 'marketing', icon: 'sequence' },
    load: () => import('./pages/sequences/list.tsx'),
  }),
  page('/projects/:project/sequences/new', {
    title: 'New sequence',
    words: 'automation drip series onboarding create autoresponder flow',
    load: () => import('./pages/sequences/new.tsx'),
  }),
  page('/projects/:project/sequences/:sequence', {
    title: 'Sequence',
    load: () => import('./pages/sequences/detail.tsx'),
  }),
  page('/projects/:project/sequences/:sequence/steps/:step/write', {
    title: 'Write the mail',
    load: () => import('./pages/sequences/write.tsx'),
  }),
  page('/projects/:project/suppressions', {
    title: 'Suppressions',
    words: 'unsubscribe unsubscribed blocked blocklist blacklist opt-out bounced complaints do not mail',
    nav: { group: 'marketing', icon: 'ban' },
    load: () => import('./pages/suppressions/list.tsx'),
  }),
  page('/projects/:project/marketing', {
    title: 'Marketing settings',
    words: 'sender name postal address imprint logo colours branding unsubscribe page tracking preferences',
    nav: { group: 'marketing', icon: 'settings' },
    load: () => import('./pages/marketing/settings.tsx'),
  }),
];
