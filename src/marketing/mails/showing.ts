/** A mail as its reader sees it: links stand as they were written, and nothing is stored. Pure functions. */
import { invalid } from '../../errors.ts';
import { splitAtLinks } from '../../mail/templates/service.ts';
import { Html, html, pageText } from '../../platform/http/pages.ts';
import { fillParts, type MergeContact, type OwnLinks, type Values } from './merge-fields.ts';
import { refusalOfMissing, refusalOfSize, refusalOfSubject, subjectOf, valuesOf } from './merging.ts';
import { composeSource, type Part, partsOfPage, type Source, type SourceInput } from './source.ts';

/** A mail as its reader sees it. */
export interface ShownMail {
  subject: string;
  /** Null where there is none, and where the mail has no HTML to hide it in. */
  preheader: string | null;
  body_html: string | null;
  body_text: string | null;
  /** Merge fields that there is no value for. */
  missing: string[];
}

/** What an inbox shows of a mail, and why there would be none. */
export interface MailOutlook {
  subject: string | null;
  preheader: string | null;
  refusal: string | null;
}
export const UNSEEN: MailOutlook = { subject: null, preheader: null, refusal: null };

/** What a mail is shown from. */
export interface ToShow {
  input: Omit<SourceInput, 'is_tracked'>;
  default_first_name: string;
  /** Null: samples. */
  contact: (MergeContact & { email: string }) | null;
  /** Those of a mail that is nobody's. */
  links: OwnLinks;
  max_body_bytes: number;
}

type ShownContact = NonNullable<ToShow['contact']>;

/** What of a contact a mail needs. */
export function mergedContact({
  email,
  first_name,
  last_name,
  custom,
  contact_token,
}: ShownContact): ShownContact {
  return { email, first_name, last_name, custom, contact_token };
}

/** To whom a mail goes that is only looked at. */
const SAMPLE_ADDRESS = 'ann@example.com';

/**
 * A value that is missing shows as its placeholder, and is named. Throws AppError `invalid` for a body that
 * could not be sent, as its values make it too long.
 */
export function showMail({ input, default_first_name, contact, ...of }: ToShow): ShownMail {
  const { source } = composeSource({ ...input, is_tracked: false });
  const { values, missing } = valuesOf(source, default_first_name, contact);
  const holes = Object.fromEntries(missing.map((name) => [name, `{{${name}}}`]));
  const email = contact?.email ?? SAMPLE_ADDRESS;
  const all = { ...holes, ...values, email, ...of.links };
  const { html, text, preheader } = source;
  refuseLong({ body_html: html, body_text: text }, all, of.max_body_bytes);
  return {
    subject: subjectOf(source, all),
    preheader: preheader && fillParts(preheader, all),
    body_html: html && fillParts(html, all, Bun.escapeHTML),
    body_text: text && fillParts(text, all),
    missing,
  };
}

/** What a page is made from that shows a mail: its source as it is stored, and its values. */
export interface ToFill {
  content: string;
  values: Values;
  max_body_bytes: number;
}

/** The HTML of that page: the mail's own, or a page with its text. Throws as `showMail` does. */
export function fillPage({ content, values, max_body_bytes }: ToFill): string {
  const source = JSON.parse(content) as Source; // Written by MarketingMail alone.
  const body_html = source.html && partsOfPage(source.html);
  const body_text = partsOfPage(source.text ?? []);
  refuseLong(body_html ? { body_html } : { body_text }, values, max_body_bytes);
  if (body_html) return fillParts(body_html, values, Bun.escapeHTML);
  const parts = splitAtLinks(fillParts(body_text, values)).map((part, index) =>
    index % 2 === 0 ? html`${part}` : html`<a href="${part}">${part}</a>`,
  );
  const pre = html`<pre dir="auto">${new Html(parts.map(({ text }) => text).join(''))}</pre>`;
  return pageText(subjectOf(source, values), pre);
}

/** Before it is built: a short template can repeat a long value. */
function refuseLong(
  bodies: Readonly<Record<string, readonly Part[] | null>>,
  values: Values,
  max_bytes: number,
): void {
  for (const [field, parts] of Object.entries(bodies)) {
    const chars = parts?.reduce<number>((sum, part) => sum + fillParts([part], values).length, 0) ?? 0;
    if (chars > max_bytes) throw invalid({ [field]: [refusalOfSize(max_bytes)] });
  }
}

/** Its subject and preheader, null where they can't be made, and why the mail can't, as far as its values are at fault. */
export function outlookOf({ input, default_first_name, contact, links }: ToShow): MailOutlook {
  const { source } = composeSource({ ...input, is_tracked: true });
  const { values, missing } = valuesOf(source, default_first_name, contact);
  if (missing.length > 0) return { ...UNSEEN, refusal: refusalOfMissing(missing) };
  const all = { ...values, email: contact?.email ?? SAMPLE_ADDRESS, ...links };
  const subject = subjectOf(source, all);
  return {
    subject,
    preheader: source.preheader && fillParts(source.preheader, all),
    refusal: refusalOfSubject(subject),
  };
}
