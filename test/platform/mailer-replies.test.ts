/** Replies that no sound relay gives: what they come to, and that they reach no other mail. */
import { afterEach, expect, test } from 'bun:test';
import { createMailer, type Mailer, type MailerOptions } from '../../src/platform/mailer.ts';
import { mailOf, routeTo } from '../mail-samples.ts';
import { type OddRelay, startOddRelay } from '../odd-relay.ts';

const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function start(
  sayings: Parameters<typeof startOddRelay>[0],
  options: MailerOptions = {},
): Promise<{ relay: OddRelay; mailer: Mailer }> {
  const relay = await startOddRelay(sayings);
  const mailer = createMailer(options);
  cleanups.push(
    () => relay.stop(),
    () => mailer.stop(0),
  );
  return { relay, mailer };
}

const ANN = 'ann@customer.example';

test('an answer to the content that is no reply leaves open whether the mail was taken', async () => {
  const { relay, mailer } = await start({ content: Buffer.from([0xff, 0xfe, 0x67]) });
  const outcome = await mailer.deliver(mailOf(), routeTo(relay), [ANN]);
  expect(outcome).toMatchObject({
    stage: 'data',
    permanent: false,
    connection_trouble: true,
    may_be_sent: true,
    smtp_code: null,
  });
});

const NO_REFUSALS = [
  ['MAIL', '99999999999999999999999 what', false],
  ['MAIL', '7 what', false],
  ['RCPT', '600 what', false],
  ['content', '99999999999999999999999 what', true],
  ['content', '354 go on', true],
] as const;

test.each(NO_REFUSALS)('%s answered with "%s" is no refusal', async (moment, reply, may_be_sent) => {
  const { relay, mailer } = await start({ [moment]: reply });
  const outcome = await mailer.deliver(mailOf(), routeTo(relay), [ANN]);
  expect(outcome).toMatchObject({
    outcome: 'refused',
    permanent: false,
    connection_trouble: true,
    may_be_sent,
    smtp_code: null,
    response: reply,
  });
});
