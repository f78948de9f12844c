/** Whose refusal it is: one judge for replies and for reports, by code and by words. */
import { describe, expect, test } from 'bun:test';
import {
  endOf,
  enhancedCodeOf,
  lastReplyIn,
  type RefusalSubject,
  subjectOf,
} from '../../../src/platform/mail/refusals.ts';
import realRefusals from './real-refusals.json';
import { WORDINGS } from './refusal-wordings.ts';

const AT_RCPT: [string, RefusalSubject | null][] = [
  ['550 5.1.1 User unknown', 'recipient'],
  ['550-5.1.1 User\n550 5.1.1 unknown', 'recipient'],
  ['554 5.1.1 User unknown', 'recipient'],
  ['550 #5.1.0 Address rejected', 'recipient'],
  ['556 5.1.10 Null MX', 'recipient'],
  ['553 5.1.3 Bad address syntax', 'recipient'],
  ['550 5.1.1 Blocked by policy', 'mailbox'],
  ['550 5.1.7 Sender address is bad', 'mailbox'],
  ['553 5.1.8 Sender domain not found', 'mailbox'],
  ['552 5.2.2 Mailbox full', 'full'],
  ['550 5.2.1 Mailbox disabled', 'recipient'],
  ['552 5.2.3 Message too large', 'message'],
  ['550 No such user', 'recipient'],
  ['550 Not this one', 'recipient'],
  ['551 User not local', 'recipient'],
  ['553 Name not allowed', 'recipient'],
  ['554 No such user', 'recipient'],
  ['554 Not this one', 'mailbox'],
  ['552 Too much mail', 'mailbox'],
  ['552 Too large', 'message'],
  ['550 5.0.0 Go away', 'mailbox'],
  ['550 5.5.1 Out of order', 'mailbox'],
  ['550 4.2.2 A class that does not fit', 'mailbox'],
  ['554 5.7.1 Client host blocked', 'mailbox'],
  ['553 5.7.1 Sender address rejected: not owned by user', 'mailbox'],
  ['550 5.7.1 Relaying denied', 'mailbox'],
  ['550 #5.7.1 Access has been rejected', 'mailbox'],
  ['550 5.7.1: Client host blocked', 'mailbox'],
  ['550-5.7.26: Unauthenticated\n550 5.7.26: mail', 'mailbox'],
  ['550 5.1.1: User unknown', 'recipient'],
  ['550 5.7.1.9 is an address that is no user of ours', 'recipient'],
  ['530 5.5.1 Authentication required', 'mailbox'],
  ['530 Log in first', 'mailbox'],
  ['535 5.5.4 Log-in refused', 'mailbox'],
  ['554 Transaction failed', 'mailbox'],
  ['450 5.1.1 Greylisted', null],
  ['421 4.3.2 Shutting down', null],
];

const ELSEWHERE: [string, RefusalSubject | null][] = [
  ['550 5.1.1 Said of the content', 'mailbox'],
  ['550 Not this one', 'mailbox'],
  ['552 5.2.2 Mailbox full', 'mailbox'],
  ['552 5.3.4 Too large', 'message'],
  ['552 Too large', 'message'],
  ['550 5.7.26 Unauthenticated mail is not accepted', 'mailbox'],
  ['554 5.6.0 Content rejected', 'message'],
  ['535 5.7.8 Log-in refused', 'mailbox'],
  ['451 4.7.1 Try again', null],
];

function subject(reply: string, is_of_recipient: boolean): RefusalSubject | null {
  return subjectOf({ smtp_code: Number(reply.slice(0, 3)), reply, is_of_recipient, is_after_data: false });
}

test.each(AT_RCPT)('of one recipient %p is about: %p', (reply, about) =>
  expect(subject(reply, true)).toBe(about),
);

test.each(ELSEWHERE)('of several %p is about: %p', (reply, about) =>
  expect(subject(reply, false)).toBe(about),
);

for (const [server, wordings] of Object.entries(WORDINGS))
  describe(server, () => {
    test.each(wordings.map(({ reply, about }) => [reply, about] as const))(
      '%p is about: %p',
      (reply, about) => {
        expect(subject(reply, true)).toBe(about);
      },
    );

    // Whatever Status the reporter makes up for it: 5.0.0 is Exim's and OpenSMTPD's, the rest Sendmail's, from the first digits.
    test.each(wordings.map(({ reply, about }) => [reply, about] as const))(
      'in a report %p is the same',
      (reply, about) => {
        const ends = {
          recipient: 'bounced',
          full: 'soft_bounced',
          mailbox: 'refused',
          message: 'refused',
        } as const;
        const one_line = reply.replace(/\s+/g, ' ');
        for (const status of ['5.0.0', '5.2.0', '5.1.1', '5.3.0', null])
          if (about !== null) expect([status, endOf(status, one_line)]).toEqual([status, ends[about]]);
          else expect(endOf(status, one_line)).not.toBe('bounced');
      },
    );
  });

/**
 * What receivers have said, each to a mail to one recipient: of ActiveCampaign's SMTP Field Manual (MIT), of bug reports, and as large
 * receivers write in their languages. Addresses are invented.
 */
test.each(realRefusals.map(({ at, about, reply }) => [reply, at, about] as const))(
  '%p, at %s, is about: %s',
  (reply, at, about) => {
    const smtp_code = Number(reply.slice(0, 3));
    const is_after_data = at === 'data';
    expect(String(subjectOf({ smtp_code, reply, is_of_recipient: true, is_after_data }))).toBe(about);
    const end = { recipient: 'bounced', full: 'soft_bounced', mailbox: 'refused', message: 'refused' }[about];
    const said = `${reply.replace(/\s+/g, ' ')}${is_after_data ? ' (in reply to end of DATA command)' : ''}`;
    expect(String(endOf(null, said))).toBe(String(end));
  },
);

test('after the content a 550 that says nothing of a recipient is ours, and one that does is theirs', () => {
  const after = (reply: string) =>
    subjectOf({ smtp_code: 550, reply, is_of_recipient: true, is_after_data: true });
  expect(after('550 Not this one')).toBe('mailbox');
  expect(after('550 5.1.0 Not this one')).toBe('recipient');
  expect(after('550 Unknown user ann@dest.example')).toBe('recipient');
  expect(endOf('5.0.0', '550 Not this one (in reply to end of DATA command)')).toBe('refused');
  expect(
    endOf('5.0.0', '550 Not this one', 'failed after I sent the message.\nRemote host said: 550 Not'),
  ).toBe('refused');
});

test('what was replied before any recipient was named is about no recipient', () => {
  for (const said of [
    'SMTP error from remote mail server after MAIL FROM:<a@shop.example> SIZE=9: 553 5.1.0 does not exist',
    'SMTP error from remote mail server after initial connection: 550 user unknown',
    'host mx.dest.example[192.0.2.1] refused to talk to me: 550 5.1.1 user unknown',
    'Connected to 192.0.2.1 but sender was rejected.\nRemote host said: 550 5.1.1 no such user',
  ])
    expect([said, endOf('5.1.1', lastReplyIn(said) ?? '', said)]).toEqual([said, 'refused']);
});

test('no reply at all is no refusal', () => {
  expect(subject('5.1.1', true)).toBeNull();
});

test('an enhanced code stands right behind the code or in brackets with a number sign, and nowhere else', () => {
  expect(enhancedCodeOf('550 sorry (#5.1.1)')).toBe('5.1.1');
  expect(enhancedCodeOf('550 Host 5.1.1.9 is blocked')).toBeNull();
  expect(enhancedCodeOf('550 5.1.1.9 is blocked')).toBeNull();
  expect(enhancedCodeOf('No answer')).toBeNull();
});

const ENDS: [status: string | null, words: string, end: ReturnType<typeof endOf>][] = [
  ['5.1.1', '', 'bounced'],
  ['5.1.1', '550 5.1.1 unknown', 'bounced'],
  ['5.1.1', 'unknown user', 'bounced'],
  ['5.1.8', '550 bad sender', 'refused'],
  ['5.1.8', '', 'refused'],
  ['5.2.1', '', 'bounced'],
  ['5.2.2', '', 'soft_bounced'],
  ['5.2.3', '552 5.2.3 too big', 'refused'],
  ['5.3.4', 'message too big', 'refused'],
  ['5.0.0', '', 'soft_bounced'],
  ['4.0.0', '', 'soft_bounced'],
  [null, '', 'soft_bounced'],
  ['5.0.0', 'unknown user', 'bounced'],
  ['4.0.0', 'unknown user', 'soft_bounced'],
  ['5.0.0', 'an RBL blocked it', 'refused'],
  ['5.0.0', '550 no such user', 'bounced'],
  ['5.0.0', '550-5.1.1 The email account does not exist', 'bounced'],
  ['5.0.0', '5.1.0 - Unknown address error', 'bounced'],
  ['5.0.0', '552 mailbox full', 'soft_bounced'],
  ['5.0.0', '552 5.2.2 mailbox full', 'soft_bounced'],
  ['5.1.1', '552 5.2.2 mailbox full', 'soft_bounced'],
  ['5.0.0', '550 5.7.1 blocked', 'refused'],
  ['5.7.1', '550 not this one', 'refused'],
  ['5.7.1', '', 'refused'],
  ['5.0.0', '451 4.3.0 later', 'soft_bounced'],
  ['5.3.0', '550 no such user', 'bounced'],
  ['5.1.1', '550 relay not permitted', 'refused'],
  [
    '5.4.4',
    'Host or domain name not found. Name service error for name=example.org type=MX: Host not found',
    'soft_bounced',
  ],
  ['5.4.1', '', 'soft_bounced'],
  ['4.4.7', '', 'soft_bounced'],
  ['4.7.0', '', 'refused'],
  ['4.4.7', '421 4.7.0 [TSS04] Messages from 203.0.113.9 temporarily deferred', 'refused'],
  ['4.2.2', '452 4.2.2 full', 'soft_bounced'],
  ['4.4.1', 'connect to relay.example.org[203.0.113.1]:25: Connection refused', 'soft_bounced'],
  ['5.0.0', 'retry timeout exceeded', 'soft_bounced'],
  ['5.0.0', '450 4.2.1 mailbox busy: retry timeout exceeded', 'soft_bounced'],
  ['4.4.7', '550 4.4.7 QUEUE.Expired; message expired', 'soft_bounced'],
  ['5.4.316', '550 5.4.316 Message expired, connection refused(Socket error code 10061)', 'soft_bounced'],
];

test.each(ENDS)('failed with %p and %p is %p', (status, words, end) =>
  expect(endOf(status, words)).toBe(end),
);

test('the last reply of a text is found, its lines joined, up to the end of its paragraph', () => {
  const exim = `
    host mx.example.org [203.0.113.1]
    SMTP error from remote mail server after RCPT TO:<ann@example.org>:
    450 4.2.0 greylisted

    SMTP error from remote mail server after RCPT TO:<ann@example.org>:
    550-JunkMail rejected
    550 see the RBL
    and more

500 Main Street is no reply of this recipient's server: that is`;
  expect(lastReplyIn(exim.replace(/\n500[^\n]*/, ''))).toBe('550-JunkMail rejected 550 see the RBL and more');
  expect(lastReplyIn('host mx[203.0.113.1] said: 550 5.1.1 Unknown (in reply to RCPT TO command)')).toBe(
    '550 5.1.1 Unknown (in reply to RCPT TO command)',
  );
  expect(lastReplyIn('It has 550 members, and 12:30 is 450 minutes')).toBeNull();
});
