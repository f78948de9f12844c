/** Signing up by form, the public pages (sign-up, confirmation, unsubscribing), and their preview. */
import { forbidden, toDo } from '../../errors.ts';
import {
  MAX_CAPTCHA_TOKEN_CHARS,
  MAX_CONTACT_QUERY_CHARS,
  MAX_FORM_BODY_BYTES,
  MAX_FORM_NAME_CHARS,
} from '../../limits.ts';
import { readForm } from '../../platform/http/body.ts';
import { pageResponse, seeOther } from '../../platform/http/pages.ts';
import {
  bothPlanes,
  openRoute,
  projectRoute,
  type RequestContext,
  type Route,
} from '../../platform/http/routes.ts';
import { nullable, t, text } from '../../platform/http/schema.ts';
import { type Reader, readerOf } from '../../platform/words/words.ts';
import type { Lists } from '../lists/service.ts';
import type { Clicks } from '../mails/service.ts';
import { lookOf } from './brand.ts';
import { readChoices } from './choices.ts';
import { TEST_TOKEN } from './links.ts';
import {
  confirmedPage,
  confirmPage,
  OWN_BUTTON,
  type Page,
  savedPage,
  TAKE_BACK,
  takenBackPage,
  unconfirmedPage,
  unknownConfirmPage,
  unknownUnsubscribePage,
  unsubscribedPage,
  unsubscribePage,
} from './pages.ts';
import type { PagePreviews } from './previews.ts';
import { pages_draft, pages_preview } from './schemas.ts';
import type { Subscriptions, Visitor } from './service.ts';
import { signUpPageRoutes } from './sign-up-page.ts';
import { errorsInSignUp } from './sign-ups.ts';

/** Decision: a sign-up is an address, two names and a captcha token. */
const MAX_SUBSCRIBE_BODY_BYTES = 16 * 1024;

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
          'Signing up needs a key that is restricted to origins: any other must not stand in a web page. Make one with:',
          { remedy: toDo('key', 'satchel key create --restricted --can marketing') },
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

/** A page in the look of the project that it is about, if any, and the language of its list or its reader. */
function answer(
  ctx: RequestContext,
  visitor: Visitor | null,
  made: (reader: Reader) => Page,
  leads_to: string | null = null,
): Response {
  const reader = readerOf(ctx.request, visitor?.list.language ?? null);
  const { status, title, content } = made(reader);
  return pageResponse(status, title, content, {
    ...(visitor && { look: lookOf(visitor.brand, leads_to) }),
    reader,
  });
}

/** Whom a page names. */
const namesOf = ({ contact, brand }: Visitor) => ({ email: contact.email, brand: brand.name });

function confirmRoutes(subscriptions: Subscriptions): Route[] {
  const find = (ctx: RequestContext) => subscriptions.visitorOfConfirmation(ctx.params.token ?? '');
  const unknown = (ctx: RequestContext) => answer(ctx, null, ({ words }) => unknownConfirmPage(words));
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
        const { confirmed_url } = visitor.list;
        return answer(ctx, visitor, ({ words }) => confirmPage(words, namesOf(visitor)), confirmed_url);
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
        return answer(ctx, visitor, ({ words }) =>
          end === 'confirmed'
            ? confirmedPage(words, namesOf(visitor))
            : unconfirmedPage(words, namesOf(visitor), end),
        );
      },
    }),
  ];
}

function unsubscribeRoutes({ subscriptions, clicks }: SubscriptionRouteDeps): Route[] {
  const find = (ctx: RequestContext) => subscriptions.visitorOfUnsubscribe(ctx.params.token ?? '');
  const isTest = (ctx: RequestContext) => ctx.params.token === TEST_TOKEN;
  const unknown = (ctx: RequestContext) =>
    answer(ctx, null, ({ words }) => unknownUnsubscribePage(words, isTest(ctx)));
  // What a test says is about nobody: it stands at each.
  const projectOf = (ctx: RequestContext) =>
    isTest(ctx) ? ctx.link_project_id : (find(ctx)?.owner.id ?? null);
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
        return answer(ctx, visitor, (reader) => unsubscribePage(reader, namesOf(visitor), choices));
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
        if (chosen)
          return answer(ctx, visitor, ({ words }) =>
            savedPage(words, namesOf(visitor), chosen.asked_to_confirm),
          );
        const taken_back = isOwn(form) ? form[TAKE_BACK] : undefined;
        if (taken_back !== undefined) {
          const is_back = await subscriptions.takeBack(visitor, taken_back);
          return answer(ctx, visitor, ({ words }) => takenBackPage(words, namesOf(visitor), is_back));
        }
        // Of a suppressed address nothing is saved: it gets nothing as it is.
        const value = sent ? null : await subscriptions.unsubscribe(visitor);
        const is_offered = isOwn(form) && form[OWN_BUTTON.name] === OWN_BUTTON.value;
        return answer(ctx, visitor, ({ words }) =>
          unsubscribedPage(words, namesOf(visitor), is_offered ? value : null),
        );
      },
    }),
  ];
}

/** Not what a mail program sends (RFC 8058). */
const isOwn = (form: Readonly<Record<string, string>>): boolean => form['List-Unsubscribe'] === undefined;

export function pagePreviewRoutes(previews: PagePreviews): Route[] {
  return [
    projectRoute({
      method: 'POST',
      path: '/email-marketing/pages/preview',
      may_take_long: true,
      only_reads: true,
      tag: 'Sign-up forms',
      summary: 'Show the public pages and mails as strangers see them, by settings as they are typed',
      description:
        'To sign up, confirm, unsubscribe and choose, for a sample reader, in the language of the list or else of `language`; ' +
        'the mail that asks to confirm, and a sample newsletter. The same code makes what strangers get. Nothing is stored, and no form or link in it acts for anybody.',
      body: pages_draft,
      example: { settings: { brand_name: 'Corner shop', brand_color: '#1a73e8' }, language: 'de' },
      response: pages_preview,
      handle: ({ caller, body }) => previews.preview(caller.project, body),
    }),
  ];
}
