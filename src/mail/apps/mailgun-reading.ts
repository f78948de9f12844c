/** In the thread of apps: what a call to Mailgun asks to be sent: one message for all recipients, or with `recipient-variables` a mail for each. */
import { DAY_MS } from '../../platform/host/clock.ts';
import { hasControls } from '../../platform/mail/address.ts';
import type { Piece } from './composing.ts';
import { type MailgunForm, readForm } from './mailgun-form.ts';
import { fillField, namesIn, type RecipientValues, readVariables } from './mailgun-recipients.ts';
import { distinctParties, MAX_RECIPIENTS, partyOf, refusalOfField, Unfit } from './reading.ts';
import type { Bulk, Outgoing, OutgoingFile, Party } from './schemas.ts';

/** Decision: recipients of one call with `recipient-variables`, as Mailgun has it; so the next two. */
const MAX_BULK_RECIPIENTS = 1_000;
const MAX_TAGS = 10;
const MAX_OPTIONS_BYTES = 16 * 1024;
const MAX_TAG_CHARS = 128;
/** Decision: how far ahead a call may be delivered. */
const MAX_AHEAD_MS = 7 * DAY_MS;
/** A header field with values put in. */
const MAX_FILLED_CHARS = 2_000;

const FIELDS = new Set(
  'from to cc bcc subject html text recipient-variables attachment inline message o:tag o:deliverytime o:testmode o:tracking o:tracking-opens'.split(
    ' ',
  ),
);
const REFUSED = /^(template|amp-html|t:.*)$/;
/** Links that Mailgun would make. */
const UNSUBSCRIBE = /%(?:tag_)?unsubscribe_(?:email|url)%/;
const UNSUBSCRIBE_ALONE = /^\s*<?\s*(?:mailto:)?%(?:tag_)?unsubscribe_(?:email|url)%\s*>?\s*$/;
const MESSAGE_ID = /^<[^<>\s@]{1,128}@[^<>\s@]{1,128}>$/;

/** Reads a request to send. Throws Unfit. */
export async function readMailgun(piece: Piece): Promise<Outgoing[] | Bulk> {
  const form = await readForm(piece.body, piece.content_type);
  refuseUnknown(form);
  const variables = readVariables(one(form, 'recipient-variables'));
  if (piece.path.endsWith('.mime')) {
    if (variables) throw unfit('recipient-variables', 'are not for a message that came whole: use /messages');
    return [{ ...commonOf(form, piece), ...wholeOf(form) }];
  }
  return variables ? readBulk(form, piece, variables) : [readOne(form, piece)];
}

function unfit(field: string, why: string): Unfit {
  return new Unfit('form', `${field}: ${why}`);
}

const one = ({ fields }: MailgunForm, name: string): string | undefined => fields.get(name)?.at(-1);

function refuseUnknown({ fields, files }: MailgunForm): void {
  for (const name of [...fields.keys(), ...files.map(({ field }) => field)])
    if (REFUSED.test(name)) throw unfit(name, 'is not had here: send html or text');
  const options = [...fields].filter(([name]) => /^[ovh]:/.test(name));
  const bytes = options.reduce((sum, [name, values]) => sum + Buffer.byteLength(name + values.join('')), 0);
  if (bytes > MAX_OPTIONS_BYTES)
    throw new Unfit('form', `The fields h:, v: and o: may have ${MAX_OPTIONS_BYTES} bytes, all together.`);
}

/* --- What every call may say ------------------------------------------------------------------------------------ */

function commonOf(form: MailgunForm, { now_ms }: Piece) {
  const named = (prefix: string): [string, string][] =>
    [...form.fields].flatMap(([name, values]) =>
      name.startsWith(prefix)
        ? values.map((value): [string, string] => [name.slice(prefix.length), value])
        : [],
    );
  const tags = form.fields.get('o:tag') ?? [];
  if (tags.length > MAX_TAGS || tags.some((tag) => tag.length > MAX_TAG_CHARS || hasControls(tag)))
    throw unfit('o:tag', `there may be ${MAX_TAGS}, of ${MAX_TAG_CHARS} characters each`);
  return {
    is_test: isYes(form, 'o:testmode'),
    scheduled_at: deliveryTime(one(form, 'o:deliverytime'), now_ms),
    extra: { tags: [...new Set(tags)], variables: Object.fromEntries(named('v:')) },
    ignored: [...form.fields.keys()].filter((name) => !FIELDS.has(name) && !/^[hv]:/.test(name)),
    named_headers: named('h:'),
  };
}

function isYes(form: MailgunForm, name: string): boolean {
  const said = one(form, name)?.toLowerCase() ?? 'no';
  if (['yes', 'true', 'htmlonly'].includes(said)) return true;
  if (['no', 'false', ''].includes(said)) return false;
  throw unfit(name, 'must be yes or no');
}

const hasPicture = (form: MailgunForm): boolean =>
  isYes(form, 'o:tracking-opens') && (one(form, 'o:tracking') === undefined || isYes(form, 'o:tracking'));

/** Null for a time that is past. */
function deliveryTime(said: string | undefined, now_ms: number): number | null {
  if (said === undefined) return null;
  const at = Date.parse(said);
  if (Number.isNaN(at))
    throw unfit('o:deliverytime', 'must be a date as in mail, such as Fri, 14 Oct 2033 23:10:10 +0000');
  if (at > now_ms + MAX_AHEAD_MS) throw unfit('o:deliverytime', 'may be seven days ahead at most');
  return at <= now_ms ? null : at;
}

function partiesOf(form: MailgunForm, field: string): Party[] {
  return (form.fields.get(field) ?? []).flatMap(splitAddresses).map((text) => {
    const party = partyOf(text);
    if (!party) throw unfit(field, 'must hold email addresses, such as Ann <ann@example.org>');
    return party;
  });
}

/** At the commas that stand outside of quotation marks and angles. */
export function splitAddresses(text: string): string[] {
  const found: string[] = [];
  let from = 0;
  let closed_by = '';
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (char === '\\') at += 1;
    else if (char === closed_by) closed_by = '';
    else if (closed_by !== '') continue;
    else if (char === '"' || char === '<') closed_by = char === '"' ? '"' : '>';
    else if (char === ',') {
      found.push(text.slice(from, at));
      from = at + 1;
    }
  }
  return [...found, text.slice(from)].map((piece) => piece.trim()).filter((piece) => piece !== '');
}

function senderOf(form: MailgunForm): Party {
  const sender = partyOf(one(form, 'from') ?? '');
  if (!sender) throw unfit('from', 'must be one email address, such as Shop <news@example.org>');
  return sender;
}

/** The fields of `h:` but for those that are read apart, in lower case. */
function headersOf(named: readonly [string, string][], ...apart: readonly string[]) {
  return named.flatMap(([key, sent]) => {
    const lower = key.toLowerCase();
    if (apart.includes(lower)) return [];
    const value = lower === 'list-unsubscribe' ? withoutMailgunLinks(sent) : sent;
    refuseMailgunLinks(`h:${key}`, value);
    const why = refusalOfField(key, value, 'sender', 'reply-to', 'message-id');
    if (why !== null) throw unfit(`h:${key}`, why);
    return value === '' ? [] : [{ key, value }];
  });
}

/** A List-Unsubscribe without the links that Mailgun would make: there is a page of the app's own in it. */
function withoutMailgunLinks(value: string): string {
  return value
    .split(',')
    .filter((link) => !UNSUBSCRIBE_ALONE.test(link))
    .join(',')
    .trim();
}

function refuseMailgunLinks(field: string, text: string | null): void {
  if (text !== null && UNSUBSCRIBE.test(text))
    throw unfit(field, "unsubscribe links are not made here: put your own in place of Mailgun's");
}

function bodiesOf(form: MailgunForm): { subject: string; html: string | null; text: string | null } {
  const [subject = '', html, text] = ['subject', 'html', 'text'].map((name) => one(form, name));
  for (const [field, sent] of Object.entries({ subject, html, text }))
    refuseMailgunLinks(field, sent ?? null);
  if (!html && !text) throw unfit('html', 'or text is required');
  return { subject, html: html || null, text: text || null };
}

function filesOf(form: MailgunForm): (OutgoingFile & { content: Buffer })[] {
  return form.files.flatMap(({ field, file }) => {
    if (field !== 'attachment' && field !== 'inline') return [];
    const filename = file.filename ?? 'file';
    if (hasControls(filename)) throw unfit(field, 'a file name must have no control characters');
    return [{ ...file, filename, content_id: field === 'inline' ? filename : null }];
  });
}

/* --- One message ------------------------------------------------------------------------------------------------ */

function readOne(form: MailgunForm, piece: Piece): Outgoing {
  const { named_headers, ...common } = commonOf(form, piece);
  const bodies = bodiesOf(form);
  const [to, cc, bcc] = ['to', 'cc', 'bcc'].map((field) => partiesOf(form, field));
  const recipients = distinctParties([...(to ?? []), ...(cc ?? []), ...(bcc ?? [])]);
  refuseCount(recipients.length, MAX_RECIPIENTS, ' without recipient-variables');
  const picture = recipients.length === 1 && bodies.html !== null && hasPicture(form) ? piece.picture : null;
  const namedValue = (name: string): string | undefined =>
    named_headers.findLast(([key]) => key.toLowerCase() === name)?.[1];
  const message_id = namedValue('message-id');
  if (message_id !== undefined) requireMessageId(message_id);
  return {
    ...common,
    ...bodies,
    html: bodies.html && cutAtEnd(bodies.html).join(picture?.html ?? ''),
    email_id: picture?.email_id,
    from: senderOf(form),
    to: to ?? [],
    cc: cc ?? [],
    bcc: bcc ?? [],
    reply_to: replyTo(namedValue('reply-to')),
    headers: headersOf(named_headers, 'reply-to', 'message-id'),
    files: filesOf(form),
    ...(message_id === undefined ? {} : { message_id }),
    parties: {},
  };
}

function refuseCount(count: number, most: number, where: string): void {
  if (count === 0) throw unfit('to', 'is required: one address at least');
  if (count > most) throw unfit('to', `may have ${most} recipients${where} (got ${count})`);
}

function replyTo(value: string | undefined): Party[] {
  return value === undefined
    ? []
    : splitAddresses(value).map((text) => {
        const party = partyOf(text);
        if (!party) throw unfit('h:Reply-To', 'must hold email addresses');
        return party;
      });
}

function requireMessageId(value: string): void {
  if (!MESSAGE_ID.test(value)) throw unfit('h:Message-Id', 'must be like <name@example.org>');
}

/** A message that came whole, with those to whom it goes. */
function wholeOf(form: MailgunForm) {
  const file = form.files.find(({ field }) => field === 'message')?.file.content;
  const raw = file ?? Buffer.from(one(form, 'message') ?? '');
  if (raw.length === 0) throw unfit('message', 'is required: a MIME message');
  const to = partiesOf(form, 'to');
  refuseCount(distinctParties(to).length, MAX_RECIPIENTS, '');
  return { ...NOTHING, to, raw };
}

const NOTHING = {
  from: { address: '', name: null },
  cc: [],
  bcc: [],
  reply_to: [],
  subject: '',
  html: null,
  text: null,
  headers: [],
  files: [],
  parties: {},
};

/** A page up to where a picture stands that tells of an opening, and behind that. */
export function cutAtEnd(html: string): [string, string] {
  const end = html.toLowerCase().lastIndexOf('</body');
  return end < 0 ? [html, ''] : [html.slice(0, end), html.slice(end)];
}

/* --- A mail for each ------------------------------------------------------------------------------------------- */

function readBulk(form: MailgunForm, piece: Piece, variablesOf: (address: string) => RecipientValues): Bulk {
  const { named_headers, ...common } = commonOf(form, piece);
  const bodies = bodiesOf(form);
  for (const field of ['cc', 'bcc'])
    if (form.fields.has(field)) throw unfit(field, 'is not had beside recipient-variables');
  const to = distinctParties(partiesOf(form, 'to'));
  refuseCount(to.length, MAX_BULK_RECIPIENTS, '');
  const headers = headersOf(named_headers, 'message-id');
  const message_id = named_headers.findLast(([key]) => key.toLowerCase() === 'message-id')?.[1] ?? null;
  const names = namesIn(bodies.html, bodies.text);
  const own_bytes = Math.max(Buffer.byteLength(bodies.html ?? ''), Buffer.byteLength(bodies.text ?? ''));
  const recipients = to.map((party) => {
    const all = variablesOf(party.address);
    const values = Object.fromEntries(Object.entries(all).filter(([name]) => names.has(name)));
    const put_in = Object.entries(values).reduce(
      (sum, [name, value]) => sum + Buffer.byteLength(value) * (names.get(name) ?? 0),
      own_bytes,
    );
    if (put_in > piece.max_body_bytes)
      throw unfit('html', `has more than ${piece.max_body_bytes} bytes once a recipient's values are put in`);
    const filled = headers.map(({ key, value }) => [key, filledField(key, value, all)]);
    const own_id = message_id === null ? null : fillField(message_id, all);
    if (own_id !== null) requireMessageId(own_id);
    return {
      to: party,
      subject: fillField(bodies.subject, all),
      headers: Object.fromEntries(filled),
      message_id: own_id,
      values,
    };
  });
  const has_picture = bodies.html !== null && hasPicture(form);
  return {
    ...common,
    ...bodies,
    from: senderOf(form),
    files: filesOf(form),
    message_id,
    has_picture,
    recipients,
  };
}

function filledField(key: string, value: string, values: RecipientValues): string {
  const filled = fillField(value, values);
  if (filled.length > MAX_FILLED_CHARS)
    throw unfit(
      `h:${key}`,
      `has more than ${MAX_FILLED_CHARS} characters once a recipient's values are put in`,
    );
  return filled;
}
