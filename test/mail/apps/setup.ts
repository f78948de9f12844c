/** A Satchel that apps of other products' APIs send mail through, and how they call it. */
import { isPlainObject } from '../../../src/platform/http/schema.ts';
import { type Answer, parseObject } from '../../support/helpers.ts';
import { type SmtpSink, startSmtpSink } from '../../support/smtp-sink.ts';
import { addDomain, type Sender, startSender } from '../emails/setup.ts';

export const FROM = 'hello@shop.example.com';

export interface Stage extends Sender {
  sink: SmtpSink;
}

export async function startStage(options: Parameters<typeof startSender>[0] = {}): Promise<Stage> {
  const sender = await startSender(options);
  const sink = await startSmtpSink();
  await addDomain(sender.app, 'shop.example.com', sink, { is_default: true });
  return { ...sender, sink };
}

/** A request with a bearer, over a real connection. */
export async function ask(
  { app, key }: Pick<Sender, 'app' | 'key'>,
  method: string,
  path: string,
  {
    body,
    headers = {},
    bearer = key,
  }: { body?: unknown; headers?: Record<string, string>; bearer?: string | null } = {},
): Promise<Answer> {
  const response = await fetch(`${app.url}${path}`, {
    method,
    headers: { ...(bearer === null ? {} : { Authorization: `Bearer ${bearer}` }), ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: parseObject(text) };
}

/** A member of a member, and so on. */
export const member = (value: unknown, ...path: string[]): unknown =>
  path.reduce((at: unknown, name) => (isPlainObject(at) ? at[name] : undefined), value);
