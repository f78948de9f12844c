/** SES by Amazon's SNS: one topic, which it confirms, and nothing that Amazon has not signed for it. */
import { beforeAll, beforeEach, expect, test } from 'bun:test';
import { EventEmitter } from 'node:events';
import https from 'node:https';
import { Readable } from 'node:stream';
// @ts-expect-error It has no types.
import MessageValidator from 'sns-validator';
import { fill, samplesOf, type ToldMail } from '../../support/relay-events.ts';
import {
  CERTIFICATE_URL,
  makeRsaCertificate,
  SNS_HOST,
  envelope as sealed,
  TOPIC,
} from '../../support/sns.ts';
import { type EventsApp, NEWS, startEventsApp } from './setup.ts';

let on: EventsApp;
let path = '';
let mail: ToldMail & { id: string };
beforeAll(async () => {
  on = await startEventsApp();
});
beforeEach(async () => {
  path = await on.hear('ses');
  mail = await on.mail();
  on.asked.length = 0;
  on.amazon.status = 200;
});

const post = async (body: unknown, headers = {}) =>
  (await on.app.call('POST', path, { body: JSON.stringify(body), headers })).status;
const told = (name = 'hard'): string =>
  JSON.stringify(fill(samplesOf('ses').find((each) => each.case === name)?.event, mail));
const confirm = () => post(on.sns('SubscriptionConfirmation'));
const CERTIFICATE = new URL(CERTIFICATE_URL).pathname;

test('a subscription is confirmed once; its topic is the only one until events are set anew', async () => {
  const early = await post(on.sns('Notification', { Message: told() }));
  const confirmation = on.sns('SubscriptionConfirmation');
  expect([early, await post(confirmation), await post(confirmation)]).toEqual([401, 200, 200]);
  const confirming = on.asked.filter((each) => each.startsWith('/?Action=ConfirmSubscription'));
  expect(confirming).toHaveLength(1);
  // The same topic subscribed again has another token.
  expect(await post(on.sns('SubscriptionConfirmation', { Token: 'another' }))).toBe(200);
  const other = { TopicArn: `${TOPIC}-other` };
  expect(await post(on.sns('SubscriptionConfirmation', other))).toBe(401);
  expect(await post(on.sns('Notification', { ...other, Message: told() }))).toBe(401);
  expect(on.reportsOf(mail.id)).toEqual([]);
  expect(await post(on.sns('Notification', { Message: told() }))).toBe(200);
  expect(on.reportsOf(mail.id)).toEqual(['bounced']);
  await on.hear('ses');
  expect(await post(on.sns('Notification', { Message: told('delivered') }))).toBe(401);
  expect(await post(on.sns('SubscriptionConfirmation', other))).toBe(200);
});

test('what a set-up says, and the end of a subscription, are taken and mean nothing', async () => {
  await confirm();
  for (const Message of ['You have successfully subscribed.', '"text"', '[]', 'null', '{}', '{"mail":7}'])
    expect([Message, await post(on.sns('Notification', { Message }))]).toEqual([Message, 200]);
  expect(await post(on.sns('UnsubscribeConfirmation'))).toBe(200);
});

test('both versions of the signature, with and without a subject', async () => {
  await confirm();
  for (const fields of [{}, { SignatureVersion: '2' }, { Subject: 'Amazon SES' }]) {
    mail = await on.mail();
    expect(await post(on.sns('Notification', { Message: told(), ...fields }))).toBe(200);
    expect(on.reportsOf(mail.id)).toEqual(['bounced']);
  }
});

test('what is changed, unsigned, or signed by another is refused', async () => {
  await confirm();
  const good = on.sns('Notification', { Message: told() });
  const { Signature: _none, ...unsigned } = good;
  const stranger = sealed(makeRsaCertificate('a').key, 'Notification', { Message: told() });
  const forged = [
    { ...good, Message: told('complaint') },
    { ...good, Timestamp: '2026-11-28T12:00:00.001Z' },
    { ...good, Subject: 'added' },
    { ...good, SignatureVersion: '2' },
    { ...good, SignatureVersion: '3' },
    { ...good, Signature: '' },
    unsigned,
    stranger,
  ];
  for (const each of forged) expect([each, await post(each)]).toEqual([each, 401]);
  expect(on.reportsOf(mail.id)).toEqual([]);
});

test('a certificate from elsewhere is refused and never asked for', async () => {
  const others = [
    `http://${SNS_HOST}/a.pem`,
    `https://${SNS_HOST}:8443/a.pem`,
    `https://${SNS_HOST}:443/a.pem`,
    `https://me@${SNS_HOST}/a.pem`,
    `https://${SNS_HOST}/a.crt`,
    `https://${SNS_HOST}.evil.test/a.pem`,
    'https://sns.amazonaws.com/a.pem',
    'https://sns.eu.west.amazonaws.com/a.pem',
    'https://evil.test/sns.eu-west-1.amazonaws.com/a.pem',
    'no URL',
  ];
  for (const SigningCertURL of others)
    expect(await post(on.sns('SubscriptionConfirmation', { SigningCertURL }))).toBe(401);
  const SubscribeURL = 'https://evil.test/?Action=ConfirmSubscription';
  expect(await post(on.sns('SubscriptionConfirmation', { SubscribeURL }))).toBe(401);
  expect(on.asked.filter((each) => each !== CERTIFICATE)).toEqual([]);
});

test('a certificate is fetched once for many at a time; where it can’t be had, all are to come again, and it is not asked for at once', async () => {
  const SigningCertURL = `https://${SNS_HOST}/new.pem`;
  const ask = (fields = {}) => post(on.sns('SubscriptionConfirmation', { SigningCertURL, ...fields }));
  on.amazon.status = 302;
  expect(await Promise.all([ask(), ask(), ask()])).toEqual([429, 429, 429]);
  on.amazon.status = 200;
  expect(await ask()).toBe(429);
  expect(on.asked).toEqual(['/new.pem']);
});

test('raw delivery is refused, and says what to switch off', async () => {
  const raw = JSON.parse(told());
  expect([await post(raw), await post({}, { 'x-amz-sns-rawdelivery': 'true' })]).toEqual([401, 401]);
  const problem = on.app.services.mailboxes.show(on.app.services.mailboxes.require(NEWS)).events?.problem;
  expect(problem).toContain('raw message delivery');
  expect(await post({ hello: 1 })).toBe(422);
});

test('where Amazon does not confirm, the subscription is to be sent again', async () => {
  const confirmation = on.sns('SubscriptionConfirmation');
  await confirm();
  path = await on.hear('ses');
  on.asked.length = 0;
  on.amazon.status = 500;
  expect(await post(confirmation)).toBe(429);
  on.amazon.status = 200;
  expect(await post(confirmation)).toBe(200);
  expect(await post(on.sns('Notification', { Message: told() }))).toBe(200);
});

test('Amazon’s own validator takes the envelopes of these tests', async () => {
  const own = https.get;
  const fake = (_url: unknown, answer: (response: unknown) => void) => {
    answer(Object.assign(Readable.from([Buffer.from(on.amazon.pem)]), { statusCode: 200 }));
    return new EventEmitter();
  };
  Reflect.set(https, 'get', fake);
  try {
    for (const type of ['Notification', 'SubscriptionConfirmation'] as const)
      for (const SignatureVersion of ['1', '2']) {
        const message = on.sns(type, { SignatureVersion });
        const { promise, resolve } = Promise.withResolvers<unknown>();
        new MessageValidator().validate(message, (error: unknown) => resolve(error));
        expect(await promise).toBeNull();
      }
  } finally {
    Reflect.set(https, 'get', own);
  }
});
