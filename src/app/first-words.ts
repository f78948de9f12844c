/**
 * What a line may begin with, in help's order, and what help says of each. A verb loads the modules of its own
 * noun alone; those that are hidden have their names from where they are made.
 */
import { COMPLETE_VERB, ENV_FILE_VERB, type FirstWord } from '../platform/cli/cli.ts';
import type { Services } from './app.ts';

export const FIRST_WORDS: readonly FirstWord<Services>[] = [
  {
    usage: 'serve [options]',
    about: 'start the server; it is ready when it prints "satchel listening on ..."',
    register: async (cli) => (await import('./serve-cli.ts')).registerServe(cli),
  },
  {
    usage: 'token',
    about: 'access tokens of the management plane',
    register: async (cli) => (await import('../access/tokens/cli.ts')).registerTokenCommands(cli),
  },
  {
    usage: 'person',
    about: 'people who sign in to the console',
    register: async (cli) => (await import('../access/people/cli.ts')).registerPersonCommands(cli),
  },
  {
    usage: 'project',
    about: 'what keys, files, mail and secrets belong to',
    async register(cli) {
      const project = (await import('../access/projects/cli.ts')).registerProjectCommands(cli);
      (await import('../operation/overview/cli.ts')).registerActivityCommand(project);
      (await import('../operation/transfers/cli.ts')).registerTransferCommands(cli, project);
    },
  },
  {
    usage: 'key',
    about: 'API keys of projects, and the origins they are restricted to',
    async register(cli) {
      const key = (await import('../access/keys/cli.ts')).registerKeyCommands(cli);
      (await import('../access/origins/cli.ts')).registerKeyOrigins(key);
      (await import('../mail/submission/cli.ts')).registerSmtpCommand(key);
    },
  },
  {
    usage: 'origin',
    about: 'origins that every restricted key accepts',
    register: async (cli) => (await import('../access/origins/cli.ts')).registerGlobalOrigins(cli),
  },
  {
    usage: 'object',
    about: 'stored files',
    register: async (cli) => (await import('../files/objects/cli.ts')).registerObjectCommands(cli),
  },
  {
    usage: 'audit',
    about: 'who did what, when and from where',
    register: async (cli) => (await import('../access/audit/cli.ts')).registerAuditCommands(cli),
  },
  {
    usage: 'vault',
    about: "credentials and configuration files of a project's services",
    register: async (cli) => (await import('../secrets/vault/cli.ts')).registerVaultCommands(cli),
  },
  {
    usage: 'domain',
    about: 'domains that mail goes out from, and the DNS records they need',
    async register(cli) {
      const domain = (await import('../mail/sending-domains/cli.ts')).registerDomainCommands(cli);
      (await import('../mail/domain-reports/cli.ts')).registerDomainReportCommand(domain);
    },
  },
  {
    usage: 'mailbox',
    about: 'addresses that mail goes out from, each with its relay',
    register: async (cli) => (await import('../mail/mailboxes/cli.ts')).registerMailboxCommands(cli),
  },
  {
    usage: 'email',
    about: 'why an email was or was not sent, what was captured, trying again',
    async register(cli) {
      const email = (await import('../mail/deliveries/cli.ts')).registerEmailCommands(cli);
      (await import('../mail/emails/send-cli.ts')).registerEmailSendCommand(cli, email);
      (await import('../mail/emails/cli.ts')).registerEmailLogCommand(email);
    },
  },
  {
    usage: 'template',
    about: 'saved emails with placeholders',
    register: async (cli) => (await import('../mail/templates/cli.ts')).registerTemplateCommands(cli),
  },
  {
    usage: 'schedule',
    about: 'recurring emails',
    register: async (cli) => (await import('../mail/schedules/cli.ts')).registerScheduleCommands(cli),
  },
  {
    usage: 'job',
    about: 'what is done outside requests, such as sending',
    register: async (cli) => (await import('../operation/jobs/cli.ts')).registerJobCommands(cli),
  },
  {
    usage: 'marketing',
    about: "a project's marketing: its sender, its look, its times",
    register: async (cli) => (await import('../marketing/settings/cli.ts')).registerMarketingCommands(cli),
  },
  {
    usage: 'list',
    about: 'the lists that contacts are on',
    register: async (cli) => (await import('../marketing/lists/cli.ts')).registerListCommands(cli),
  },
  {
    usage: 'segment',
    about: 'filters of a list, kept under a name',
    register: async (cli) => (await import('../marketing/segments/cli.ts')).registerSegmentCommands(cli),
  },
  {
    usage: 'contact',
    about: 'who is on a list, and what is held about an address',
    register: async (cli) => (await import('../marketing/contacts/cli.ts')).registerContactCommands(cli),
  },
  {
    usage: 'import',
    about: 'contacts from a CSV file',
    register: async (cli) => (await import('../marketing/imports/cli.ts')).registerImportCommands(cli),
  },
  {
    usage: 'suppression',
    about: 'addresses that get no marketing mail of a project',
    register: async (cli) =>
      (await import('../marketing/suppressions/cli.ts')).registerSuppressionCommands(cli),
  },
  {
    usage: 'sequence',
    about: 'mails that follow one another, for the contacts of a list',
    register: async (cli) => (await import('../marketing/sequences/cli.ts')).registerSequenceCommands(cli),
  },
  {
    usage: 'broadcast',
    about: 'newsletters: one mail to a list',
    register: async (cli) => (await import('../marketing/broadcasts/cli.ts')).registerBroadcastCommands(cli),
  },
  {
    usage: 'webhook',
    about: 'URLs that are told what happens in a project',
    register: async (cli) => (await import('../webhooks/cli.ts')).registerWebhookCommands(cli),
  },
  {
    usage: 'backup [options] <file>',
    about: 'write everything but the master key to one new file, while the server runs',
    register: async (cli) =>
      (await import('../operation/backups/cli.ts')).registerBackup(cli, cli.host.clock),
  },
  {
    usage: 'restore [options] <file>',
    about: 'put a backup into the data directory; the server must be stopped',
    register: async (cli) =>
      (await import('../operation/backups/cli.ts')).registerRestore(cli, cli.host.clock),
  },
  {
    usage: 'release [options]',
    about: 'let go what a restore holds, with the server or without',
    register: async (cli) => (await import('../operation/holds/cli.ts')).registerReleaseCommand(cli),
  },
  {
    usage: 'verify [options] <file>',
    about: 'read a whole backup, restore it to a scratch folder, and check all of it',
    register: async (cli) => (await import('../operation/backups/cli.ts')).registerVerify(cli),
  },
  {
    usage: 'replica',
    about: 'a copy of the database in an S3 store, kept a second behind by Litestream',
    register: async (cli) =>
      (await import('../operation/replica/cli.ts')).registerReplicaCommands(cli, cli.host.clock),
  },
  {
    usage: 'master-key',
    about: 'the key that all stored secrets depend on',
    register: async (cli) =>
      (await import('../platform/cli/platform-verbs.ts')).registerMasterKeyCommand(cli, cli.host.clock),
  },
  {
    usage: 'doctor [options]',
    about: 'look for what is wrong, and name the command that mends it; changes nothing',
    async register(cli) {
      const { doctorDeps } = await import('./checks.ts');
      (await import('../operation/doctor/cli.ts')).registerDoctorCommand(cli, doctorDeps(cli.host.clock));
    },
  },
  {
    usage: 'migrate [options]',
    about: 'bring the database up to date, as the next start of the server would',
    register: async (cli) =>
      (await import('../platform/cli/platform-verbs.ts')).registerMigrateCommand(cli, cli.host.clock),
  },
  {
    usage: 'client',
    about: 'typed clients of the API, for apps',
    async register(cli) {
      const { describeApi } = await import('./describe-api.ts');
      (await import('../operation/client/cli.ts')).registerClientCommands(cli, describeApi);
    },
  },
  {
    usage: 'completion <shell>',
    about:
      'print a script that completes commands, options and some values (projects, keys, capabilities) in a shell',
    register: async (cli) => (await import('../platform/cli/completion.ts')).registerCompletionCommand(cli),
  },
  {
    usage: 'version [options]',
    about: 'which Satchel this is',
    register: async (cli) => (await import('./version-cli.ts')).registerVersion(cli),
  },
  {
    usage: COMPLETE_VERB,
    about: null,
    async register(cli) {
      const { completedValues } = await import('./completed-values.ts');
      (await import('../platform/cli/completion.ts')).registerCompleteCommand(cli, completedValues(cli));
    },
  },
  {
    usage: ENV_FILE_VERB,
    about: null,
    register: async (cli) => (await import('../platform/cli/env-file-cli.ts')).registerEnvFileVerb(cli),
  },
  {
    usage: '__make_variants',
    about: null,
    register: async (cli) => (await import('../files/variants/cli.ts')).registerVariantMaker(cli),
  },
];
