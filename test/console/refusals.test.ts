/**
 * Refusals that a person can meet by clicking: what the console says of each, without a command, the name of a parameter or an
 * endpoint, and where its button leads.
 */
import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { readRefusal, wayOf } from '../../src/console/page/components/refusal.ts';

type Row = readonly [message: string, told: string, path: string | null];

const P = '/projects/shop';
const REFUSALS: readonly Row[] = [
  [
    'has a domain that was not added; add it first: satchel domain add NAME',
    'has a domain that was not added; add it first.',
    '/set-up-sending',
  ],
  [
    'There is a mailbox of this address already. To change it: satchel mailbox change hello@example.com',
    'There is a mailbox of this address already.',
    '/mailboxes/hello@example.com',
  ],
  [
    'This domain was added already. See: satchel domain list',
    'This domain was added already.',
    '/sending-domains',
  ],
  [
    'shop sends from example.com. First change that: satchel project change shop --sending-domain NAME --sending-domains NAMES',
    'shop sends from example.com.',
    '/projects/shop/settings',
  ],
  [
    'must be a sending domain of this server: satchel domain list',
    'must be a sending domain of this server.',
    '/sending-domains',
  ],
  [
    'The project shop is inactive: nothing of it is sent. Set its status to active first: satchel project change shop --status active',
    'The project shop is inactive: nothing of it is sent.',
    '/projects/shop/settings',
  ],
  [
    'The key is deactivated: every request gets 401. Turn it on with: satchel key activate 5',
    'The key is deactivated: every request gets 401.',
    `${P}/keys`,
  ],
  [
    'No active mailbox is for marketing: satchel mailbox add ADDRESS --smtp RELAY --for marketing',
    'No active mailbox is for marketing.',
    '/set-up-sending',
  ],
  [
    'There is no active sending domain. Try it without DNS records: satchel domain trust NAME. See: satchel mailbox list',
    'There is no active sending domain.',
    '/sending-domains',
  ],
  [
    'No marketing mailbox has SPF, DKIM and DMARC in place. a@example.com: SPF: There is no such record. See: satchel domain verify NAME',
    'No marketing mailbox has SPF, DKIM and DMARC in place. a@example.com: SPF: There is no such record.',
    '/sending-domains',
  ],
  [
    'must be the address of an active mailbox for marketing that the project may send from (satchel mailbox list)',
    'must be the address of an active mailbox for marketing that the project may send from.',
    '/mailboxes',
  ],
  [
    'The sequence is active: list, exit_events may not change any more. Change them in a copy (POST .../copy, satchel sequence copy).',
    'The sequence is active: list, exit events may not change any more.',
    `${P}/sequences`,
  ],
  [
    'Too many wrong codes were given: the second step waits for 5 minutes more. You can sign in now from where you did before, or have yourself reset: satchel person reset EMAIL',
    'Too many wrong codes were given: the second step waits for 5 minutes more.',
    '/people',
  ],
  [
    'There is somebody already: satchel person list. A new link, where theirs is dead: satchel person reset EMAIL',
    'There is somebody already.',
    '/people',
  ],
  [
    'Signing up needs a key that is restricted to origins: any other must not stand in a web page. Make one with: satchel key create --restricted --can marketing',
    'Signing up needs a key that is restricted to origins: any other must not stand in a web page.',
    `${P}/keys`,
  ],
  [
    'The access token has expired. Make a new one with: satchel token create',
    'The access token has expired.',
    '/tokens',
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
  ).map(
    ([noun, lister, path]): Row => [
      `${noun} not found. Those there are: ${lister}`,
      `${noun} not found.`,
      path,
    ],
  ),
  ['Ask for a secret first: POST /console/totp.', 'Ask for a secret first.', null],
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
  test.each(REFUSALS.map((row) => [...row] as const))('%s', (message, told, path) => {
    const refusal = readRefusal(message);
    expect(refusal.told).toBe(told);
    expect(refusal.told).not.toMatch(/satchel [a-z]|[a-z]_[a-z]|\b(GET|POST|PATCH|DELETE) /);
    const way = refusal.command === null ? null : wayOf(refusal.command, 'shop');
    expect(way?.path ?? null).toBe(path === null ? null : path.replace('@', '%40'));
  });

  test('there are forty of them', () => {
    expect(REFUSALS.length).toBeGreaterThanOrEqual(40);
  });

  test('the API says each of them', async () => {
    const sources = new Bun.Glob('src/**/*.ts').scan({ cwd: join(import.meta.dir, '../..') });
    let all = '';
    for await (const file of sources)
      if (!file.includes('console/page/')) all += await Bun.file(join(import.meta.dir, '../..', file)).text();
    // As far as a message goes without what is put into it.
    const isSaid = ([message]: Row) =>
      message.split(/(?<=[.:]) |, (?=not)/).some((part) => part.length > 12 && all.includes(part)) ||
      /^\w+( \w+)? not found\./.test(message);
    expect(REFUSALS.filter((row) => !isSaid(row)).map(([message]) => message)).toEqual([]);
  });

  test('a page of a project is none where no project is looked at', () => {
    expect(wayOf('satchel list list --project REF', null)).toBeNull();
    expect(wayOf('satchel serve --tls NAME', 'shop')).toBeNull();
  });
});
