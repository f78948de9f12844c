/** What requests to Resend ask to be sent, read in the thread of apps. */
import { parseJson } from '../../platform/http/body.ts';
import { isPlainObject } from '../../platform/http/schema.ts';
import { parseDateTime } from '../../platform/http/validation.ts';
import { hasControls } from '../../platform/mail/address.ts';
import type { Piece } from './composing.ts';
import { INVALID_ATTACHMENT, MAX_RECIPIENTS, partyOf, refusalOfField, Unfit } from './reading.ts';
import type { Outgoing, OutgoingFile, Party } from './schemas.ts';

export const MISSING_FIELD = 'missing_required_field';
export const BATCH_PATH = '/emails/batch';
/** Decision: messages of one batch. */
const MAX_BATCH = 100;
/** Decision: recipients of one batch. All are accepted in one transaction, and nobody waits 100 ms for it. */
const MAX_BATCH_RECIPIENTS = 1_000;
const MAX_TAG_CHARS = 256;
const MAX_CONTENT_ID_CHARS = 128;

type Fields = Readonly<Record<string, unknown>>;

const unfit = (message: string): Unfit => new Unfit('validation_error', message);
const missing = (message: string): Unfit => new Unfit(MISSING_FIELD, message);
const attachmentUnfit = (message: string): Unfit => new Unfit(INVALID_ATTACHMENT, message);

/** The messages that a request asks for. Throws Unfit, and AppError `invalid` for what is no JSON. */
export function readResend({ path, body }: Piece): Outgoing[] {
  const sent = parseJson(body);
  if (!path.endsWith(BATCH_PATH)) return [readMessage(sent)];
  if (!Array.isArray(sent) || sent.length < 1 || sent.length > MAX_BATCH)
    throw unfit(`The body must be an array of 1 to ${MAX_BATCH} emails.`);
  const messages = sent.map((one: unknown, index) => {
    try {
      return readMessage(one, ['attachments', 'scheduled_at']);
    } catch (error) {
      if (!(error instanceof Unfit)) throw error;
      throw new Unfit(error.code ?? '', `Email ${index + 1} of the batch: ${error.message}`);
    }
  });
  const count = messages.reduce((sum, { to, cc, bcc }) => sum + to.length + cc.length + bcc.length, 0);
  if (count > MAX_BATCH_RECIPIENTS)
    throw unfit(`A batch may have ${MAX_BATCH_RECIPIENTS} recipients in all, and has ${count}.`);
  return messages;
}

function readMessage(sent: unknown, not_here: readonly string[] = []): Outgoing {
  if (!isPlainObject(sent)) throw unfit('An email must be a JSON object.');
  for (const name of not_here)
    if (isGiven(sent[name])) throw unfit(`\`${name}\` can't be in a batch: send such an email by itself.`);
  if (isGiven(sent.template))
    throw unfit('`template` names one at Resend, of which nothing is known here: send `html` or `text`.');
  for (const name of ['from', 'to', 'subject'])
    if (!isGiven(sent[name])) throw missing(`\`${name}\` is required.`);
  const [html, text] = [textOf(sent, 'html'), textOf(sent, 'text')];
  if (html === null && text === null) throw missing('`html` or `text` is required.');
  const to = listOf(sent, 'to');
  const cc = listOf(sent, 'cc');
  const bcc = listOf(sent, 'bcc');
  const reply_to = listOf(sent, 'reply_to');
  const count = to.length + cc.length + bcc.length;
  if (to.length === 0) throw missing('`to` is required.');
  if (count > MAX_RECIPIENTS)
    throw unfit(
      `\`to\`, \`cc\` and \`bcc\` may have ${MAX_RECIPIENTS} addresses together, and have ${count}.`,
    );
  return {
    // One that is no address is refused as any other that is no mailbox.
    from: partyOf(textOf(sent, 'from') ?? '') ?? { address: '', name: null },
    to: partiesOf('to', to),
    cc: partiesOf('cc', cc),
    bcc: partiesOf('bcc', bcc),
    reply_to: partiesOf('reply_to', reply_to),
    subject: textOf(sent, 'subject') ?? '',
    html,
    text,
    headers: headersOf(sent.headers),
    files: itemsOf(sent, 'attachments').map(fileOf),
    scheduled_at: isGiven(sent.scheduled_at) ? readMoment(sent.scheduled_at) : null,
    parties: { to, cc, bcc, reply_to },
    extra: { tags: itemsOf(sent, 'tags').map(tagOf) },
  };
}

/** SDKs send null, or an empty text, for what was left out. */
const isGiven = (value: unknown): boolean => value !== undefined && value !== null && value !== '';

function textOf(sent: Fields, name: string): string | null {
  const value = sent[name];
  if (!isGiven(value)) return null;
  if (typeof value !== 'string') throw unfit(`\`${name}\` must be a text.`);
  return value;
}

/** A text, or a list of texts. */
function listOf(sent: Fields, name: string): string[] {
  const value = sent[name];
  if (!isGiven(value)) return [];
  const entries: unknown[] = Array.isArray(value) ? value : [value];
  return entries.map((entry) => {
    if (typeof entry !== 'string') throw unfit(`\`${name}\` must be a text, or an array of texts.`);
    return entry;
  });
}

function itemsOf(sent: Fields, name: string): Fields[] {
  const value = sent[name];
  if (!isGiven(value)) return [];
  if (!Array.isArray(value) || !value.every(isPlainObject))
    throw unfit(`\`${name}\` must be an array of objects.`);
  return value;
}

function partiesOf(name: string, texts: readonly string[]): Party[] {
  return texts.map((text, index) => {
    const party = partyOf(text);
    if (party) return party;
    throw unfit(
      `Entry ${index + 1} of \`${name}\` must be one address, such as ann@example.com or Ann <ann@example.com>.`,
    );
  });
}

/** ISO 8601, in the future. Throws Unfit. */
export function readMoment(value: unknown): number {
  const at = typeof value === 'string' ? parseDateTime(value) : null;
  if (at === null)
    throw unfit(
      '`scheduled_at` must be an ISO 8601 date-time, such as 2030-01-31T09:00:00Z: words such as `in 1 min` are not read here.',
    );
  return at;
}

function headersOf(value: unknown): Outgoing['headers'] {
  if (!isGiven(value)) return [];
  if (!isPlainObject(value)) throw unfit('`headers` must be an object of names and texts.');
  return Object.entries(value).map(([key, text]) => {
    if (typeof text !== 'string')
      throw unfit(`\`headers\`: the value of ${JSON.stringify(key)} must be a text.`);
    const refusal = refusalOfField(key, text);
    if (refusal !== null) throw unfit(`\`headers\`: ${JSON.stringify(key)} ${refusal}.`);
    return { key, value: text };
  });
}

function tagOf(tag: Fields): { name: string; value: string } {
  const [name, value] = [tag.name, tag.value];
  const isFit = (text: unknown): text is string =>
    typeof text === 'string' && text.length <= MAX_TAG_CHARS && /^[A-Za-z0-9_-]+$/.test(text);
  if (isFit(name) && isFit(value)) return { name, value };
  throw unfit(
    `A tag's \`name\` and \`value\` must each have 1 to ${MAX_TAG_CHARS} letters (ASCII), digits, _ and -.`,
  );
}

function fileOf(file: Fields): OutgoingFile {
  const given = (name: string): string | null => {
    const value = file[name];
    if (!isGiven(value)) return null;
    if (typeof value === 'string' && !hasControls(value)) return value;
    throw attachmentUnfit(`An attachment's \`${name}\` must be a text of one line.`);
  };
  const [filename, path, mime_type] = [given('filename'), given('path'), given('content_type')];
  const content_id = given('content_id')?.replace(/^<|>$/g, '') ?? null;
  if (mime_type !== null && !/^[\w!#$&^.+-]+\/[\w!#$&^.+-]+\s*(;|$)/.test(mime_type))
    throw attachmentUnfit("An attachment's `content_type` must be one such as application/pdf.");
  if (content_id !== null && !(content_id.length <= MAX_CONTENT_ID_CHARS && /^[!-~]+$/.test(content_id)))
    throw attachmentUnfit(
      `An attachment's \`content_id\` must have 1 to ${MAX_CONTENT_ID_CHARS} ASCII characters, and no space.`,
    );
  const { content } = file;
  const has_content = content !== undefined && content !== null;
  if (has_content === (path !== null))
    throw attachmentUnfit('An attachment must have either `content` or `path`.');
  if (path !== null) return { filename, mime_type, content_id, content: { object: path } };
  if (filename === null) throw attachmentUnfit('An attachment with `content` must have a `filename`.');
  return { filename, mime_type, content_id, content: bytesOf(content) };
}

function bytesOf(content: unknown): Buffer {
  const digits = typeof content === 'string' ? content.replace(/\s+/g, '') : null;
  // Four digits are three bytes: one alone is none.
  if (digits !== null && /^[A-Za-z0-9+/]*={0,2}$/.test(digits) && digits.replace(/=+$/, '').length % 4 !== 1)
    return Buffer.from(digits, 'base64');
  throw attachmentUnfit("An attachment's `content` must be base64.");
}
