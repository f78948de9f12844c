/** Every page: its path below /console, its title, where it stands in the navigation, and what is loaded for it. */
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
  load(): Promise<ComponentType<PageProps<string>>>;
}

/** Pages that are loaded together: their file exports each by its path, as a component that takes the names of that. */
const together =
  <M extends { [P in keyof M]: ComponentType<PageProps<NamesIn<P & string>>> }>(load: () => Promise<M>) =>
  (path: keyof M & string, entry: Omit<PageEntry, 'path' | 'load'>): PageEntry => ({
    path,
    ...entry,
    // The router gives a page the names of its own path, which is all that its component asks for.
    load: async () => (await load())[path] as ComponentType<PageProps<string>>,
  });

const home = together(() => import('./pages/home.ts'));
const server = together(() => import('./pages/server.ts'));
const project = together(() => import('./pages/project.ts'));
const marketing = together(() => import('./pages/marketing.ts'));

export const PAGES: readonly PageEntry[] = [
  // Without the frame: for those who are not signed in
  { path: '/sign-in', title: 'Sign in', load: async () => SignInPage },
  home('/welcome/:token', { title: 'Welcome' }),

  // Satchel
  home('/', {
    title: 'Home',
    words: 'dashboard overview start todo waiting statistics',
    nav: { group: 'satchel', icon: 'overview' },
  }),
  home('/projects', {
    title: 'Projects',
    words: 'apps tenants sites',
    nav: { group: 'satchel', icon: 'projects' },
  }),
  home('/projects/new', {
    title: 'New project',
    words: 'create app tenant add',
  }),
  home('/projects/import', {
    title: 'Import a project',
    words: 'move migrate transfer archive',
    needs_administer: true,
  }),
  home('/account', {
    title: 'Account',
    words: 'profile password two-factor 2fa totp authenticator sessions devices me',
  }),

  // Sending
  server('/set-up-sending', {
    title: 'Set up sending',
    words: 'smtp relay dns real mail domain connect provider ses postmark mailgun',
    needs_administer: true,
  }),
  server('/sending-domains', {
    title: 'Sending domains',
    words: 'dns dkim spf dmarc records verify sender',
    nav: { group: 'sending', icon: 'globe' },
    needs_administer: true,
  }),
  server('/sending-domains/new', {
    title: 'Add a domain',
    words: 'dns dkim spf sender create',
    needs_administer: true,
  }),
  server('/sending-domains/:name', {
    title: 'Sending domain',
    needs_administer: true,
  }),
  server('/mailboxes', {
    title: 'Mailboxes',
    words: 'smtp relay imap inbox outgoing server provider quota limit sender',
    nav: { group: 'sending', icon: 'inbox' },
    needs_administer: true,
  }),
  server('/mailboxes/new', {
    title: 'Add a mailbox',
    words: 'smtp relay imap create connect provider',
    needs_administer: true,
  }),
  server('/mailboxes/:address', {
    title: 'Mailbox',
    needs_administer: true,
  }),

  // Administration
  server('/people', {
    title: 'People',
    words: 'users team members accounts admins invite roles permissions access',
    nav: { group: 'access', icon: 'people' },
    needs_administer: true,
  }),
  server('/people/new', {
    title: 'Add a person',
    words: 'invite user team member admin colleague create',
    needs_administer: true,
  }),
  server('/people/:person', {
    title: 'Person',
    needs_administer: true,
  }),
  server('/tokens', {
    title: 'Tokens',
    words: 'api access bearer automation management',
    nav: { group: 'access', icon: 'key' },
    needs_administer: true,
  }),
  server('/tokens/new', {
    title: 'New token',
    words: 'api access bearer create automation management',
    needs_administer: true,
  }),
  server('/findings', {
    title: 'Findings',
    words: 'doctor health problems warnings errors status check',
    nav: { group: 'running', icon: 'warning' },
    needs_administer: true,
  }),
  server('/alerts', {
    title: 'Alerts',
    words: 'notifications monitoring slack discord ntfy gotify webhook told warn',
    nav: { group: 'running', icon: 'broadcast' },
    needs_administer: true,
  }),
  server('/backups', {
    title: 'Backups',
    words: 'restore snapshot archive recovery copy download',
    nav: { group: 'running', icon: 'backup' },
    needs_administer: true,
  }),
  server('/backups/:backup', {
    title: 'Backup',
    needs_administer: true,
  }),
  server('/jobs', {
    title: 'Jobs',
    words: 'queue background tasks workers',
    nav: { group: 'running', icon: 'jobs' },
    needs_administer: true,
  }),
  server('/jobs/:job', {
    title: 'Job',
    needs_administer: true,
  }),
  server('/audit', {
    title: 'Audit',
    words: 'history log trail who did changes events',
    nav: { group: 'running', icon: 'audit' },
    needs_administer: true,
  }),
  server('/settings', {
    title: 'Settings',
    words: 'configuration environment version options limits',
    nav: { group: 'running', icon: 'settings' },
    needs_administer: true,
  }),

  // A project
  project('/projects/:project', {
    title: 'Project',
    words: 'dashboard overview project start',
    nav: { group: 'project', icon: 'home' },
  }),
  project('/projects/:project/export', {
    title: 'Export the project',
    words: 'move migrate transfer download archive',
    needs_administer: true,
    needs_any: ['can_reveal_vault'],
  }),
  project('/projects/:project/settings', {
    title: 'Project settings',
    words: 'rename slug delete remove sending domain links inactive',
  }),
  project('/projects/:project/keys', {
    title: 'Keys',
    words: 'api credentials smtp login secret tokens',
    nav: { group: 'secrets', icon: 'key' },
  }),
  project('/projects/:project/keys/new', {
    title: 'New key',
    words: 'api credentials smtp create secret token',
  }),
  project('/projects/:project/keys/:key', { title: 'Key' }),
  project('/projects/:project/vault', {
    title: 'Vault',
    words: 'secrets env environment variables passwords credentials dotenv',
    nav: { group: 'secrets', icon: 'vault' },
    needs_any: ['can_read_vault', 'can_reveal_vault', 'can_write_vault'],
  }),
  project('/projects/:project/vault/:service', {
    title: 'Vault',
  }),
  project('/projects/:project/accounts', {
    title: 'Provider accounts',
    words: 'openai anthropic ai llm databases postgres credentials',
    nav: { group: 'secrets', icon: 'cloud' },
    needs_any: ['can_read_ai_accounts', 'can_manage_database'],
  }),
  project('/projects/:project/accounts/ai/:account', {
    title: 'AI account',
  }),
  project('/projects/:project/accounts/databases/:database', {
    title: 'Database',
  }),
  project('/projects/:project/accounts/database-accounts/:account', {
    title: 'Database account',
  }),
  project('/projects/:project/files', {
    title: 'Files',
    words: 'objects uploads storage images documents pictures s3 bucket downloads',
    nav: { group: 'app', icon: 'files' },
  }),
  project('/projects/:project/files/:file', { title: 'File' }),
  project('/projects/:project/emails', {
    title: 'Mail log',
    words: 'sent messages outbox delivery bounces failed log',
    nav: { group: 'app', icon: 'mail' },
  }),
  project('/projects/:project/emails/new', {
    title: 'Send a mail',
    words: 'compose write message',
  }),
  project('/projects/:project/emails/:email', {
    title: 'Mail',
  }),
  project('/projects/:project/templates', {
    title: 'Templates',
    words: 'layouts designs content words transactional',
    nav: { group: 'app', icon: 'template' },
  }),
  project('/projects/:project/templates/new', {
    title: 'New template',
    words: 'create layout design',
  }),
  project('/projects/:project/templates/:template', {
    title: 'Template',
  }),
  project('/projects/:project/schedules', {
    title: 'Schedules',
    words: 'cron recurring reminders repeat timer',
    nav: { group: 'app', icon: 'clock' },
  }),
  project('/projects/:project/schedules/new', {
    title: 'New schedule',
    words: 'cron recurring reminder repeat create timer',
  }),
  project('/projects/:project/schedules/:schedule', {
    title: 'Schedule',
  }),
  project('/projects/:project/webhooks', {
    title: 'Webhooks',
    words: 'callbacks hooks events notifications integrations zapier',
    nav: { group: 'app', icon: 'hook' },
  }),
  project('/projects/:project/webhooks/new', {
    title: 'Add a webhook',
    words: 'callback hook event create integration',
  }),
  project('/projects/:project/webhooks/:webhook', {
    title: 'Webhook',
  }),
  project('/projects/:project/webhooks/:webhook/deliveries/:delivery', {
    title: 'Delivery',
  }),
  project('/projects/:project/jobs', {
    title: 'Jobs',
    words: 'queue background tasks',
    nav: { group: 'record', icon: 'jobs' },
  }),
  project('/projects/:project/jobs/:job', {
    title: 'Job',
  }),
  project('/projects/:project/audit', {
    title: 'Audit',
    words: 'history log trail who did changes events',
    nav: { group: 'record', icon: 'audit' },
  }),

  // Email marketing
  marketing('/projects/:project/lists', {
    title: 'Lists',
    words: 'audiences subscribers mailing newsletter forms sign-up',
    nav: { group: 'marketing', icon: 'list' },
  }),
  marketing('/projects/:project/lists/new', {
    title: 'New list',
    words: 'audience subscribers mailing create form sign-up',
  }),
  marketing('/projects/:project/lists/:list', { title: 'List' }),
  marketing('/projects/:project/lists/:list/import', {
    title: 'Import contacts',
  }),
  marketing('/projects/:project/imports/:import', {
    title: 'Import',
  }),
  marketing('/projects/:project/contacts', {
    title: 'Contacts',
    words: 'subscribers people recipients audience unsubscribe csv export',
    nav: { group: 'marketing', icon: 'contacts' },
  }),
  marketing('/projects/:project/segments', {
    title: 'Segments',
    words: 'filters groups conditions audience',
    nav: { group: 'marketing', icon: 'template' },
  }),
  marketing('/projects/:project/segments/new', {
    title: 'New segment',
    words: 'filter group conditions create',
  }),
  marketing('/projects/:project/segments/:segment', {
    title: 'Segment',
  }),
  marketing('/projects/:project/contacts/new', {
    title: 'Add a contact',
    words: 'subscriber recipient create person',
  }),
  marketing('/projects/:project/contacts/:contact', {
    title: 'Contact',
  }),
  marketing('/projects/:project/broadcasts', {
    title: 'Broadcasts',
    words: 'newsletters campaigns mailings bulk a/b ab test',
    nav: { group: 'marketing', icon: 'broadcast' },
  }),
  marketing('/projects/:project/broadcasts/new', {
    title: 'New broadcast',
    words: 'newsletter campaign mailing create bulk write',
  }),
  marketing('/projects/:project/broadcasts/:broadcast', {
    title: 'Broadcast',
  }),
  marketing('/projects/:project/broadcasts/:broadcast/edit', {
    title: 'Edit the broadcast',
  }),
  marketing('/projects/:project/broadcasts/:broadcast/write', {
    title: 'Write the mail',
  }),
  marketing('/projects/:project/sequences', {
    title: 'Sequences',
    words: 'automation drip series onboarding funnel autoresponder flows',
    nav: { group: 'marketing', icon: 'sequence' },
  }),
  marketing('/projects/:project/sequences/new', {
    title: 'New sequence',
    words: 'automation drip series onboarding create autoresponder flow',
  }),
  marketing('/projects/:project/sequences/:sequence', {
    title: 'Sequence',
  }),
  marketing('/projects/:project/sequences/:sequence/steps/:step/write', {
    title: 'Write the mail',
  }),
  marketing('/projects/:project/suppressions', {
    title: 'Suppressions',
    words: 'unsubscribe unsubscribed blocked blocklist blacklist opt-out bounced complaints do not mail',
    nav: { group: 'marketing', icon: 'ban' },
  }),
  marketing('/projects/:project/marketing', {
    title: 'Marketing settings',
    words: 'sender name postal address imprint logo colours branding unsubscribe page tracking preferences',
    nav: { group: 'marketing', icon: 'settings' },
  }),
];
