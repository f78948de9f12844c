/** Reports of real servers, told about a mail of the test's own: `mail-reports/` holds them as they were written. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The mail that a report returns in place of the sample's, and whom it names. */
export interface Reported {
  /** With CRLF, as it was sent. */
  raw: Buffer | string;
  /** In place of the recipients of the sample, in its order. */
  recipients: readonly string[];
}

export function readSample(name: string): string {
  return readFileSync(join(import.meta.dir, 'mail-reports', `${name}.eml`), 'latin1');
}

/** A sample with another mail in it: the headers only where the sample returns no more. Line ends are LF, as in a Maildir. */
export function reportOn(name: string, { raw, recipients }: Reported): string {
  const text = readSample(name);
  const frame =
    /^([\s\S]*\nContent-[Tt]ype: (message\/rfc822|text\/rfc822-headers)\n(?:[^\n]+\n)*\n)([\s\S]*?)(\n--[^\n]+--\n*)$/;
  const [, before = '', type = '', returned = '', after = ''] = frame.exec(text) ?? [];
  const received = /^(?:Return-[Pp]ath|Received):.*\n(?:[ \t].*\n)*/gm;
  const trace = (returned.match(received) ?? []).join('');
  const own = (typeof raw === 'string' ? raw : raw.toString('latin1')).replace(/\r\n/g, '\n');
  const [headers = ''] = own.split('\n\n');
  const plain = `${trace}${type === 'message/rfc822' ? own : `${headers}\n`}`;
  const is_encoded = /base64\n\n$/.test(before);
  const mail = is_encoded ? Buffer.from(plain, 'latin1').toString('base64').replace(/.{76}/g, '$&\n') : plain;
  let next = 0;
  const named = before.replace(
    /^((?:Final-Recipient|Original-Rcpt-To):\s*(?:rfc822;\s*)?<?)[^\s<>]+@[^\s<>]+/gm,
    (_, field) => `${field}${recipients[next++]}`,
  );
  return `${named.replace(/^Original-Recipient:.*\n/gm, '')}${mail}${after}`;
}
