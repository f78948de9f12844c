/** The page where anybody signs up for a list. Forms on other people's pages post here as well. */
import { AppError, type FieldErrors } from '../../errors.ts';
import {
  MAX_CAPTCHA_TOKEN_CHARS,
  MAX_CONTACT_QUERY_CHARS,
  MAX_FORM_BODY_BYTES,
  MAX_FORM_NAME_CHARS,
  MAX_ORIGIN_CHARS,
} from '../../limits.ts';
import { pageResponse, seeOther } from '../../platform/http/pages.ts';
import { openRoute, type RequestContext, type Route } from '../../platform/http/routes.ts';
import { t, text } from '../../platform/http/schema.ts';
import { type Reader, readerOf } from '../../platform/words/words.ts';
import { TRAP_FIELD } from '../lists/service.ts';
import { lookOf } from './brand.ts';
import { thanksPage } from './pages.ts';
import type { SignUpPage, Subscriptions } from './service.ts';
import { formPage, isTicked, type Refused } from './sign-up-form.ts';

const captcha_token = t.Optional(text({ max: MAX_CAPTCHA_TOKEN_CHARS }));
/** What the providers' own widgets call the token. */
const WIDGET_FIELDS = ['cf-turnstile-response', 'h-captcha-response', 'g-recaptcha-response'] as const;

const form = t.Object({
  email: text({ min: 1, max: MAX_CONTACT_QUERY_CHARS }),
  first_name: t.Optional(text({ max: MAX_FORM_NAME_CHARS })),
  last_name: t.Optional(text({ max: MAX_FORM_NAME_CHARS })),
  captcha_token,
  'cf-turnstile-response': captcha_token,
  'h-captcha-response': captcha_token,
  'g-recaptcha-response': captcha_token,
  tracking: t.Optional(
    t.String({
      description:
        '`true` where a box was ticked, which was not before, that allows to count what they open and click.',
    }),
  ),
  [TRAP_FIELD]: t.Optional(t.String({ description: 'Left empty: only robots fill it.' })),
});

export function signUpPageRoutes(subscriptions: Subscriptions, tag: string): Route[] {
  const find = (ctx: RequestContext): SignUpPage => {
    const page = subscriptions.signUpPage(ctx.params.token ?? '');
    if (!page)
      throw new AppError('not_found', 'Nobody can sign up here, or no longer.', { code: 'no_sign_up_page' });
    return page;
  };
  const projectOf = ({ params }: RequestContext) =>
    subscriptions.signUpPage(params.token ?? '')?.owner.id ?? null;
  const languageOf = ({ params }: RequestContext) =>
    subscriptions.signUpPage(params.token ?? '')?.list.language ?? null;
  const readerAt = (ctx: RequestContext, { list }: SignUpPage) => readerOf(ctx.request, list.language);
  const common = { plane: 'page', path: '/join/:token', tag, projectOf, languageOf } as const;
  return [
    openRoute({
      ...common,
      method: 'GET',
      summary: 'The page where anybody signs up for a list',
      also: { 409: 'The list takes no sign-ups at the moment' },
      handle: ({ ctx }) => {
        const page = find(ctx);
        subscriptions.requireForm(page);
        return answer(200, page, readerAt(ctx, page));
      },
    }),
    openRoute({
      ...common,
      method: 'POST',
      summary: 'Sign up by the form of a page',
      description:
        'Of the page itself or of any other: a form needs no key and no script. It has the limits of `POST ' +
        '/email-lists/{list}/subscribe`, its captcha too: the token is `captcha_token`, or the field of the widget ' +
        `(${WIDGET_FIELDS.map((field) => `\`${field}\``).join(', ')}). The answer is the same page for everybody.`,
      also: {
        303: "The list's `signed_up_url`",
        409: 'The list takes no sign-ups at the moment',
        413: `The form has more than ${MAX_FORM_BODY_BYTES} bytes`,
        502: 'The captcha provider gave no answer',
      },
      form,
      before: async (ctx) => {
        find(ctx);
        if (ctx.ip !== null) await subscriptions.countVisitor(ctx.ip);
      },
      handle: async ({ ctx, form: sent }) => {
        const page = find(ctx);
        const reader = readerAt(ctx, page);
        if (!sent[TRAP_FIELD]) {
          const errors = await signUp(subscriptions, page, ctx, sent);
          if (errors) return answer(422, page, reader, { errors, typed: sent });
        }
        const { signed_up_url } = page.list;
        if (signed_up_url !== null) return seeOther(signed_up_url);
        const { status, title, content } = thanksPage(reader.words);
        return pageResponse(status, title, content, { look: lookOf(page.brand), reader });
      },
    }),
  ];
}

function answer(status: number, page: SignUpPage, reader: Reader, refused?: Refused): Response {
  const { title, content, look } = formPage(page, reader, refused);
  return pageResponse(status, title, content, { look, reader });
}

/** What is wrong with it, by field; null where it was taken. */
async function signUp(
  subscriptions: Subscriptions,
  page: SignUpPage,
  ctx: RequestContext,
  sent: typeof form.static,
): Promise<FieldErrors | null> {
  const { email, first_name = null, last_name = null } = sent;
  const token = sent.captcha_token || WIDGET_FIELDS.map((field) => sent[field]).find(Boolean);
  try {
    await subscriptions.request(
      page.owner,
      page.list,
      { email, first_name, last_name, captcha_token: token ?? null, tracking: isTicked(sent.tracking) },
      {
        ip: ctx.ip,
        origin: originOf(ctx.request) ?? page.url,
        is_test: false,
        needs_captcha: true,
      },
    );
    return null;
  } catch (error) {
    if (error instanceof AppError && error.kind === 'invalid' && error.errors) return error.errors;
    throw error;
  }
}

/**
 * The origin of the page with the form, as its browser names it; null for what is none. Ours does not tell
 * it.
 */
function originOf(request: Request): string | null {
  const origin = request.headers.get('origin') ?? '';
  const is_one =
    origin.length <= MAX_ORIGIN_CHARS && URL.canParse(origin) && new URL(origin).origin === origin;
  return is_one ? origin : null;
}
