/** A mail as its reader sees it: links stand as they were written, and nothing is stored. Pure functions. */
import { invalid } from '../../errors.ts';
import { fillParts, type MergeContact, ownLinks, type Values } from './merge-fields.ts';
import { refusalOfMissing, refusalOfSize, refusalOfSubject, subjectOf, valuesOf } from './merging.ts';
import { composeSource, type Part, type SourceInput } from './source.ts';

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
  /** The link of a mail that nobody is to unsubscribe by. */
  unsubscribe_url: string;
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
  const { source, preheader } = composeSource({ ...input, is_tracked: false });
  const { values, missing } = valuesOf(source, default_first_name, contact);
  const holes = Object.fromEntries(missing.map((name) => [name, `{{${name}}}`]));
  const email = contact?.email ?? SAMPLE_ADDRESS;
  const all = { ...holes, ...values, email, ...ownLinks(of.unsubscribe_url) };
  const { html, text } = source;
  refuseLong({ body_html: html, body_text: text }, all, of.max_body_bytes);
  return {
    subject: subjectOf(source, all),
    preheader: preheader && html && fillParts(preheader, all),
    body_html: html && fillParts(html, all, Bun.escapeHTML),
    body_text: text && fillParts(text, all),
    missing,
  };
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
export function outlookOf({ input, default_first_name, contact }: ToShow): MailOutlook {
  const { source, preheader } = composeSource({ ...input, is_tracked: true });
  const { values, missing } = valuesOf(source, default_first_name, contact);
  if (missing.length > 0) return { ...UNSEEN, refusal: refusalOfMissing(missing) };
  const all = { ...values, email: contact?.email ?? SAMPLE_ADDRESS, ...ownLinks('') };
  const subject = subjectOf(source, all);
  const shown = preheader && source.html && fillParts(preheader, all);
  return { subject, preheader: shown, refusal: refusalOfSubject(subject) };
}
