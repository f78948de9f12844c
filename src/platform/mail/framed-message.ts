/**
 * Composes mails that share a frame. MailComposer makes their message once, with marks for the values, and
 * each mail fills in its own. Headers that a mail may have of its own are made for each.
 */
import MimeNode from 'nodemailer/lib/mime-node';
import { encode, wrap } from 'nodemailer/lib/qp';
import {
  buildMime,
  buildTexts,
  type ComposedMessage,
  checkHead,
  composeMessage,
  keepLookalikes,
  signMessage,
  toAddress,
  toCrlf,
} from './message.ts';
import { fillFrame, type KeyedContent, type MailFrame, type MailHead } from './types.ts';

/** Of quoted-printable (RFC 2045 6.7), without the `=` of a soft line break. */
const MAX_LINE_CHARS = 75;
/** Stays as it is in quoted-printable, wherever in a line it stands. */
const AS_IT_IS = /^[!-<>-~](?:[ -<>-~]{0,73}[!-<>-~])?$/;

/** What stands between two texts of a mould: a value within HTML or text, or the boundary between parts. */
type Hole = { in: 'html' | 'text'; value: number } | { in: 'boundary' };

/** The MIME headers and the body of a message, cut at its holes: one text more than holes. */
interface Mould {
  texts: string[];
  holes: Hole[];
}

export class FramedMessages {
  /** Null where a mail of this frame is composed as any other. */
  #mould: Mould | null | undefined;

  constructor(private readonly frame: MailFrame) {}

  /** As composeMessage does, and throws as that does. */
  async compose(content: KeyedContent): Promise<ComposedMessage> {
    const { values, attachments } = content;
    checkHead(content);
    if (this.#mould === undefined) this.#mould = castMould(this.frame);
    const mould = this.#mould;
    const is_fit = mould && attachments.length === 0 && values.every(isSafeBesideOthers);
    if (!is_fit) return composeMessage({ ...content, ...fillFrame({ frame: this.frame, values }) });
    // As UTF-8, since some relays take addresses in other scripts (RFC 6531).
    const message = Buffer.from(`${fieldsOf(content)}\r\n${fillMould(mould, values, this.frame)}`);
    return signMessage(() => [message], content.dkim);
  }
}

function castMould(frame: MailFrame): Mould | null {
  const { html, text } = frame;
  // A derived text part depends on the values' lengths, and an empty part is left out.
  if (text === null || ![text, html ?? text].every(hasSafeTexts)) return null;
  const boundary = crypto.randomUUID();
  // On lines of their own no mark is broken by a soft line break; those lines' breaks become soft ones.
  const marked = (of: 'html' | 'text', parts: readonly (string | number)[]): string =>
    parts.map((part) => (typeof part === 'string' ? part : `\r\n${of}-${boundary}-${part}\r\n`)).join('');
  const root = buildMime(
    { ...NOBODY, text: marked('text', text), html: html && marked('html', html) },
    boundary,
  );
  for (const leaf of root.childNodes.length > 0 ? root.childNodes : [root])
    leaf.setHeader('Content-Transfer-Encoding', 'quoted-printable');
  const message = buildTexts(root).toString('latin1');
  const head_end = message.indexOf('\r\n\r\n');
  const fields = message.slice(0, head_end).split(/\r\n(?![ \t])/);
  const mime_fields = fields.filter((field) => /^(mime-version|content-)/i.test(field));
  const mould = cutAtMarks(mime_fields.join('\r\n') + message.slice(head_end), boundary);
  const count = [...text, ...(html ?? [])].filter((part) => typeof part === 'number').length;
  return mould.holes.filter((hole) => hole.in !== 'boundary').length === count ? mould : null;
}

/**
 * Whether texts made apart and then joined equal those made together: line breaks may be CR, LF or both, and
 * a character may be two units. A body that may come out empty is MailComposer's, which leaves such a part
 * out.
 */
function hasSafeTexts(parts: readonly (string | number)[]): boolean {
  const texts = parts.filter((part) => typeof part === 'string');
  return texts.some((text) => text !== '') && texts.every(isSafeBesideOthers);
}

function isSafeBesideOthers(text: string): boolean {
  return !text.endsWith('\r') && text.isWellFormed();
}

function cutAtMarks(message: string, boundary: string): Mould {
  const texts: string[] = [];
  const holes: Hole[] = [];
  let from = 0;
  const marks = new RegExp(`\\r\\n(html|text)-${boundary}-(\\d+)\\r\\n|${boundary}`, 'g');
  for (const { 0: mark, 1: part, 2: value, index } of message.matchAll(marks)) {
    texts.push(message.slice(from, index));
    holes.push(part === 'html' || part === 'text' ? { in: part, value: Number(value) } : { in: 'boundary' });
    from = index + mark.length;
  }
  texts.push(message.slice(from));
  return { texts, holes };
}

/** Each mail has a boundary of its own, so that no value can be made to look like one. */
function fillMould(
  { texts, holes }: Mould,
  values: readonly string[],
  { are_values_html = false }: MailFrame,
): string {
  const boundary = crypto.randomUUID();
  let message = '';
  let is_line_start = true;
  const add = (text: string): void => {
    if (text === '') return;
    message += text;
    is_line_start = text.endsWith('\n');
  };
  texts.forEach((text, n) => {
    const before = holes[n - 1];
    if (before?.in === 'boundary') add(boundary);
    else if (before) {
      const value = values[before.value] ?? '';
      const encoded = encodeValue(before.in === 'html' && !are_values_html ? Bun.escapeHTML(value) : value);
      if (encoded !== '' && !is_line_start) add('=\r\n');
      add(encoded);
      if (text !== '' && !is_line_start && !text.startsWith('\r\n')) add('=\r\n');
    }
    add(text);
  });
  if (!is_line_start) add('\r\n');
  return message;
}

function encodeValue(value: string): string {
  return AS_IT_IS.test(value) ? value : wrap(encode(toCrlf(value)), MAX_LINE_CHARS);
}

/** The header fields of a mail besides those of MIME, as MailComposer writes and orders them. */
function fieldsOf(content: MailHead): string {
  const node = new MimeNode(undefined, { rootNode: ROOT, baseBoundary: 'none' });
  for (const [name, value] of Object.entries(content.headers ?? {})) node.addHeader(name, value);
  node.setHeader('From', toAddress(content.from));
  node.setHeader('To', [toAddress(content.to)]);
  node.setHeader(
    'Cc',
    content.cc.map((address) => toAddress({ address, name: null })),
  );
  if (content.reply_to !== null)
    node.setHeader('Reply-To', toAddress({ address: content.reply_to, name: null }));
  node.setHeader('Subject', content.subject);
  node.setHeader('Message-ID', content.message_id);
  node.setHeader('Date', new Date(content.date_ms));
  keepLookalikes(node, content);
  return node.buildHeaders();
}

/** Stands for the headers that each mail has of its own. */
const NOBODY: MailHead = {
  message_id: '<nobody@localhost>',
  date_ms: 0,
  from: { address: 'nobody@localhost', name: null },
  to: { address: 'nobody@localhost', name: null },
  cc: [],
  bcc: [],
  reply_to: null,
  subject: '',
  attachments: [],
  dkim: null,
};

/** A node below another one adds no fields of its own. */
const ROOT = new MimeNode();
