/** A Satchel whose doctor finds what a test says, with a relay and a receiver of alerts on loopback. */
import type { Maintenance } from '../../../src/app/app.ts';
import { parseRelay } from '../../../src/mail/mailboxes/relay.ts';
import type { Finding } from '../../../src/platform/host/health-check.ts';
import { atTestEnd } from '../../support/cleanup.ts';
import {
  type Answer,
  actor,
  startTestApp,
  type TestApp,
  type TestAppOptions,
} from '../../support/helpers.ts';
import { type SmtpSink, startSmtpSink } from '../../support/smtp-sink.ts';
import { type Receiver, startReceiver } from '../../webhooks/setup.ts';

export const SECOND = 1_000;
export const MINUTE = 60_000;
export const HOUR = 3_600_000;
export const DAY = 86_400_000;
export const OPS = 'ops@example.com';

export interface Stage {
  app: TestApp;
  receiver: Receiver;
  sink: SmtpSink;
  /** Calls a path below the management plane as an administrator. */
  call(method: string, path: string, body?: object): Promise<Answer>;
  /** Has doctor look at everything, and find this. */
  find(...findings: Finding[]): Promise<void>;
  /** What is due so long later is told. */
  tellAfter(ms: number): Promise<void>;
  /** Subjects and texts of the mails so far. */
  mails(): string[];
  /** Bodies that the receiver has got so far, as objects. */
  bodies(): Record<string, unknown>[];
}

export async function startStage(
  options: TestAppOptions & { sink?: SmtpSink; receiver?: Receiver } = {},
): Promise<Stage> {
  const receiver = options.receiver ?? startReceiver();
  const sink = options.sink ?? (await startSmtpSink());
  if (!options.sink) atTestEnd(() => sink.stop());
  let found: Finding[] = [];
  const never = () => new Promise<never>(() => {});
  const maintenance: Maintenance = {
    ...{ backUp: never, verify: never, factsOfFile: never, stop: () => {} },
    examine: async () => found,
  };
  const app = await startTestApp({
    maintenance,
    ...options,
    env: { SATCHEL_WEBHOOK_ALLOW: '127.0.0.1', ...options.env },
  });
  const { alerts, doctor } = app.services;
  // Told when a test says so, and not beside it.
  await alerts.stop(0);
  const { token } = await app.services.tokens.create(actor, {
    ...{ name: 'admin', all_projects: true, projects: [], capabilities: ['can_administer'] },
  });
  return {
    ...{ app, receiver, sink },
    call: (method, path, body) =>
      app.call(method, `/api/public/v1${path}`, { token, ...(body === undefined ? {} : { body }) }),
    async find(...findings) {
      found = findings;
      await doctor.examine();
      // What is noted is in the queue of writes.
      await app.services.database.write(() => {});
    },
    async tellAfter(ms) {
      app.clock.advance(ms);
      await alerts.tell();
    },
    mails: () => sink.mails.map(({ raw }) => raw.toString().replaceAll('=\r\n', '')),
    bodies: () => receiver.got.map(({ body }) => JSON.parse(body)),
  };
}

/** A default domain with a mailbox at the relay. */
export async function addRelay(
  { app, sink }: Pick<Stage, 'app' | 'sink'>,
  address = 'hello@mail.example.com',
): Promise<void> {
  const { sending_domains, mailboxes } = app.services;
  const name = address.split('@')[1] ?? '';
  await sending_domains.add(actor, { name, is_trusted: true });
  await mailboxes.add(actor, { address, relay: parseRelay(`smtp://127.0.0.1:${sink.port}`) });
}
