/** The documentation besides the routes: an introduction, the groups in their order, sample ids. */
import type { About } from '../../platform/http/openapi.ts';

const ULID = '01JYZ3NDEKTSV4RRFFQ69G5FAV';

export const ABOUT: Omit<About, 'version' | 'server_url'> = {
  title: 'Satchel',
  license: { name: 'MIT', identifier: 'MIT' },
  description: `Files, email, secrets and API keys for a small team.

The data plane (\`/api/v1\`) takes an API key in \`X-API-Key\`; the management plane (\`/api/public/v1\`) takes
\`Authorization: Bearer\` with an access token made by \`satchel token create\`.
Each endpoint here has a line of curl: it runs once your key stands in \`KEY\`, or your token in \`TOKEN\`.

A failure of the data plane is \`{success: false, message, errors?}\`, one of the management plane
\`{error: {code, message, details?}}\`. Lists have \`meta\` and a \`message\` that names the next call.`,
  tags: [
    { name: 'Objects', description: 'Files: stored, listed, downloaded, deleted.' },
    { name: 'Emails', description: 'Sending mail, and the log of what became of it.' },
    { name: 'Email templates', description: 'Saved subjects and bodies with placeholders.' },
    { name: 'Email schedules', description: 'Mail that recurs.' },
    { name: 'Contact lists', description: 'What contacts are on.' },
    { name: 'Contacts', description: 'Who may be mailed, and why.' },
    { name: 'Segments', description: 'Filters of a list, kept under a name.' },
    { name: 'Imports', description: 'Contacts from a paste or a CSV file.' },
    { name: 'Suppressions', description: 'Who gets no marketing mail, whatever list they are on.' },
    { name: 'Sign-up forms', description: 'Signing up from a web page, confirming, leaving.' },
    { name: 'Sequences', description: 'Mails that follow one another, and who is where in them.' },
    { name: 'Broadcasts', description: 'Newsletters: one mail to a list.' },
    { name: 'Product events', description: 'What contacts did in your app.' },
    { name: 'Marketing settings', description: 'Who marketing comes from, how it looks, when it goes out.' },
    { name: 'Jobs', description: 'Work in the background, to be polled.' },
    { name: 'Webhooks', description: 'URLs that are told what happens in a project.' },
    { name: 'Vault', description: 'Credentials of a project, encrypted.' },
    { name: 'Captcha', description: "Whether a visitor's captcha token is good." },
    { name: 'API keys', description: 'What apps show to the data plane.' },
    { name: 'Origins', description: 'Where a restricted key may be used from.' },
    {
      name: 'Tokens',
      description: 'What scripts show to the management plane, and what the caller of a request may do.',
    },
    { name: 'People', description: 'Who signs in, and what they may do.' },
    { name: 'Console', description: 'Signing in, and what people change of their own account.' },
    { name: 'Projects', description: 'What keys, files, mail and secrets belong to.' },
    { name: 'Database accounts', description: 'Accounts and projects at database providers.' },
    { name: 'AI accounts', description: 'Accounts at AI providers, and the projects they serve.' },
    { name: 'Overview', description: 'How everything stands, and finding things.' },
    { name: 'Sending domains', description: 'What mail goes out from, and the DNS records that it needs.' },
    { name: 'Mailboxes', description: 'The addresses that mail goes out from, each with its relay.' },
    { name: 'Backups', description: 'Those that the server keeps beside its data.' },
    {
      name: 'Moving projects',
      description: 'All of a project as one file, out of one Satchel and into another.',
    },
    { name: 'Audit', description: 'Who did what.' },
    { name: 'Status', description: 'How the server is.' },
  ],
  path_examples: {
    project: 'shop',
    apiKey: 1,
    origin: 1,
    account: 1,
    database: 1,
    service: 'stripe',
    environment: 'staging',
    version: ULID,
    file: 'firebase.service_account',
    slug: 'order-shipped',
    public_id: ULID,
    upload: ULID,
    id: ULID,
    job_id: ULID,
    job: ULID,
    list: ULID,
    contact: ULID,
    import: ULID,
    segment: ULID,
    sequence: ULID,
    broadcast: ULID,
    webhook: ULID,
    delivery: ULID,
    key: 'hello',
    project_file: ULID,
    person: 1,
    token: 1,
    link: `${ULID}.2209021200000.i.c2lnbmF0dXJl`,
    name: 'mail.example.com',
    address: 'shop@mail.example.com',
    backup: 'satchel-20300131T090000.000Z.tar',
  },
};
