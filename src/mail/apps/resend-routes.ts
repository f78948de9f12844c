/** The API of Resend, as far as apps send mail by it: its SDKs take `PUBLIC_URL/resend` as their base URL. */
import { AppError } from '../../errors.ts';
import { failureMessage } from '../../platform/http/answers.ts';
import type { KeyCaller } from '../../platform/http/callers.ts';
import { bearerOf, type Dialect, foreignRoute, keyOf } from '../../platform/http/foreign.ts';
import type { Method, ProjectRef, RequestContext, Route } from '../../platform/http/routes.ts';
import { countCodePoints, t } from '../../platform/http/schema.ts';
import type { EmailRecord, Emails } from '../emails/service.ts';
import type { SendingDomains } from '../sending-domains/service.ts';
import { WRONG_SENDER } from '../whole-messages.ts';
import { INVALID_ATTACHMENT } from './reading.ts';
import { BATCH_PATH, MISSING_FIELD, readMoment } from './resend-reading.ts';
import { type Apps, DAILY_LIMIT } from './service.ts';

const MISSING_KEY = 'missing_api_key';
const WRONG_IDEMPOTENCY_KEY = 'invalid_idempotency_key';
const MAX_IDEMPOTENCY_KEY_CHARS = 256;
const SMALL_BODY_BYTES = 64 * 1024;

const DIALECT: Dialect = {
  prefix: '/resend',
  fail(error) {
    const [status, name] = failureOf(error);
    return Response.json({ statusCode: status, name, message: failureMessage(error) }, { status });
  },
};

function failureOf({ kind, status, code, errors }: AppError): [status: number, name: string] {
  if (kind === 'unauthenticated') return code === MISSING_KEY ? [401, MISSING_KEY] : [403, 'invalid_api_key'];
  if (kind === 'forbidden') return [401, 'restricted_api_key'];
  if (kind === 'not_found' || kind === 'method_not_allowed') return [status, kind];
  if (kind === 'rate_limited')
    return [status, code === DAILY_LIMIT ? 'daily_quota_exceeded' : 'rate_limit_exceeded'];
  // All others have a code.
  if (kind === 'conflict' && code === undefined) return [409, 'invalid_idempotent_request'];
  if (code === WRONG_IDEMPOTENCY_KEY) return [400, code];
  if (code === WRONG_SENDER || errors?.from) return [422, 'invalid_from_address'];
  if (code === MISSING_FIELD || code === INVALID_ATTACHMENT) return [422, code];
  if (status >= 500) return [status, 'application_error'];
  return [kind === 'too_large' ? 413 : 422, 'validation_error'];
}

function keySent(request: Request): string {
  const sent = bearerOf(request);
  if (sent !== null) return sent;
  const message = 'Send an API key of Satchel: `Authorization: Bearer KEY`.';
  throw new AppError('unauthenticated', message, { code: MISSING_KEY });
}

const sender = keyOf(keySent, ['email']);
const reader = keyOf(keySent, ['read']);

interface Needs {
  apps: Apps;
  emails: Emails;
  sending_domains: SendingDomains;
}

export function resendRoutes(services: Needs): Route[] {
  return [...sendingRoutes(services), ...scheduledRoutes(services), ...readingRoutes(services)];
}

const of = (method: Method, path: string, summary: string) =>
  ({ dialect: DIALECT, tag: 'Emails', method, path, summary }) as const;

function sendingRoutes({ apps }: Needs): Route[] {
  const send = (path: string, summary: string, answer: (ids: string[]) => unknown) =>
    foreignRoute({
      ...of('POST', path, summary),
      who: sender,
      async handle({ ctx: { request }, caller, acceptAgain }) {
        const idempotency_key = idempotencyKeyOf(request);
        const call = { source: 'resend', path: `${DIALECT.prefix}${path}` } as const;
        return answer(await apps.take({ ...call, request, caller, idempotency_key, acceptAgain }));
      },
    });
  return [
    send('/emails', 'Send an email', ([id]) => Response.json({ id })),
    send(BATCH_PATH, 'Send up to 100 emails', (ids) => Response.json({ data: ids.map((id) => ({ id })) })),
  ];
}

/** Throws AppError. */
function idempotencyKeyOf({ headers }: Request): string | null {
  const key = headers.get('idempotency-key');
  const length = countCodePoints(key ?? '-');
  if (length >= 1 && length <= MAX_IDEMPOTENCY_KEY_CHARS) return key;
  const message = `Idempotency-Key must have 1 to ${MAX_IDEMPOTENCY_KEY_CHARS} characters (got ${length}).`;
  throw new AppError('unsupported', message, { code: WRONG_IDEMPOTENCY_KEY });
}

const emailIn = ({ ctx, caller }: { ctx: RequestContext; caller: KeyCaller }) => ({
  project: { id: caller.project_id, public_id: caller.project_public_id },
  id: ctx.params.id ?? '',
});

function scheduledRoutes({ apps, emails }: Needs): Route[] {
  const load = (input: { ctx: RequestContext; caller: KeyCaller }) => {
    const { project, id } = emailIn(input);
    return { project, id: emails.get(project, id).id };
  };
  return [
    foreignRoute({
      ...of('PATCH', '/emails/:id', 'Have a scheduled email come at another moment'),
      who: sender,
      load,
      max_body_bytes: SMALL_BODY_BYTES,
      body: t.Object({ scheduled_at: t.Unknown() }),
      async handle({ resource: { project, id }, body }) {
        await apps.reschedule(project, id, readMoment(body.scheduled_at));
        return Response.json({ object: 'email', id });
      },
    }),
    foreignRoute({
      ...of('POST', '/emails/:id/cancel', 'Cancel a scheduled email'),
      who: sender,
      load,
      async handle({ resource: { project, id } }) {
        await apps.cancel(project, id);
        return Response.json({ object: 'email', id });
      },
    }),
  ];
}

function readingRoutes({ apps, emails, sending_domains }: Needs): Route[] {
  return [
    foreignRoute({
      ...of('GET', '/emails/:id', 'Read an email'),
      who: reader,
      async handle(input) {
        const { project, id } = emailIn(input);
        return Response.json(await shownEmail({ apps, emails }, project, id));
      },
    }),
    foreignRoute({
      ...of('GET', '/domains', 'The sending domains that the project may use'),
      who: sender,
      handle: ({ caller }) =>
        Response.json({
          object: 'list',
          has_more: false,
          data: sending_domains.list(caller).flatMap(shownDomain),
        }),
    }),
  ];
}

async function shownEmail({ apps, emails }: Pick<Needs, 'apps' | 'emails'>, project: ProjectRef, id: string) {
  const email = emails.get(project, id);
  const { body_html, body_text } = await emails.readContent(project, id);
  const call = apps.callOf(project, id);
  const { to, cc, bcc, reply_to } = call?.parties ?? {};
  const { from_name, from_email, subject, created_at, scheduled_at, message_id } = email;
  return {
    object: 'email',
    id: email.id,
    from: from_name === null ? from_email : `${from_name} <${from_email}>`,
    // Empty once its recipient was forgotten.
    to: to ?? [email.to].filter(Boolean),
    cc: cc ?? email.cc,
    bcc: bcc ?? email.bcc,
    reply_to: reply_to ?? (email.reply_to === null ? [] : [email.reply_to]),
    subject,
    html: body_html,
    text: body_text,
    created_at,
    scheduled_at,
    message_id,
    tags: call?.extra.tags ?? [],
    last_event: lastEventOf(email),
  };
}

function lastEventOf({ status }: EmailRecord): string {
  if (status === 'sending') return 'queued';
  return status === 'unknown' ? 'failed' : status;
}

function shownDomain({
  name,
  is_active,
  is_verified,
  is_trusted,
  created_at,
}: ReturnType<SendingDomains['list']>[number]) {
  if (!is_active) return [];
  const status = is_verified || is_trusted ? 'verified' : 'pending';
  const capabilities = { sending: 'enabled', receiving: 'disabled' };
  return [{ id: name, name, status, created_at, region: 'us-east-1', capabilities }];
}
