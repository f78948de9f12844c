/** Mailgun's API: `/v3` stands at the root, as Ghost's client drops the path of its base URL. */
import type { AppError } from '../../errors.ts';
import { failureMessage } from '../../platform/http/answers.ts';
import { type KeyCaller, keyActor, refuseRestricted } from '../../platform/http/callers.ts';
import { type Dialect, foreignRoute, keyOf } from '../../platform/http/foreign.ts';
import { showNames } from '../../platform/http/ignored-fields.ts';
import type { RequestContext, Route } from '../../platform/http/routes.ts';
import { readPage, readQuestion } from './pages.ts';
import { MAILGUN_LISTS, type Mailgun } from './service.ts';

const DIALECT: Dialect = {
  prefix: '/v3',
  fail(error: AppError) {
    if (error.kind === 'unauthenticated') return new Response('Forbidden', { status: 401 });
    const status = error.kind === 'invalid' ? 400 : error.status;
    return Response.json({ message: failureMessage(error) }, { status });
  },
};

/** The password of Basic auth, whose user is `api`. */
function keySent(request: Request): string | null {
  const sent =
    /^\s*basic\s+([A-Za-z0-9+/=]+)\s*$/i.exec(request.headers.get('authorization') ?? '')?.[1] ?? '';
  return /^api:(.+)$/s.exec(Buffer.from(sent, 'base64').toString())?.[1] ?? null;
}

const sender = keyOf(keySent, ['email']);
const reader = keyOf(keySent, ['read']);
const marketer = keyOf(keySent, ['email_marketing']);

const asked = { dialect: DIALECT, tag: 'Emails' } as const;

export function mailgunRoutes({
  mailgun,
  config,
}: {
  mailgun: Mailgun;
  config: { public_url: string };
}): Route[] {
  const load = ({ ctx, caller }: { ctx: RequestContext; caller: KeyCaller }): string =>
    mailgun.requireDomain(caller.project_id, ctx.params.domain ?? '');
  const sending = ['/messages', '/messages.mime'].map((path) =>
    foreignRoute({
      ...asked,
      method: 'POST',
      path: `/:domain${path}`,
      summary: 'Sends a message, or one to each recipient',
      who: sender,
      load,
      async handle({ ctx, caller, resource: domain, acceptAgain }) {
        const { request } = ctx;
        const { message_id, ignored } = await mailgun.send({ domain, request, path, caller, acceptAgain });
        const warning = { Warning: `299 satchel "ignored fields: ${showNames(ignored)}"` };
        const headers = ignored.length === 0 ? {} : warning;
        return Response.json({ id: message_id, message: 'Queued. Thank you.' }, { headers });
      },
    }),
  );
  const telling = ['', '/:page'].map((path) =>
    foreignRoute({
      ...asked,
      method: 'GET',
      path: `/:domain/events${path}`,
      summary: 'What became of mails',
      who: reader,
      load,
      async handle({ ctx, caller: { project_id }, resource: domain }) {
        const { page } = ctx.params;
        const query = Object.fromEntries(ctx.url.searchParams);
        const question =
          page === undefined
            ? readQuestion(query, mailgun.events.lastAt(project_id, domain))
            : readPage(page);
        const { items, pages } = await mailgun.events.page({ project_id, domain }, question);
        const at = (name: string): string => `${config.public_url}/v3/${domain}/events/${name}`;
        const paging = Object.fromEntries(Object.entries(pages).map(([name, to]) => [name, at(to)]));
        return Response.json({ items, paging });
      },
    }),
  );
  const lifting = MAILGUN_LISTS.map((list) =>
    foreignRoute({
      ...asked,
      method: 'DELETE',
      path: `/:domain/${list}/:address`,
      summary: 'Lifts the suppression of an address',
      who: marketer,
      load,
      async handle({ ctx, caller }) {
        refuseRestricted(caller);
        const { address = '' } = ctx.params;
        const owner = { id: caller.project_id, public_id: caller.project_public_id };
        await mailgun.lift(keyActor(caller, ctx.ip), owner, { list, address });
        return Response.json({ message: 'The address has been removed from the list.', address });
      },
    }),
  );
  return [...sending, ...telling, ...lifting];
}
