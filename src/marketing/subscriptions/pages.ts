/** What the public pages say and hold, past the one where people sign up. Pure functions: their previews are made by the same. */
import { type Html, html, paragraphs } from '../../platform/http/pages.ts';
import type { Reader, Words } from '../../platform/words/words.ts';
import { type Choices, choicesForm } from './choices.ts';

export interface Page {
  status: number;
  title: string;
  content: Html;
}

/** Whom a page names. */
interface Names {
  email: string;
  brand: string;
}

/** Whoever presses the page's own button can take that back; a mail program's one click has no such field. */
export const OWN_BUTTON = { name: 'button', value: '1' } as const;
export const TAKE_BACK = 'take_back';

const page = (status: number, title: string, ...texts: string[]): Page => ({
  status,
  title,
  content: paragraphs(...texts),
});

/** A page with a button below its text, that posts to the page itself. */
function withButton(of: Page, words: string, hidden?: { name: string; value: string }): Page {
  const field = hidden ? html`<input type="hidden" name="${hidden.name}" value="${hidden.value}">` : '';
  const button = html`<form method="post">${field}<button type="submit">${words}</button></form>`;
  return { ...of, content: html`${of.content}${button}` };
}

export function confirmPage({ confirm: words }: Words, names: Names): Page {
  return withButton(page(200, words.title, words.question(names)), words.button);
}

export function confirmedPage({ confirm: words }: Words, names: Names): Page {
  return page(200, words.done_title, words.done(names));
}

/** Why a sign-up was not confirmed. */
export function unconfirmedPage({ confirm: words }: Words, names: Names, why: 'closed' | 'left'): Page {
  return page(409, words.unchanged_title, why === 'closed' ? words.closed : words.left(names));
}

export function unknownConfirmPage({ confirm: words }: Words): Page {
  return page(404, words.unknown_title, words.unknown);
}

/** `choices` is null for an address that has none. */
export function unsubscribePage(reader: Reader, names: Names, choices: Choices | null): Page {
  const { unsubscribe: words } = reader.words;
  const asks = withButton(page(200, words.title, words.question(names)), words.button, OWN_BUTTON);
  return choices ? { ...asks, content: html`${asks.content}\n${choicesForm(choices, reader)}` } : asks;
}

/** `value` takes it back on this page; null where that is not offered. */
export function unsubscribedPage({ unsubscribe: words }: Words, names: Names, value: string | null): Page {
  const done = page(200, words.done_title, words.done(names));
  if (value === null) return done;
  const offered = { ...done, content: html`${done.content}\n${paragraphs(words.oops)}` };
  return withButton(offered, words.take_back, { name: TAKE_BACK, value });
}

export function takenBackPage({ unsubscribe: words }: Words, names: Names, is_back: boolean): Page {
  return is_back
    ? page(200, words.back_title, words.back(names))
    : page(409, words.too_late_title, words.too_late(names));
}

/** `is_test`: of a link that acts for nobody. */
export function unknownUnsubscribePage({ unsubscribe: words }: Words, is_test: boolean): Page {
  return is_test ? page(200, words.test_title, words.test) : page(404, words.unknown_title, words.unknown);
}

/** `asked_to_confirm`: names of lists that a mail asks about. */
export function savedPage(
  { choices: words }: Words,
  names: Names,
  asked_to_confirm: readonly string[],
): Page {
  const asked = asked_to_confirm.map((list) => words.confirm({ list }));
  return page(200, words.done_title, words.done(names), ...asked);
}

export function thanksPage({ join: words }: Words): Page {
  return page(200, words.thanks_title, words.thanks);
}
