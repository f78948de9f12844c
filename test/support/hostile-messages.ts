/** Messages that cost the most where MIME is read without a bound: seconds to minutes each, as far as that was tried. */
import { MAX_REPORT_BYTES, MAX_REPORT_HEADER_BYTES } from '../../src/limits.ts';

const HEADER = MAX_REPORT_HEADER_BYTES - 2_048;
const BODY = MAX_REPORT_BYTES - 2_048;
const fill = (piece: string, length: number): string =>
  piece.repeat(Math.ceil(length / piece.length)).slice(0, length);
const REPORT = 'Content-Type: multipart/report; boundary=b\r\n';
const status = (fields: string): string =>
  `${REPORT}\r\n--b\r\nContent-Type: message/delivery-status\r\n\r\n${fields}\r\n--b--\r\n`;
const one = (type: string, body: string, encoding = '8bit'): string =>
  `${REPORT}\r\n--b\r\nContent-Type: ${type}\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n${body}\r\n--b--\r\n`;
const failed = (field: string): string => `Action: failed\nFinal-Recipient: rfc822;${field}\n\n`;
/** A text, and fields that say no more of 300 recipients than that it failed. */
const told = (text: string): string => {
  const fields = Array.from({ length: 300 }, (_, n) => failed(`a${n}@b.c`)).join('');
  const part = `Content-Type: message/delivery-status\r\n\r\nX: y\n\n${fields}`;
  return `${REPORT}\r\n--b\r\n\r\n${text}\r\n--b\r\n${part}\r\n--b--\r\n`;
};

export const HOSTILE: Readonly<Record<string, string>> = {
  '16,000 empty parts': `${REPORT}\r\n${'--b\r\n\r\n'.repeat(16_000)}--b--\r\n`,
  'parts to the end': `${REPORT}\r\n${fill('--b\r\n\r\n', BODY)}`,
  'parts with boundaries of their own': Array.from(
    { length: 4_000 },
    (_, k) => `Content-Type: multipart/mixed; boundary=${k}\r\n\r\n--${k}\r\n`,
  ).join(''),
  'messages in messages': fill('Content-Type: message/rfc822\r\n\r\n', BODY),
  'a huge boundary': `Content-Type: multipart/report; boundary="${fill('a', HEADER)}"\r\n\r\n${fill(`--${fill('a', 2_000)}\r\n\r\n`, BODY - HEADER)}`,
  'thousands of headers': `${fill('X: y\r\n', BODY)}`,
  'a header of 256 KiB': `Content-Type: multipart/report; x=${fill('y', BODY)}\r\n\r\n`,
  'headers of thousands of lines': `${REPORT}X: y\r\n${fill(' a\r\n', HEADER)}\r\n`,
  'addresses without end': `${REPORT}To: ${fill('a@b,', HEADER)}\r\n\r\n`,
  'a word where an address might be': `${REPORT}To: ${fill('a', HEADER)}\r\n\r\n`,
  'encoded words without end': `${REPORT}Subject: ${fill('=?utf-8?b?YQ==?= ', HEADER)}\r\n\r\n`,
  'parameters in pieces': `Content-Type: multipart/report; ${Array.from({ length: 3_000 }, (_, k) => `a*${k}*=utf-8''%41; `).join('')}\r\n\r\n`,
  'one line': fill('x', MAX_REPORT_BYTES),
  'empty lines': fill('\r\n', MAX_REPORT_BYTES),
  'a calendar of empty lines': one('text/calendar', `${fill('\n', BODY)}x`),
  'a calendar by another name': one('(a comment) text/calendar', `${fill('\n', BODY)}x`),
  'a calendar behind a mark of byte order': `\xef\xbb\xbfContent-Type: text/calendar\r\n\r\n${fill('\n', BODY)}x`,
  'text that flows': one('text/plain; format=flowed; delsp=yes', fill(' \r\n', BODY)),
  'HTML of beginnings': one('text/html', fill('<a href="<!--', BODY)),
  'quoted-printable that is none': one('message/delivery-status', fill('=ZZ=\r\n', BODY), 'quoted-printable'),
  'base64 that is none': one('message/delivery-status', fill('!!=\r\n', BODY), 'base64'),
  'a character set that is none': one('text/plain; charset=x-none', fill('\x1b$B', BODY)),
  'a text of addresses': told(fill('a1@b.c\n', BODY / 2)),
  'a text of spaces and rules': told(`${fill(' ', BODY / 4)}a1@b.c ${fill('\n   --', BODY / 4)}`),
  'a text of replies': told(`a1@b.c ${fill('550 5.1.1 ', BODY / 2)}`),
  'a text of halves of replies': told(`a1@b.c ${fill('550-5', BODY / 4)}${fill('<a1@b.c>: 5.', BODY / 4)}`),
  'fields of one name': status(fill('a:\n', BODY)),
  'blocks of nothing': status(fill('\n \n', BODY)),
  'recipients of nothing but @': status(fill(failed(`${fill('@', 1_900)}<`), BODY)),
  'a field of spaces': status(`X: y\n\n${failed(`${fill(' ', BODY - 1_000)}x`)}`),
};
