/** The form of the page where anybody signs up for a list. A pure function: its preview is made by the same. */
import type { FieldErrors } from '../../errors.ts';
import { MAX_ADDRESS_CHARS, MAX_FORM_NAME_CHARS } from '../../limits.ts';
import { Html, html, type PageLook } from '../../platform/http/pages.ts';
import type { Reader } from '../../platform/words/words.ts';
import { TRAP_FIELD } from '../lists/service.ts';
import { lookOf } from './brand.ts';
import type { Page } from './pages.ts';
import type { SignUpPage } from './service.ts';

/** What it is made of. */
type FormOf = Pick<SignUpPage, 'brand' | 'widget' | 'asks_for_tracking'> & {
  list: Pick<SignUpPage['list'], 'name' | 'signed_up_url'>;
};

/** A box without a value of its own sends `on`. */
export function isTicked(sent: string | undefined): boolean {
  return sent === 'true' || sent === 'on';
}

const attributeOf = (typed: string | undefined): Html => (typed ? html` value="${typed}"` : new Html(''));

/** What was refused stands in the form again, to be mended there. */
export interface Refused {
  errors: FieldErrors;
  typed: { email?: string | undefined; first_name?: string | undefined; tracking?: string | undefined };
}

/** The page with the form, as nobody has filled it or with what was refused. */
export function formPage(
  { list, brand, widget, asks_for_tracking }: FormOf,
  reader: Reader,
  { errors, typed }: Refused = { errors: {}, typed: {} },
): Page & { look: PageLook } {
  const words = reader.words.join;
  const problems = Object.entries(words.wrong).flatMap(([field, problem]) =>
    Object.hasOwn(errors, field) ? [html`<p role="alert">${problem}</p>`.text] : [],
  );
  const action = widget?.action ? html` data-action="${widget.action}"` : new Html('');
  const captcha =
    widget === null
      ? new Html('')
      : html`<p class="${widget.class_name}" data-sitekey="${widget.site_key}"${action}></p>
<script src="${widget.script}" async defer></script>`;
  const tracking = asks_for_tracking
    ? html`<label class="check"><input type="checkbox" name="tracking" value="true"${new Html(isTicked(typed.tracking) ? ' checked' : '')}> ${words.tracking}</label>`
    : new Html('');
  const look: PageLook = {
    ...lookOf(brand, list.signed_up_url),
    ...(widget === null ? {} : { script_origin: widget.origin }),
  };
  return {
    status: 200,
    title: words.title({ list: list.name }),
    content: html`${new Html(problems.join('\n'))}
<form method="post">
<label>${words.email} <input type="email" name="email" required maxlength="${MAX_ADDRESS_CHARS}" autocomplete="email"${attributeOf(typed.email)}></label>
<label>${words.first_name} <input name="first_name" maxlength="${MAX_FORM_NAME_CHARS}" autocomplete="given-name"${attributeOf(typed.first_name)}></label>
${tracking}
<p class="trap" aria-hidden="true"><label>${words.trap} <input name="${TRAP_FIELD}" tabindex="-1" autocomplete="off"></label></p>
${captcha}
<button type="submit">${words.button}</button>
</form>
<p>${words.promise({ brand: brand.name })}</p>`,
    look,
  };
}
