/** Reading what people, and machines in their place, answer to a mail of ours. */
import type { Email } from 'postal-mime';
import {
  MAX_REPORT_BYTES,
  MAX_REPORT_CANDIDATES,
  MAX_REPORT_DEPTH,
  MAX_REPORT_HEADER_BYTES,
  MAX_SUBJECT_CHARS,
} from '../../limits.ts';
import { parseAddress } from './address.ts';
import { hasTooManyParts, headerSectionOf } from './raw-report.ts';
import { withoutQuoted } from './reply-text.ts';

/** What a reply says. Which mail it answers, and whether that is ours, is decided by whoever reads it. */
export interface MailReply {
  /** Message-IDs that it may answer, the likeliest first. */
  answers: string[];
  /** What it is known by, however often it comes: its Message-ID, else its header section; hashed. */
  digest: string;
  /** Whose Message-ID it has itself; null without one. */
  message_id: string | null;
  from: string;
  subject: string;
  /** Without what it quotes; empty of an automatic one. */
  text: string;
  is_automatic: boolean;
}

/** Contract: of what somebody wrote. */
export const MAX_REPLY_TEXT_BYTES = 64 * 1024;
/** Of References, which may be a long thread, so many are looked at: the last ones. */
const MAX_REFERENCES = 20;

/** HTML nested deeper than this is cut: the converter is recursive. */
const MAX_HTML_DEPTH = 200;

/** Message-IDs that a message answers, by its fields: In-Reply-To, then References, the last first. */
export function answeredIds(head: string): string[] {
  const idsOf = (field: string): string[] => messageIdsIn(fieldOf(head, field));
  const references = idsOf('references').slice(-MAX_REFERENCES).reverse();
  return [...new Set([...idsOf('in-reply-to').slice(0, 1), ...references])];
}

function messageIdsIn(value: string): string[] {
  return [...value.matchAll(/<[^<>\s]{1,250}>/g)].map(([id]) => id);
}

/** The first field of a name, unfolded; empty where there is none. */
export function fieldOf(head: string, name: string): string {
  const found = new RegExp(`^${name}[ \\t]*:(.*(?:\\r?\\n[ \\t].*)*)`, 'im').exec(head);
  return (found?.[1] ?? '').replace(/\r?\n[ \t]+/g, ' ').trim();
}

/**
 * The reply in a message; null where it answers nothing, is of nobody, or has too many headers or too much
 * depth. Only the first MAX_REPORT_BYTES are read. For a thread of its own (report-reader.ts), as strangers
 * choose what it costs.
 */
export async function readMailReply(message: Uint8Array): Promise<MailReply | null> {
  const bytes = message.subarray(0, MAX_REPORT_BYTES);
  const head = headerSectionOf(bytes);
  const answers = head === null ? [] : answeredIds(head);
  if (head === null || answers.length === 0) return null;
  const { default: PostalMime } = await import('postal-mime');
  const is_automatic = isAutomatic(head);
  // A text of too many parts, as nobody writes one, is not looked for.
  const is_bare = is_automatic || hasTooManyParts(bytes);
  const email = await PostalMime.parse(is_bare ? Buffer.from(`${head}\r\n\r\n`, 'latin1') : bytes, {
    forceRfc822Attachments: true,
    maxHeadersSize: MAX_REPORT_HEADER_BYTES,
    maxNestingDepth: MAX_REPORT_DEPTH,
  }).catch(() => null);
  const from = parseAddress(email?.from?.address ?? '')?.address;
  if (!email || from === undefined) return null;
  const [message_id = null] = messageIdsIn(fieldOf(head, 'message-id'));
  return {
    answers: answers.slice(0, MAX_REPORT_CANDIDATES),
    digest: new Bun.CryptoHasher('sha256').update(message_id ?? head).digest('base64url'),
    message_id,
    from,
    subject: plain(email.subject ?? '').slice(0, MAX_SUBJECT_CHARS),
    text: is_bare ? '' : cut(withoutQuoted(await textOf(email))),
    is_automatic,
  };
}

/** Contract: what is no person's. RFC 3834 has Auto-Submitted, and older programs the others. */
function isAutomatic(head: string): boolean {
  const submitted = fieldOf(head, 'auto-submitted').toLowerCase();
  return (
    /^multipart\/report\b/i.test(fieldOf(head, 'content-type')) ||
    (submitted !== '' && !/^no\b/.test(submitted)) ||
    /^x-autore(?:ply|spond)[ \t]*:/im.test(head) ||
    /^(?:auto_reply|bulk|junk)\b/i.test(fieldOf(head, 'precedence')) ||
    /^return-path[ \t]*:[ \t]*<[ \t]*>/im.test(head)
  );
}

/** Its text; of HTML alone, that as text. */
async function textOf({ text, html }: Email): Promise<string> {
  if (text?.trim() || !html) return text ?? '';
  const { convert } = await import('html-to-text');
  return convert(html, {
    wordwrap: false,
    limits: { maxDepth: MAX_HTML_DEPTH, ellipsis: '...' },
    selectors: [
      { selector: 'a', options: { ignoreHref: true } },
      { selector: 'img', format: 'skip' },
    ],
  });
}

/** Without control characters but tabs and ends of lines, in as many bytes as are kept. */
function cut(text: string): string {
  const clean = text.replace(/[^\P{Cc}\n\t]/gu, '');
  const bytes = Buffer.from(clean);
  if (bytes.length <= MAX_REPLY_TEXT_BYTES) return clean;
  return new TextDecoder().decode(bytes.subarray(0, MAX_REPLY_TEXT_BYTES), { stream: true });
}

function plain(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ').trim();
}
