/** Which refusals are about the recipient, the mailbox or the message: decided in one place for replies and reports alike. */
import { expect, test } from 'bun:test';
import { enhancedCodeOf, type RefusalSubject, subjectOf } from '../../../src/platform/mail/refusals.ts';

const AT_RCPT: [string, RefusalSubject | null][] = [
  ['550 5.1.1 User unknown', 'recipient'],
  ['550-5.1.1 User\n550 5.1.1 unknown', 'recipient'],
  ['554 5.1.1 User unknown', 'recipient'],
  ['550 #5.1.0 Address rejected', 'recipient'],
  ['556 5.1.10 Null MX', 'recipient'],
  ['553 5.1.3 Bad address syntax', 'recipient'],
  ['550 5.1.7 Sender address is bad', 'message'],
  ['553 5.1.8 Sender domain not found', 'message'],
  ['552 5.2.2 Mailbox full', 'recipient'],
  ['550 5.2.1 Mailbox disabled', 'recipient'],
  ['552 5.2.3 Message too large', 'message'],
  ['550 No such user', 'recipient'],
  ['551 User not local', 'recipient'],
  ['553 Name not allowed', 'recipient'],
  ['552 Too much mail', 'message'],
  ['550 5.0.0 Go away', 'message'],
  ['550 5.5.1 Out of order', 'message'],
  ['550 4.2.2 A class that does not fit', 'message'],
  ['554 5.7.1 Client host blocked', 'mailbox'],
  ['553 5.7.1 Sender address rejected: not owned by user', 'mailbox'],
  ['550 5.7.1 Relaying denied', 'mailbox'],
  ['550 #5.7.1 Access has been rejected', 'mailbox'],
  ['550 5.7.1: Client host blocked', 'mailbox'],
  ['550-5.7.26: Unauthenticated\n550 5.7.26: mail', 'mailbox'],
  ['550 5.1.1: User unknown', 'recipient'],
  ['550 5.7.1.9 is an address that is no user of ours', 'recipient'],
  ['550 5.7.14.9 is an address that is no user of ours', 'recipient'],
  ['530 5.5.1 Authentication required', 'mailbox'],
  ['530 Log in first', 'mailbox'],
  ['535 5.5.4 Log-in refused', 'mailbox'],
  ['554 Transaction failed', 'mailbox'],
  ['554 5.1.8 Sender domain not found', 'mailbox'],
  ['450 5.1.1 Greylisted', null],
  ['421 4.3.2 Shutting down', null],
];

const ELSEWHERE: [string, RefusalSubject | null][] = [
  ['550 5.1.1 Said of the content', 'message'],
  ['550 Not this one', 'message'],
  ['552 5.3.4 Too large', 'message'],
  ['550 5.7.26 Unauthenticated mail is not accepted', 'mailbox'],
  ['554 5.6.0 Content rejected', 'mailbox'],
  ['535 5.7.8 Log-in refused', 'mailbox'],
  ['451 4.7.1 Try again', null],
];

function subject(reply: string, is_of_recipient: boolean): RefusalSubject | null {
  const smtp_code = Number(reply.slice(0, 3));
  return subjectOf({ smtp_code, enhanced_code: enhancedCodeOf(reply), is_of_recipient });
}

test.each(AT_RCPT)('at RCPT %p is about: %p', (reply, about) => expect(subject(reply, true)).toBe(about));

test.each(ELSEWHERE)('elsewhere %p is about: %p', (reply, about) =>
  expect(subject(reply, false)).toBe(about),
);

test('no reply at all is no refusal', () => {
  expect(subjectOf({ smtp_code: null, enhanced_code: '5.1.1', is_of_recipient: true })).toBeNull();
});

test('an enhanced code stands right behind the code, and nowhere else', () => {
  expect(enhancedCodeOf('550 Host 5.1.1.9 is blocked')).toBeNull();
  expect(enhancedCodeOf('550 5.1.1.9 is blocked')).toBeNull();
  expect(enhancedCodeOf('No answer')).toBeNull();
});
