/** An email as others than its recipient may read it: without the links that act in the recipient's name. */
import { shownAttachments } from './log.ts';
import type { EmailContent } from './schemas.ts';
import type { EmailRow } from './tables.ts';

/** Parts of an address that are as long as this are tokens or signatures; names and ids are shorter. */
const TOKEN = /[^/?&=#]{32,}/g;

/** Links that act for the recipient, under whatever link domain the project had. */
const ACTING_LINK = /(?<=\bhttps?:\/\/[^\s"'<>/]{1,260}\/(?:c|o|confirm|unsubscribe|view)\/)[^\s"'<>]+/g;

/** The text with the tokens in links to this server masked: following one would count as its recipient. */
function maskOwnLinks(text: string, public_url: string): string {
  const [first = '', ...rest] = text.split(public_url);
  const masked = rest.map((part) =>
    part.replace(/^[^\s"'<>]*/, (path) => (path.startsWith('/') ? path.replace(TOKEN, '…') : path)),
  );
  return [first, ...masked].join(public_url).replace(ACTING_LINK, (path) => path.replace(TOKEN, '…'));
}

/** The content of an email, as far as it is kept (`content`). */
export function presentContent(
  email: EmailRow,
  content: Pick<EmailContent, 'is_kept' | 'body_html' | 'body_text'>,
  public_url: string,
): EmailContent {
  const mask = (text: string | null): string | null => text && maskOwnLinks(text, public_url);
  const headers: [name: string, value: string | null][] = [
    ['From', addressOf(email.from_email, email.from_name)],
    ['To', addressOf(email.to_email, email.to_name)],
    ['Cc', email.cc.join(', ')],
    ['Bcc', email.bcc.join(', ')],
    ['Reply-To', email.reply_to],
    ['Subject', email.subject],
    ['Message-ID', email.message_id],
    ...Object.entries(email.headers),
  ];
  return {
    is_kept: content.is_kept,
    headers: headers.flatMap(([name, value]) =>
      value ? [{ name, value: maskOwnLinks(value, public_url) }] : [],
    ),
    body_html: mask(content.body_html),
    body_text: mask(content.body_text),
    attachments: shownAttachments(email),
    size_bytes: null,
  };
}

function addressOf(email: string, name: string | null): string {
  return name === null ? email : `${name} <${email}>`;
}
