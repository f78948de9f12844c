/** Which 4xx replies ask a mailbox for less mail, by their stage, their codes and their words. */
import { describe, expect, test } from 'bun:test';
import { unsentOutcome } from '../../../src/platform/mail/outcomes.ts';
import { refusalAtRcpt, rejectedOutcome, sentOutcome } from '../../../src/platform/mail/smtp-replies.ts';
import { slowdownOf } from '../../../src/platform/mail/throttling.ts';
import type { DeliveryStage } from '../../../src/platform/mail/types.ts';

function at(stage: DeliveryStage, response: string) {
  const smtp_code = Number(/^\d{3}/.exec(response)?.[0] ?? Number.NaN);
  return unsentOutcome({ stage, response, smtp_code: Number.isNaN(smtp_code) ? null : smtp_code });
}

describe('of the mailbox is', () => {
  const OURS: [DeliveryStage, string][] = [
    ['greeting', '421 too many connections'],
    ['greeting', '450 busy'],
    ['connect', '421 4.3.2 Service not available'],
    ['auth', '454 Temporary authentication failure'],
    ['mail', '451 Requested action aborted'],
    ['mail', '454 4.7.0 Throttling'],
    ['rcpt', '421 closing'],
    ['rcpt', '452 4.3.1 Insufficient system storage'],
    ['rcpt', '450 4.7.1 Client host rejected: cannot find your hostname'],
    ['data', '451 4.4.2 Timeout'],
    ['data', '454 Throttling failure: Maximum sending rate exceeded.'],
    ['data', '450 too many messages from your address'],
    ['data', '452 4.5.3 Message submission rate for this client has exceeded the configured limit'],
  ];
  for (const [stage, response] of OURS)
    test(`'${response}' at ${stage}`, () =>
      expect(slowdownOf(at(stage, response))).toMatchObject({ words: response }));
});

describe('of the mailbox is not', () => {
  const THEIRS: [DeliveryStage, string][] = [
    ['rcpt', '450 4.2.0 <ann@example.org>: Recipient address rejected: Greylisted, try again in 300 seconds'],
    ['rcpt', '451 4.7.1 Greylisting in action, please come back later'],
    ['rcpt', '421 4.7.0 Graylisted'],
    ['rcpt', '451 grey-listed'],
    ['rcpt', '450 4.2.1 The user is receiving mail at a rate that prevents delivery'],
    ['rcpt', '452 4.2.2 The mailbox is over quota'],
    ['rcpt', '450 mailbox unavailable'],
    ['rcpt', '452 4.5.3 Too many recipients'],
    ['data', '451 4.2.0 Try again later'],
    ['data', '451 4.6.0 try later'],
    ['mail', '554 5.7.1 Throttling'],
    ['data', '550 5.7.0 too many messages'],
    [
      'rcpt',
      '550 5.1.90 Your message can\u2019t be sent because you\u2019ve reached your daily limit for message recipients',
    ],
    ['rcpt', '552 5.2.2 Mailbox quota exceeded'],
    ['rcpt', '550 Mailbox quota exceeded'],
    ['data', '552 5.3.4 Message size exceeds the limit'],
    ['rcpt', '550 5.7.1 Recipient has a quota'],
    ['connect', 'connect ECONNREFUSED 127.0.0.1:9'],
    ['data', 'No answer from the relay within 120 s.'],
  ];
  for (const [stage, response] of THEIRS)
    test(`'${response}' at ${stage}`, () => expect(slowdownOf(at(stage, response))).toBeNull());
});

describe('of a quota is, and passes', () => {
  const QUOTAS: [DeliveryStage, string][] = [
    ['mail', '550 5.4.5 Daily user sending quota exceeded.'],
    ['data', '550-5.4.5 Daily user sending limit exceeded. For more information on Gmail'],
    ['data', '550 5.4.5 Enough for now'],
    ['data', '552 You have reached your daily limit of 300 e-mails'],
    [
      'rcpt',
      '550 Domain example.com has exceeded the max emails per hour (200/200 (100%)) allowed. Message discarded.',
    ],
    ['data', '554 5.7.1 Hourly sending limit exceeded'],
    ['mail', '550 5.7.1 Sending quota exceeded'],
    ['mail', '421 4.7.0 Too many messages today'],
    ['data', '454 Throttling failure: Daily message quota exceeded.'],
    ['data', '451 4.5.3 The limit of 500 messages per day was reached'],
  ];
  for (const [stage, response] of QUOTAS)
    test(`'${response}' at ${stage}`, () => {
      const outcome = at(stage, response);
      expect(outcome).toMatchObject({ about: null });
      expect(outcome.outcome).not.toBe('refused');
      expect(slowdownOf(outcome)).toMatchObject({ is_quota: true });
    });
  test('and a rate by the second is none', () =>
    expect(slowdownOf(at('data', '454 Maximum sending rate exceeded'))).toMatchObject({ is_quota: false }));
});

test('one recipient is enough, also where others were taken', () => {
  const reply = { smtp_code: 450, response: '450 4.7.1 too fast' };
  const rejected = [{ address: 'ann@example.org', ...refusalAtRcpt(reply) }];
  expect(slowdownOf(rejectedOutcome(rejected, reply))).toMatchObject({ words: '450 4.7.1 too fast' });
  const sent = sentOutcome({ response: '250 ok', accepted: ['bob@example.org'] }, new Map());
  expect(slowdownOf(sent)).toBeNull();
  expect(slowdownOf({ ...sent, rejected })).toMatchObject({ words: '450 4.7.1 too fast' });
});

describe('it asks to wait', () => {
  const WAITS: [string, number | null][] = [
    ['421 4.7.0 try again in 60 seconds', 60_000],
    ['450 4.7.1 retry after 5 minutes', 300_000],
    ['450 4.7.1 Please wait 30s', 30_000],
    ['450 4.7.1 wait at least 2 min', 120_000],
    ['421 4.7.0 10 messages for 1 hour', null],
    ['421 4.7.0 try again later', null],
    ['421 4.7.0 5 connections', null],
  ];
  for (const [response, asked_ms] of WAITS)
    test(`${asked_ms} ms: '${response}'`, () =>
      expect(slowdownOf(at('mail', response))).toMatchObject({ asked_ms }));
});
