/**
 * Refusals that a person can meet by clicking: what the console says of each, without a command, the name of a parameter or an
 * endpoint, and where its button leads.
 */
import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { remedyOf, tellRefusal, wayOf } from '../../src/console/page/components/refusal.ts';
import { notFound, type Remedy, toDo } from '../../src/errors.ts';

type Row = readonly [message: string, told: string, path: string | null, remedy?: Remedy | undefined];

const P = '/projects/shop';
const REFUSALS: readonly Row[] = [
  [
    'has a domain that was not added; add it first: satchel domain add NAME',
    'has a domain that was not added; add it first.',
    '/set-up-sending',
    toDo('sending', 'satchel domain add NAME'),
  ],
  [
    'There is a mailbox of this address already. To change it: satchel mailbox change hello@example.com',
    'There is a mailbox of this address already.',
    '/mailboxes/hello@example.com',
    toDo('mailbox', 'satchel mailbox change hello@example.com', 'hello@example.com'),
  ],
  [
    'This domain was added already. See: satchel domain list',
    'This domain was added already.',
    '/sending-domains',
    toDo('sending_domain', 'satchel domain list'),
  ],
  [
    'shop sends from example.com. First change that: satchel project change shop --sending-domain NAME --sending-domains NAMES',
    'shop sends from example.com.',
    '/projects/shop/settings',
    toDo('project', 'satchel project change shop --sending-domain NAME --sending-domains NAMES', 'shop'),
  ],
  [
    'must be a sending domain of this server: satchel domain list',
    'must be a sending domain of this server.',
    '/sending-domains',
    toDo('sending_domain', 'satchel domain list'),
  ],
  [
    'The project shop is inactive: nothing of it is sent. Set its status to active first: satchel project change shop --status active',
    'The project shop is inactive: nothing of it is sent.',
    '/projects/shop/settings',
    toDo('project', 'satchel project change shop --status active', 'shop'),
  ],
  [
    'must be the address of an active mailbox for marketing that the project may send from (satchel mailbox list)',
    'must be the address of an active mailbox for marketing that the project may send from.',
    '/mailboxes',
    toDo('mailbox', 'satchel mailbox list'),
  ],
  [
    'The sequence is active: list, exit_events may not change any more. Change them in a copy (POST .../copy, satchel sequence copy).',
    'The sequence is active: list, exit events may not change any more.',
    `${P}/sequences`,
    toDo('sequence', 'satchel sequence copy'),
  ],
  [
    'Too many wrong codes were given: the second step waits for 5 minutes more. You can sign in now from where you did before, or have yourself reset: satchel person reset EMAIL',
    'Too many wrong codes were given: the second step waits for 5 minutes more.',
    '/people',
    toDo('person', 'satchel person reset EMAIL'),
  ],
  [
    'There is somebody already: satchel person list. A new link, where theirs is dead: satchel person reset EMAIL',
    'There is somebody already.',
    '/people',
    toDo('person', 'satchel person list'),
  ],
  [
    'Signing up needs a key that is restricted to origins: any other must not stand in a web page. Make one with: satchel key create --restricted --can marketing',
    'Signing up needs a key that is restricted to origins: any other must not stand in a web page.',
    `${P}/keys`,
    toDo('key', 'satchel key create --restricted --can marketing'),
  ],
  [
    'The access token has expired. Make a new one with: satchel token create',
    'The access token has expired.',
    '/tokens',
    toDo('token', 'satchel token create'),
  ],
  ...(
    [
      ['Sending domain', 'satchel domain list', '/sending-domains'],
      ['Mailbox', 'satchel mailbox list', '/mailboxes'],
      ['Captured message', 'satchel email captured', `${P}/emails`],
      ['Project', 'satchel project list', '/projects'],
      ['Global origin', 'satchel origin list', '/settings'],
      ['Person', 'satchel person list', '/people'],
      ['Object', 'satchel object list --project REF', `${P}/files`],
      ['Segment', 'satchel segment list --project REF', `${P}/contacts`],
      ['Contact', 'satchel contact list --list ID', `${P}/contacts`],
      ['List', 'satchel list list --project REF', `${P}/lists`],
      ['Webhook', 'satchel webhook list --project REF', `${P}/webhooks`],
    ] as const
  ).map(([noun, lister, path]): Row => {
    const { message, remedy } = notFound(noun, lister);
    return [message, `${noun} not found.`, path, remedy];
  }),
  [
    'Ask for a secret first: POST /console/totp.',
    'Ask for a secret first.',
    '/account',
    toDo('account', 'POST /console/totp'),
  ],
  [
    'The link would begin with http://127.0.0.1:8420, which nobody else can reach: set SATCHEL_PUBLIC_URL to the address of this server and start it again.',
    'The link would begin with http://127.0.0.1:8420, which nobody else can reach: set SATCHEL_PUBLIC_URL to the address of this server and start it again.',
    '/settings',
    toDo('settings', null),
  ],
  [
    'The default domain example.com has no mailbox: satchel mailbox add ADDRESS@example.com --smtp RELAY',
    'The default domain example.com has no mailbox.',
    '/set-up-sending',
    toDo('sending', 'satchel mailbox add ADDRESS@example.com --smtp RELAY'),
  ],
  [
    "The project's marketing key does not open under the master key, so suppressions cannot be looked up: nothing was done. An admin finds more with: satchel doctor",
    "The project's marketing key does not open under the master key, so suppressions cannot be looked up: nothing was done.",
    '/findings',
    toDo('finding', 'satchel doctor'),
  ],
  ...[
    'A backup is being made already. Wait until it is done.',
    'A finished sequence does not change any more.',
    'Another project has this link domain. Choose another name.',
    'Another project has this slug. Choose another one, or leave it out to get a free one.',
    'The broadcast was changed meanwhile. Look at it and send it again.',
    'The import was taken out meanwhile.',
    'The sequence was changed meanwhile. Look at it and try again.',
    'There is a person with this address already.',
    'This was changed since you read it, so nothing was changed now. Read it again, and make your change to what is there.',
    'Your account was changed meanwhile. Sign in again.',
    'Nothing was sent of this email yet: it is queued.',
    'There is nothing to cancel: the email is sent, not scheduled.',
    'The broadcast June (01J) waits for its time to go to this segment. Make it a draft first, or give it another.',
  ].map((message): Row => [message, message, null]),
];

describe('a refusal leads on', () => {
  test.each(REFUSALS.map(([message, told, path, remedy]) => [message, told, path, remedy ?? null] as const))(
    '%s',
    (message, told, path, remedy) => {
      // As it comes: in the details of a failure.
      const read = remedyOf({ details: { remedy } });
      expect(read).toEqual(remedy);
      expect(tellRefusal(message, read)).toBe(told);
      if (remedy?.command) expect(told).not.toMatch(/satchel [a-z]|[a-z]_[a-z]|\b(GET|POST|PATCH|DELETE) /);
      const way = read === null ? null : wayOf(read, 'shop');
      expect(way?.path ?? null).toBe(path === null ? null : path.replace('@', '%40'));
    },
  );

  test('there are many of them', () => {
    expect(REFUSALS.length).toBeGreaterThanOrEqual(40);
  });

  test('the API says each of them', async () => {
    const sources = new Bun.Glob('src/**/*.ts').scan({ cwd: join(import.meta.dir, '../..') });
    let all = '';
    for await (const file of sources)
      if (!file.includes('console/page/')) all += await Bun.file(join(import.meta.dir, '../..', file)).text();
    // As far as a message goes without what is put into it.
    const isSaid = ([message]: Row) =>
      message
        .split(/(?<=[.:]|example\.com) |, (?=not)| \(/)
        .some((part) => part.length > 12 && all.includes(part)) || /^\w+( \w+)? not found\./.test(message);
    expect(REFUSALS.filter((row) => !isSaid(row)).map(([message]) => message)).toEqual([]);
  });

  test('a page of a project is none where no project is looked at, and what no page does has none', () => {
    expect(wayOf({ code: 'list', ref: null }, null)).toBeNull();
    expect(wayOf({ code: 'vault', ref: 'shop' }, null)?.path).toBe('/projects/shop/vault');
    expect(wayOf({ code: 'constructor', ref: null }, 'shop')).toBeNull();
  });
});
