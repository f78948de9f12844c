/** Signing up by form, and the public pages: sign-up, confirmation, unsubscribing. */
import { forbidden } from '../../errors.ts';
import {
  MAX_CAPTCHA_TOKEN_CHARS,
  MAX_CONTACT_QUERY_CHARS,
  MAX_FORM_BODY_BYTES,
  MAX_FORM_NAME_CHARS,
  MAX_SUBSCRIBE_BODY_BYTES,
} from '../../limits.ts';
import { readForm } from '../../platform/http/body.ts';
import { type Html, html, pageResponse, paragraphs, seeOther } from '../../platform/http/pages.ts';
import { bothPlanes, openRoute, type RequestContext, type Route } from '../../platform/http/routes.ts';
import { nullable, t, text } from '../../platform/http/schema.ts';
import { readerOf } from '../../platform/words/readers.ts';
import type { Words } from '../../platform/words/words.ts';
import type { Lists } from '../lists/service.ts';
import type { Clicks } from '../mails/service.ts';
import { lookOf } from './brand.ts';
import { type Chosen, readChoices } from './choices.ts';
import { choicesForm } from './choices-form.ts';
import { TEST_TOKEN } from './links.ts';
import type { Subscriptions, Visitor } from './service.ts';
import { signUpPageRoutes } from './sign-up-page.ts';
import { errorsInSignUp } from './sign-ups.ts';

const TAG = 'Sign-up forms';

export interface SubscriptionRouteDeps {
  subscriptions: Subscriptions;
  lists: Lists;
  clicks: Clicks;
}

export function subscriptionRoutes(deps: SubscriptionRouteDeps): Route[] {
  return [
    ...subscribeRoutes(deps),
    ...signUpPageRoutes(deps.subscriptions, TAG),
    ...confirmRoutes(deps.subscriptions),
    ...unsubscribeRoutes(deps),
  ];
}

function subscribeRoutes({ subscriptions, lists }: SubscriptionRouteDeps): Route[] {
  return bothPlanes({
    method: 'POST',
    path: '/email-lists/:list/subscribe',
    needs: ['email_marketing'],
    family: 'wrapped',
    tag: TAG,
    summary: 'Sign up for a list',
    description:
      'For the form of a web page, with a key restricted to its origin. The answer is the same whoever is on the list. A ' +
      'double opt-in list sends a mail with a link that confirms. `captcha_token` is required where the vault of the ' +
      'project holds a captcha secret. At most 5 requests of one IP address (in IPv6: of one /64) an hour, and of a double ' +
      'opt-in list `SATCHEL_CONFIRMATIONS_PER_DAY` a project and UTC day. Names have no links in them.',
    status: 202,
    also: {
      409: 'The list takes no sign-ups at the moment',
      413: `The body has more than ${MAX_SUBSCRIBE_BODY_BYTES} bytes`,
      502: 'The captcha provider gave no answer',
    },
    max_body_bytes: MAX_SUBSCRIBE_BODY_BYTES,
    body: t.Object({
      email: text({ min: 1, max: MAX_CONTACT_QUERY_CHARS }),
      first_name: t.Optional(nullable(text({ max: MAX_FORM_NAME_CHARS }))),
      last_name: t.Optional(nullable(text({ max: MAX_FORM_NAME_CHARS }))),
      captcha_token: t.Optional(nullable(text({ min: 1, max: MAX_CAPTCHA_TOKEN_CHARS }))),
      tracking: t.Optional(
        nullable(
          t.Boolean({
            description:
              'True where they ticked a box, which was not ticked before, that allows to count what they open and click. It holds once ' +
              'they confirm; without double opt-in, of an address that is new in the project. It lifts no refusal.',
          }),
        ),
      ),
    }),
    example: { email: 'ann@example.com', first_name: 'Ann' },
    response: t.Object({ status: t.String(), message: t.String() }),
    authorize: ({ caller }) => {
      if (caller.key && !caller.key.is_restricted)
        throw forbidden(
          'Signing up needs a key that is restricted to origins: any other must not stand in a web page. Make one with: satchel key create --restricted --can marketing',
        );
    },
    load: ({ ctx, caller }) => lists.require(caller.project.id, ctx.params.list ?? ''),
    count: async ({ ctx, caller }) => {
      if (caller.key && ctx.ip !== null) await subscriptions.countVisitor(ctx.ip);
    },
    errorsIn: ({ body }) => errorsInSignUp(body),
    handle: async ({ ctx, caller, resource: list, body }) => {
      const { first_name = null, last_name = null, captcha_token = null, tracking } = body;
      const from = {
        ip: caller.key ? ctx.ip : null,
        origin: ctx.request.headers.get('origin'),
        is_test: caller.key?.is_test ?? false,
        needs_captcha: caller.key !== null,
      };
      const input = { email: body.email, first_name, last_name, captcha_token, tracking: tracking === true };
      await subscriptions.request(caller.project, list, input, from);
      return { status: 'accepted', message: 'Thank you. If a confirmation is needed, it is on its way.' };
    },
  });
}

/* --- Pages -------------------------------------------------------------------------------------------------------- */

/** A button that posts to its own page, with one hidden field where it has to say more than that. */
const BUTTON = (words: string, hidden?: { name: string; value: string }): Html =>
  html`<form method="post">${hidden ? html`<input type="hidden" name="${hidden.name}" value="${hidden.value}">` : ''}<button type="submit">${words}</button></form>`;

/** Whoever presses the page's own button can take that back; a mail program's one click has no such field. */
const OWN_BUTTON = { name: 'button', value: '1' } as const;
const TAKE_BACK = 'take_back';

/** A page in the look of the project that it is about, if any, and the language of its list or its reader. */
function answer(
  ctx: RequestContext,
  visitor: Visitor | null,
  page: (words: Words) => { status: number; title: string; content: Html },
  leads_to: string | null = null,
): Response {
  const reader = readerOf(ctx.request, visitor?.list.language ?? null);
  const { status, title, content } = page(reader.words);
  return pageResponse(status, title, content, {
    ...(visitor && { look: lookOf(visitor.brand, leads_to) }),
    reader,
  });
}

/** Whom a page names. */
const namesOf = ({ contact, brand }: Visitor) => ({ email: contact.email, brand: brand.name });

function confirmRoutes(subscriptions: Subscriptions): Route[] {
  const find = (ctx: RequestContext) => subscriptions.visitorOfConfirmation(ctx.params.token ?? '');
  const unknown = (ctx: RequestContext) =>
    answer(ctx, null, ({ confirm }) => ({
      status: 404,
      title: confirm.unknown_title,
      content: paragraphs(confirm.unknown),
    }));
  const projectOf = (ctx: RequestContext) => find(ctx)?.owner.id ?? null;
  const languageOf = (ctx: RequestContext) => find(ctx)?.list.language ?? null;
  const common = { plane: 'page', path: '/confirm/:token', tag: TAG, projectOf, languageOf } as const;
  return [
    openRoute({
      ...common,
      method: 'GET',
      summary: 'The page that asks to confirm a sign-up',
      handle: ({ ctx }) => {
        const visitor = find(ctx);
        if (!visitor) return unknown(ctx);
        const page = ({ confirm }: Words) => ({
          status: 200,
          title: confirm.title,
          content: html`${paragraphs(confirm.question(namesOf(visitor)))}${BUTTON(confirm.button)}`,
        });
        return answer(ctx, visitor, page, visitor.list.confirmed_url);
      },
    }),
    openRoute({
      ...common,
      method: 'POST',
      summary: 'Confirm a sign-up',
      description: 'May be repeated.',
      also: { 303: "The list's `confirmed_url`" },
      handle: async ({ ctx }) => {
        const visitor = find(ctx);
        if (!visitor) return unknown(ctx);
        const end = await subscriptions.confirm(visitor);
        const { confirmed_url } = visitor.list;
        if (end === 'confirmed' && confirmed_url !== null) return seeOther(confirmed_url);
        return answer(ctx, visitor, ({ confirm }) => {
          const { done_title, unchanged_title, done, closed, left } = confirm;
          if (end === 'confirmed')
            return { status: 200, title: done_title, content: paragraphs(done(namesOf(visitor))) };
          const why = end === 'closed' ? closed : left(namesOf(visitor));
          return { status: 409, title: unchanged_title, content: paragraphs(why) };
        });
      },
    }),
  ];
}

function unsubscribeRoutes({ subscriptions, clicks }: SubscriptionRouteDeps): Route[] {
  const find = (ctx: RequestContext) => subscriptions.visitorOfUnsubscribe(ctx.params.token ?? '');
  const unknown = (ctx: RequestContext) =>
    answer(ctx, null, ({ unsubscribe: words }) =>
      ctx.params.token === TEST_TOKEN
        ? { status: 200, title: words.test_title, content: paragraphs(words.test) }
        : { status: 404, title: words.unknown_title, content: paragraphs(words.unknown) },
    );
  // What a test says is about nobody: it stands at each.
  const projectOf = (ctx: RequestContext) =>
    ctx.params.token === TEST_TOKEN ? ctx.link_project_id : (find(ctx)?.owner.id ?? null);
  const languageOf = (ctx: RequestContext) => find(ctx)?.list.language ?? null;
  const common = { plane: 'page', path: '/unsubscribe/:token', tag: TAG, projectOf, languageOf } as const;
  return [
    openRoute({
      ...common,
      method: 'GET',
      summary: 'The page that asks to unsubscribe',
      handle: ({ ctx }) => {
        const visitor = find(ctx);
        if (!visitor) return unknown(ctx);
        if (visitor.is_tracked) clicks.leavingPage(visitor.contact, ctx.request);
        const choices = subscriptions.choicesOf(visitor);
        const reader = readerOf(ctx.request, visitor.list.language);
        return answer(ctx, visitor, ({ unsubscribe: words }) => ({
          status: 200,
          title: words.title,
          content: html`${paragraphs(words.question(namesOf(visitor)))}${BUTTON(words.button, OWN_BUTTON)}
${choices ? choicesForm(choices, reader) : ''}`,
        }));
      },
    }),
    openRoute({
      ...common,
      method: 'POST',
      summary: 'Unsubscribe an address, take that back, or save its choices',
      also: {
        409: 'What was to be taken back is too old, was done already, or the address was stopped otherwise too',
      },
      description:
        "From everything in the project. May be repeated; mail programs post here too (RFC 8058). What the page's own button " +
        '(`button=1`) changed can be taken back for ten minutes by the hidden field `take_back` of the page that answers: each contact ' +
        'has its former status unless it changed since. The second form of the page ' +
        '(`choices=1`) saves which public lists the address is on, a pause of 30 days, and whether it is counted what it opens ' +
        'and clicks: only what differs from what its page showed. Anything else unsubscribes.',
      handle: async ({ ctx }) => {
        const visitor = find(ctx);
        if (!visitor) return unknown(ctx);
        // What can't be read has no choices: whoever sent it means to leave.
        const form = await readForm(ctx.request, MAX_FORM_BODY_BYTES).catch(
          (): Record<string, string> => ({}),
        );
        const sent = readChoices(form);
        const chosen = sent && (await subscriptions.choose(visitor, sent, ctx.ip));
        if (chosen) return savedPage(ctx, visitor, chosen);
        const taken_back = isOwn(form) ? form[TAKE_BACK] : undefined;
        if (taken_back !== undefined)
          return takenBackPage(ctx, visitor, await subscriptions.takeBack(visitor, taken_back));
        // Of a suppressed address nothing is saved: it gets nothing as it is.
        const value = sent ? null : await subscriptions.unsubscribe(visitor);
        const is_offered = value !== null && isOwn(form) && form[OWN_BUTTON.name] === OWN_BUTTON.value;
        return answer(ctx, visitor, ({ unsubscribe: words }) => ({
          status: 200,
          title: words.done_title,
          content: html`${paragraphs(words.done(namesOf(visitor)))}${is_offered ? html`${paragraphs(words.oops)}${BUTTON(words.take_back, { name: TAKE_BACK, value })}` : ''}`,
        }));
      },
    }),
  ];
}

/** Not what a mail program sends (RFC 8058). */
const isOwn = (form: Readonly<Record<string, string>>): boolean => form['List-Unsubscribe'] === undefined;

function takenBackPage(ctx: RequestContext, visitor: Visitor, is_back: boolean): Response {
  return answer(ctx, visitor, ({ unsubscribe: words }) => {
    const names = namesOf(visitor);
    if (is_back) return { status: 200, title: words.back_title, content: paragraphs(words.back(names)) };
    return { status: 409, title: words.too_late_title, content: paragraphs(words.too_late(names)) };
  });
}

function savedPage(ctx: RequestContext, visitor: Visitor, { asked_to_confirm }: Chosen): Response {
  return answer(ctx, visitor, ({ choices: words }) => ({
    status: 200,
    title: words.done_title,
    content: paragraphs(
      words.done(namesOf(visitor)),
      ...asked_to_confirm.map((list) => words.confirm({ list })),
    ),
  }));
}
